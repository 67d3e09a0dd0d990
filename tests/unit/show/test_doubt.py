"""Doubt: one documented sum of what was recorded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.event_samples import (
    SAMPLES,
    SHA,
    Tape,
    case,
    evaluator_call,
    model_call,
    plan,
    prompt,
    rejection,
    uses,
    verdict,
)

from tilth.contract.operator_word import Verb
from tilth.contract.prd import Plan
from tilth.contract.verdict import Decision
from tilth.log.events import GateSteered, OperatorSpoke, Payload, SessionStart, TaskDone
from tilth.log.state import SessionState, apply
from tilth.model.messages import Role
from tilth.show.doubt import WEIGHTS, Doubt, Ground, Landed, doubts

PAGE = Path(__file__).parents[3] / "docs" / "report.md"
ALL_SETTLED = verdict(resolved=("C1", "C2"))
DONE = TaskDone(commit=SHA, score=95, iterations=3, evaluated=True, verdict="accept")


ACCEPTED = OperatorSpoke(id="w", verb=Verb.ACCEPT, task="T-001", decision=Decision.ACCEPT)


def done(**changes: Any) -> TaskDone:
    return DONE.model_copy(update=changes)


def state_of(*payloads: Payload, task_id: str = "T-001") -> SessionState:
    state, tape = SessionState(), Tape()
    for payload in payloads:
        about = None if isinstance(payload, SessionStart) else task_id
        state = apply(state, tape.event(payload, about))
    return state


def doubt_after(*payloads: Payload, landed: Landed | None = None) -> Doubt:
    found = {"T-001": landed} if landed else {}
    return doubts(state_of(model_call(), *payloads), plan("One"), found)["T-001"]


def landed(**changes: Any) -> Landed:
    return Landed(commit=SHA, subject="T-001: One", **changes)


def mutants(*survived: str) -> Payload:
    return SAMPLES["mutants"].model_copy(update={"survived": survived})


def torn() -> tuple[Payload, ...]:
    """Review a case, and accept it with a next step."""
    head = {"tools": [{"name": "submit_verdict"}]}
    said = {"verdict": "accept", "concern": "The empty text fails.", "next_step": "Handle it."}
    return (
        case(),
        prompt(Role.EVALUATOR).model_copy(update={"head": head}),
        evaluator_call(content=(uses("submit_verdict", **said),)),
    )


def reviewed(*unshown: str) -> tuple[Payload, ...]:
    """Review a case of which not all is shown."""
    head = {"tools": [{"name": "submit_verdict"}]}
    opened = prompt(Role.EVALUATOR).model_copy(update={"head": head, "unshown": unshown})
    return (case(), opened, verdict())


def start(**changes: Any) -> Payload:
    return SAMPLES["session_start"].model_copy(update=changes)


def test_a_task_nothing_speaks_against_has_no_doubt() -> None:
    assert doubt_after(verdict(score=95), DONE, landed=landed(added=10)) == Doubt()


@pytest.mark.parametrize(
    ("ground", "times", "payloads"),
    [
        (Ground.FAILED, 1, [SAMPLES["task_failed"]]),
        (Ground.BELOW_BAR, 1, [done(below_bar=True)]),
        (Ground.NOT_EVALUATED, 1, [done(evaluated=False, verdict="not-evaluated")]),
        (Ground.UNREAD_VERDICT, 1, [done(evaluated=False, verdict="unparsed")]),
        (Ground.TAMPERING, 1, [SAMPLES["seed_tampered"], SAMPLES["seed_tampered"], DONE]),
        (Ground.STEERING, 1, [case(), SAMPLES["gate_steered"], DONE]),
        (Ground.STEERED_BEFORE, 1, [case(), GateSteered(earlier=("conftest.py",)), DONE]),
        (Ground.ALREADY_GREEN, 1, [SAMPLES["seed_already_green"], DONE]),
        (Ground.UNSURE, 2, [case(uncertainties=("a", "b")), DONE]),
        (Ground.WORK_AROUND, 1, [case(work_arounds=("a",)), DONE]),
        (Ground.REJECTED, 2, [rejection(), rejection(), ALL_SETTLED, DONE]),
        (Ground.BY_PERSON, 1, [done(verdict="person")]),
        (Ground.BY_PERSON, 1, [SAMPLES["task_force_accepted"], done(below_bar=True), ACCEPTED]),
        (Ground.SECOND_OPINION, 1, [case(), DONE, SAMPLES["second_opinion"]]),
        (Ground.MUTANT, 1, [mutants("a.py:1 x > 0 → x >= 0"), DONE]),
        (Ground.UNNOTICED, 2, [SAMPLES["challenge"], DONE]),
        (Ground.CONTRADICTED, 1, [*torn(), verdict(), DONE]),
        (Ground.CUT_DIFF, 1, [*reviewed("a.txt (+9 -0), in part", "b.py (+1 -0)"), DONE]),
        (Ground.LOW_SCORE, 3, [done(score=61)]),
        (Ground.NO_SEED_TEST, 1, [start(untested=("T-001",)), DONE]),
        (Ground.SEED_NOT_RUN, 1, [start(defaults_left_out=("ruff", "pytest")), DONE]),
        (Ground.NEAR_REJECT, 1, [start(settings={"TILTH_EVAL_THRESHOLD": "90"}), DONE]),
    ],
)
def test_each_ground_adds_its_points(ground: Ground, times: int, payloads: list[Payload]) -> None:
    doubt = doubt_after(*payloads)
    assert {reason.ground for reason in doubt.reasons} == {ground}
    assert doubt.points == WEIGHTS[ground].points * times
    assert all(reason.text for reason in doubt.reasons)


@pytest.mark.parametrize(
    ("ground", "times", "change"),
    [
        (Ground.SUPPRESSION, 2, {"suppressions": ("a.py:1: adds noqa", "a.py:2: adds noqa")}),
        (Ground.LARGE_DIFF, 2, {"added": 300, "deleted": 120}),
        (Ground.CUT_DIFF, 1, {"cut": True}),
    ],
)
def test_the_commit_speaks_too(ground: Ground, times: int, change: dict[str, Any]) -> None:
    doubt = doubt_after(DONE, landed=landed(**change))
    assert {reason.ground for reason in doubt.reasons} == {ground}
    assert doubt.points == WEIGHTS[ground].points * times


def test_what_the_evaluator_was_not_shown_is_told_once_and_whole() -> None:
    doubt = doubt_after(
        *reviewed("a.txt (+9 -0), in part", "b.py (+1 -0)"), DONE, landed=landed(cut=True)
    )
    [reason] = doubt.reasons
    said = "the evaluator was not shown all of its diff: a.txt (+9 -0), in part, b.py (+1 -0)"
    assert (reason.ground, reason.text) == (Ground.CUT_DIFF, said)


def test_only_the_last_review_says_what_was_not_shown() -> None:
    assert doubt_after(*reviewed("a.txt (+9 -0)"), *reviewed(), DONE) == Doubt()


def test_steering_that_a_later_case_takes_back_speaks_against_nothing() -> None:
    assert doubt_after(case(), SAMPLES["gate_steered"], case(), verdict(score=95), DONE) == Doubt()


def test_a_ground_is_counted_so_often_at_most_and_every_reason_is_shown() -> None:
    said = tuple(f"doubt {number}" for number in range(9))
    doubt = doubt_after(case(uncertainties=said), DONE)
    assert doubt.points == WEIGHTS[Ground.UNSURE].points * WEIGHTS[Ground.UNSURE].most
    assert [reason.text for reason in doubt.reasons] == [f"unsure: {text}" for text in said]


def test_what_no_verdict_speaks_of_when_it_is_accepted_counts_once_more() -> None:
    doubt = doubt_after(rejection(), rejection(), verdict(resolved=("C2",)), DONE)
    points = {reason.ground: reason.points for reason in doubt.reasons}
    expected = 2 * WEIGHTS[Ground.REJECTED].points, WEIGHTS[Ground.UNSETTLED].points
    assert (points[Ground.REJECTED], points[Ground.UNSETTLED]) == expected


@pytest.mark.parametrize(
    ("payloads", "said"),
    [
        ([rejection(), ALL_SETTLED, DONE], "rejected once, since settled: "),
        (
            [rejection(), rejection(), ALL_SETTLED, DONE],
            "rejected 2 times, since settled: the last",
        ),
        ([rejection(), verdict(), DONE], "rejected once, for: "),
        ([rejection(), SAMPLES["task_failed"]], "rejected once, for: "),
        ([rejection(), done(verdict="person")], "rejected once, for: "),
        ([rejection(), done(below_bar=True)], "1 rejection and no accept"),
    ],
)
def test_only_what_was_settled_is_told_as_settled(payloads: list[Payload], said: str) -> None:
    texts = [each.text for each in doubt_after(*payloads).reasons if each.ground is Ground.REJECTED]
    assert [text[: len(said)] for text in texts] == [said]


def test_what_builds_on_a_task_in_doubt_is_in_doubt() -> None:
    first, second = plan("One", "Two").tasks
    chain = Plan(tasks=(first, second.model_copy(update={"depends_on": ("T-001",)})))
    state, tape = state_of(model_call(), done(below_bar=True)), Tape()
    for payload in (model_call(), DONE):
        state = apply(state, tape.event(payload, "T-002"))
    (reason,) = doubts(state, chain, {})["T-002"].reasons
    assert (reason.ground, reason.text) == (
        Ground.UPSTREAM,
        "builds on T-001, which is in doubt",
    )


def test_an_unfinished_task_is_judged_only_if_it_tampered() -> None:
    assert doubts(state_of(model_call(), rejection()), plan("One"), {}) == {}
    caught = doubts(state_of(model_call(), SAMPLES["seed_tampered"]), plan("One"), {})
    assert caught["T-001"].points == WEIGHTS[Ground.TAMPERING].points


def test_the_page_shows_the_table_as_it_is() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| ", PAGE.read_text("utf-8"), re.MULTILINE)
    wanted = [(str(ground), *map(str, weight)) for ground, weight in WEIGHTS.items()]
    assert rows == wanted
    assert set(WEIGHTS) == set(Ground)
