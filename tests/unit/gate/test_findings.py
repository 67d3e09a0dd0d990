"""What the validators found, in words for worker and evaluator."""

from __future__ import annotations

import pytest

from tilth.contract.suite_record import NotRun
from tilth.gate.findings import Baseline, NodeResult, Validation, ValidatorReport


def went(name: str = "pytest", *, passed: bool = True, output: str = "") -> ValidatorReport:
    return ValidatorReport(name=name, passed=passed, exit_code=0, output=output, duration_ms=1)


def test_a_validation_passes_only_if_every_validator_does() -> None:
    both = Validation(reports=(went("ruff"), went()))
    one = Validation(reports=(went("ruff"), went(passed=False, output="1 failed\n")), notes=("n",))
    assert both.passed is True
    assert one.passed is False
    assert one.summary == {"ruff": "passed", "pytest": "failed"}
    assert one.render() == (
        "Notes on the change:\n- n\n\n## ruff: passed\n\n## pytest: FAILED\n1 failed"
    )


def test_a_baseline_is_green_only_with_a_report_that_passed() -> None:
    assert not Baseline().was_green
    assert not Baseline(report=went(passed=False)).was_green
    assert Baseline(report=went()).was_green


def test_a_baseline_says_what_was_red_and_what_proves_nothing() -> None:
    failed = NodeResult(node="t::a", ending="failed", error="AssertionError", message="1 != 2")
    found = Baseline(
        report=went(passed=False),
        results=(failed, NodeResult(node="t::b", ending="passed")),
        already_green=("t::b",),
        red_elsewhere=("u::c", "u::d"),
    )
    assert found.render().splitlines() == [
        "Red on the untouched base: 1.",
        "- t::a: failed (AssertionError: 1 != 2)",
        "Already green there, so they prove nothing about the change: 1.",
        "- t::b",
        "Red there already, though their tasks are done: 2.",
        "- u::c",
        "- u::d",
    ]


def test_a_baseline_without_a_result_shows_what_was_printed() -> None:
    silent = Baseline(report=went(passed=False, output="boom\n"))
    assert silent.render().endswith("The seed tests gave no result there:\nboom")
    red = Baseline(report=went(), results=(NodeResult(node="a", ending="error"),))
    assert "no result" not in red.render()


def test_a_long_list_is_cut_and_counted() -> None:
    many = Baseline(report=went(), already_green=tuple(f"t{n}" for n in range(32)))
    assert many.render().splitlines()[-1] == "- … and 2 more"
    assert "more" not in Baseline(report=went(), already_green=("t",) * 30).render()


@pytest.mark.parametrize("why", NotRun)
def test_every_reason_not_to_run_has_its_words_and_keeps_its_name(why: NotRun) -> None:
    assert why.words()
    assert {each.value for each in NotRun} == {
        "no_tests",
        "not_collected",
        "no_report",
        "too_slow",
    }
