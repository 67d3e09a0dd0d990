"""Probes and mutants in words: nothing lost, nothing too long."""

from __future__ import annotations

import pytest

from tilth.contract.evidence import (
    MOST_OUTPUT_CHARS,
    MOST_PROBE_CHARS,
    Mutated,
    Probed,
    ProbeOutcome,
    bounded,
    shortened,
)


@pytest.mark.parametrize("outcome", ProbeOutcome)
def test_a_probe_fails_or_passes_only_if_pytest_said_so(outcome: ProbeOutcome) -> None:
    probed = Probed(outcome=outcome, output="said")
    assert (probed.fails, probed.passes) == (outcome == "failed", outcome == "passed")
    assert probed.render() == f"{outcome.words()}\n\nsaid"


def test_the_outcomes_that_stand_in_logs_stay_what_they_are() -> None:
    words = {"failed", "passed", "not_collected", "timed_out", "too_long"}
    assert {outcome.value for outcome in ProbeOutcome} == words


def test_mutants_are_counted_and_the_survivors_listed() -> None:
    assert Mutated().render() == "Faults planted: 0, noticed by a test: 0."
    found = Mutated(tried=3, killed=2, not_run=4, survived=("a.py:1 x → y",))
    assert found.render().splitlines() == [
        "Faults planted: 3, noticed by a test: 2; 4 more were not tried for want of time.",
        "Noticed by none:",
        "- a.py:1 x → y",
    ]


def test_a_flood_of_survivors_is_cut_and_counted() -> None:
    lines = Mutated(tried=42, survived=tuple(f"m{n}" for n in range(42))).render().splitlines()
    assert lines[-2:] == ["- m39", "- … and 2 more"]
    exact = Mutated(tried=40, survived=tuple(f"m{n}" for n in range(40))).render()
    assert exact.endswith("- m39")


def test_a_probe_too_long_to_run_is_kept_by_its_beginning() -> None:
    fits = "x" * MOST_PROBE_CHARS
    assert bounded(fits) == fits
    left = MOST_PROBE_CHARS + 1 - 2000
    assert bounded(fits + "y") == f"{'x' * 2000}\n# [… {left} more characters …]\n"


def test_long_output_keeps_its_head_and_most_of_its_tail() -> None:
    fits = "x" * MOST_OUTPUT_CHARS
    assert shortened(fits) == fits
    cut = shortened("h" * 2000 + "m" * 100 + "t" * 6000)
    assert cut == f"{'h' * 2000}\n[… 100 characters omitted …]\n{'t' * 6000}"
