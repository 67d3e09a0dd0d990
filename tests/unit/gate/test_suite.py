"""What the project's own tests say, decided on reports alone."""

from __future__ import annotations

from tilth.contract.suite_record import SuiteRecord
from tilth.gate.suite import kept_report


def test_what_is_known_of_a_tree_is_measured_by_how_the_session_began() -> None:
    first = SuiteRecord(tree="a" * 40, red=("t/a::one",))
    same = kept_report(SuiteRecord(tree="b" * 40, red=("t/a::one",)), first)
    assert same.passed
    assert same.output.endswith("none is red that was not so when the session began")
    worse = kept_report(SuiteRecord(tree="b" * 40, red=("t/a::one", "t/b::two")), first)
    assert not worse.passed
    assert worse.output == "known from the run on this very tree: t/b::two"
