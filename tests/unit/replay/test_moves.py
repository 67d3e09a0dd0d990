"""Moves: by what the place of a person's verdict is told where several tasks are under way."""

from __future__ import annotations

from support.event_samples import SAMPLES, Tape, commit, prompt

from tilth.log.events import Payload
from tilth.model.messages import Role
from tilth.replay.moves import Move, Moves

BEGUN = SAMPLES["context_reset"]
REFUSED = SAMPLES["landing_refused"]
FIRST, SECOND = "T-001", "T-002"


def moves(*told: tuple[Payload, str]) -> Moves:
    tape, seen = Tape(), Moves()
    for payload, task_id in told:
        seen.take(tape.event(payload, task_id))
    return seen


def test_a_beginning_a_turn_to_land_and_a_failure_are_counted_by_task() -> None:
    told = [(BEGUN, FIRST), (REFUSED, FIRST), (commit(), FIRST), (commit(kind="failed"), SECOND)]
    expected = {(Move.BEGUN, FIRST): 1, (Move.TURN, FIRST): 2, (Move.FAILED, SECOND): 1}
    assert moves(*told).made == expected


def test_a_beginning_that_a_kill_cut_off_counts_once() -> None:
    cut = [(BEGUN, FIRST), (BEGUN, FIRST), (prompt(Role.WORKER), FIRST)]
    assert moves(*cut).made == {(Move.BEGUN, FIRST): 1}
    assert moves(*cut, (BEGUN, FIRST)).made == {(Move.BEGUN, FIRST): 2}


def test_others_are_reached_whatever_the_order_and_whatever_came_beside_them() -> None:
    before = moves((BEGUN, FIRST), (BEGUN, SECOND)).made
    assert not moves((BEGUN, SECOND)).has(before)
    assert moves((BEGUN, SECOND), (commit(SECOND), SECOND), (BEGUN, FIRST)).has(before)


def test_the_next_move_of_a_task_is_among_others_until_it_was_made() -> None:
    before = moves((BEGUN, FIRST), (commit(), FIRST)).made
    begun = moves((BEGUN, FIRST))
    assert begun.is_among(before, Move.TURN, FIRST)
    assert not begun.is_among(before, Move.BEGUN, FIRST)
    assert not begun.is_among(before, Move.BEGUN, SECOND)
