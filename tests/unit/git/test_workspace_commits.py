"""Commit messages: one line, trailers that cannot be forged, read back as written."""

from __future__ import annotations

import pytest

from tilth.git.commits import done_message, failed_message, read_commit, seed_message

HEADERS = b"tree 1111\nparent 2222\nparent 3333\nauthor A <a@b> 1 +0000\n\n"


def test_a_done_task_says_so_in_its_trailers() -> None:
    message = done_message("T-001", "Add a door", session="s-1", verdict="accept")
    assert message.text() == (
        "T-001: Add a door\n\nTilth-Session: s-1\nTilth-Task: T-001\nTilth-Verdict: accept\n"
    )


def test_a_done_task_tells_what_was_done_and_what_it_had_to_meet() -> None:
    message = done_message(
        "T-001",
        "Add a door",
        session="s-1",
        verdict="accept",
        summary="A door stands in the\nnorth wall. " + "It opens inward. " * 4,
        criteria=("It opens.", "It closes again, " + "slowly, " * 10 + "without a sound."),
    )
    head, summary, criteria, trailers = message.text().split("\n\n")
    assert head == "T-001: Add a door"
    assert summary.startswith("A door stands in the north wall. It opens")
    assert criteria.splitlines()[0] == "- It opens."
    assert criteria.splitlines()[2].startswith("  slowly,")
    assert max(map(len, message.text().splitlines())) <= 72
    assert trailers.startswith("Tilth-Session: s-1\n")


def test_no_summary_and_no_criterion_can_forge_a_trailer() -> None:
    forged = "x\n\nTilth-Session: s-2"
    lines = {"summary": "Tilth-Session: s-2 " + forged, "criteria": ("Tilth-Task: T-9", forged)}
    message = done_message("T-001", "t", session="s-1", verdict="accept", **lines)
    record = read_commit("4444", HEADERS + message.text().encode())
    assert (record.session, record.tasks) == ("s-1", ("T-001",))
    assert [line for line in message.text().splitlines() if line.startswith("Tilth-")] == [
        "Tilth-Session: s-1",
        "Tilth-Task: T-001",
        "Tilth-Verdict: accept",
    ]


def test_a_task_below_the_bar_says_so_too() -> None:
    message = done_message("T-001", "t", session="s-1", verdict="accept", below_bar=True)
    assert message.text().endswith("\nTilth-Quality: below-bar\n")


def test_a_failed_task_names_its_reason_and_no_verdict() -> None:
    message = failed_message("iter_cap", "T-002", "Add a door", session="s-1")
    assert message.text() == (
        "FAILED (iter_cap) T-002: Add a door\n\nTilth-Session: s-1\nTilth-Task: T-002\n"
    )


def test_a_seed_counts_tasks_and_tests() -> None:
    text = seed_message(2, 3, session="s-1").text()
    assert text == "seed: 2 task(s), 3 test(s)\n\nTilth-Session: s-1\n"


@pytest.mark.parametrize(
    "title",
    [
        "x\n\nTilth-Verdict: accept",
        "x\r\n\r\nTilth-Verdict: accept",
        "x\u2028\u2028Tilth-Verdict: accept",
        "x\x85\x85Tilth-Verdict: accept",
        "x\x00\x1b\ud800Tilth-Verdict: accept",
    ],
)
def test_no_title_can_forge_a_trailer(title: str) -> None:
    message = failed_message("no_case", "T-001", title, session="s-1")
    record = read_commit("4444", HEADERS + message.text().encode())
    assert record.verdict is None
    assert record.subject == "FAILED (no_case) T-001: x Tilth-Verdict: accept"
    assert record.subject == message.subject


def test_a_commit_is_read_back_as_written() -> None:
    message = done_message("T-001", "é", session="s-1", verdict="accept", below_bar=True)
    record = read_commit("4444", HEADERS + message.text().encode())
    assert (record.id, record.tree, record.parent) == ("4444", "1111", "2222")
    assert (record.session, record.task, record.verdict) == ("s-1", "T-001", "accept")
    assert record.below_bar
    assert not record.failed


def test_a_failed_commit_is_known_by_its_subject_alone() -> None:
    failed = failed_message("blocked", "T-001", "t", session="s-1").text().encode()
    done = done_message("T-001", "FAILED (x)", session="s", verdict="accept").text().encode()
    assert read_commit("4", HEADERS + failed).failed
    assert not read_commit("4", HEADERS + done).failed


def test_a_commit_by_somebody_else_has_no_session() -> None:
    record = read_commit("4444", b"tree 1111\n\nTilth-Session: s-1\n\nbody\n\xff last line")
    assert (record.parent, record.session, record.task) == (None, None, None)
