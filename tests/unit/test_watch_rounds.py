"""Verification loops: the same command, the same end, the same files."""

from __future__ import annotations

from tilth.watch import Rounds


def test_the_second_run_of_a_command_on_the_same_files_is_reminded() -> None:
    rounds = Rounds()
    assert rounds.reminder("pytest", 0, "f1") is None
    line = rounds.reminder("pytest", 0, "f1")
    assert line is not None
    assert "already verified" in line
    assert "the next step is `submit_case`" in line
    assert "\n" not in line
    assert rounds.reminder(" pytest\n", 0, "f1") is not None


def test_a_failing_command_is_not_told_to_submit_as_it_stands() -> None:
    rounds = Rounds()
    rounds.reminder("pytest", 1, "f1")
    line = rounds.reminder("pytest", 1, "f1")
    assert line is not None
    assert "Change something first" in line


def test_other_files_another_command_or_another_end_are_news() -> None:
    rounds = Rounds()
    rounds.reminder("pytest", 0, "f1")
    assert rounds.reminder("pytest -x", 0, "f1") is None
    assert rounds.reminder("pytest", 0, "f2") is None
    assert rounds.reminder("pytest", 1, "f2") is None
    assert rounds.reminder("pytest", 0, "f2") is None


def test_without_a_fingerprint_nothing_is_known_before_or_after() -> None:
    rounds = Rounds()
    rounds.reminder("pytest", 0, "f1")
    assert rounds.reminder("pytest", 0, None) is None
    assert rounds.reminder("pytest", 0, "f1") is None
