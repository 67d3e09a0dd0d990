"""What the project's own tests say, decided on reports alone."""

from __future__ import annotations

from tilth.gate.base_tests import lost_tests, passed_functions
from tilth.gate.findings import NodeResult, SuiteRecord
from tilth.gate.passing import PytestRun
from tilth.gate.suite import kept_report


def ran(**endings: str) -> PytestRun:
    nodes = {name.replace("__", "::", 1): ending for name, ending in endings.items()}
    results = [NodeResult(node=f"t/{node}", ending=ending) for node, ending in nodes.items()]
    return PytestRun(status=0, results=tuple(results))


BEFORE = SuiteRecord(tree="a" * 40, passed={"t/a": ("one", "two"), "t/b": ("one",)})


def test_the_functions_that_passed_are_known_by_their_file() -> None:
    run = PytestRun(
        status=0,
        results=tuple(
            NodeResult(node=node, ending=ending)
            for node, ending in (
                ("a.py::T::x[1]", "passed"),
                ("a.py::T::x[2]", "failed"),
                ("a.py::y", "skipped"),
                ("b.py::z", "passed"),
            )
        ),
    )
    assert passed_functions(run) == {"a.py": ("T::x",), "b.py": ("z",)}


def test_a_test_that_neither_passes_nor_fails_any_more_is_lost() -> None:
    run = ran(a__one="passed", a__two="skipped", b__one="failed")
    said = "passed on the base, is skipped or gone here"
    assert lost_tests(BEFORE, run, ()) == {"t/a::two": f"t/a::two: {said}"}


def test_a_test_of_a_file_that_was_edited_or_does_not_load_is_told_of_elsewhere() -> None:
    assert list(lost_tests(BEFORE, ran(b__one="passed"), {"t/a"})) == []
    broken = PytestRun(status=2, results=(NodeResult(node="t/a", ending="error"),))
    assert list(lost_tests(BEFORE, broken, ())) == ["t/b::one"]


def test_what_is_known_of_a_tree_is_measured_by_how_the_session_began() -> None:
    first = SuiteRecord(tree="a" * 40, red=("t/a::one",))
    same = kept_report(SuiteRecord(tree="b" * 40, red=("t/a::one",)), first)
    assert same.passed
    assert same.output.endswith("none is red that was not so when the session began")
    worse = kept_report(SuiteRecord(tree="b" * 40, red=("t/a::one", "t/b::two")), first)
    assert not worse.passed
    assert worse.output == "known from the run on this very tree: t/b::two"
