"""Reasons: the sentences for what the log keeps as enums and data.

Why a conversation begins afresh, what became of work that was set aside, and what a person must
know about how a session judges.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilth.config.project import SEED_RUN
from tilth.contract.outcomes import FreshReason, SetAside
from tilth.log.events import Judging, SessionStart

_FRESH = {
    FreshReason.TASK_STARTED: "the task starts",
    FreshReason.TAKEN_UP: "the task is taken up again",
    FreshReason.ASKED: "a fresh start was asked for",
    FreshReason.NOT_BEGUN: "its conversation had not begun",
    FreshReason.WORKTREE_LOST: "its worktree was lost",
    FreshReason.MODEL_CHANGED: "the worker model is now {now}, was {was}",
    FreshReason.ENDPOINT_CHANGED: "the worker endpoint is now {now}, was {was}",
}
SET_ASIDE = {
    SetAside.BACK: "the work that was set aside is back",
    SetAside.NO_LONGER_FITS: "the work that was set aside no longer fits, so it starts clean",
}
WORKTREE_LOST = "the worktree was lost and is rebuilt from the branch; uncommitted work is gone"


def fresh_reason(said: FreshReason | str, was: str | None, now: str | None) -> str:
    """Say why a task begins in a fresh conversation; a sentence of an older log stays as it is."""
    if not isinstance(said, FreshReason):
        return said
    return _FRESH[said].format(was=was or "unknown", now=now or "unknown")


def cautions(start: SessionStart | Judging) -> Iterator[str]:
    """Say what weakens the evaluation by the user's own choice, and what was not found."""
    if start.evaluate:
        yield from _choices(start)
    else:
        yield "NO EVALUATOR: validators alone decide, and commits say not-evaluated"
    yield from _left_out(start)
    if start.untested:
        them = "it" if len(start.untested) == 1 else "them"
        alone = f": only the evaluator stands behind {them}"
        left = alone if start.evaluate else f", and no evaluator stands behind {them} either"
        yield f"no acceptance test for {', '.join(start.untested)}{left}"


def _left_out(start: SessionStart | Judging) -> Iterator[str]:
    """Say that the gate runs no seed test, because the project's configuration says so."""
    if SEED_RUN not in start.defaults_left_out:
        return
    own = f"its own validators decide ({', '.join(start.own_validators)})"
    yield (
        f"NO SEED TEST IS RUN: the project's configuration takes the place of "
        f"{', '.join(start.defaults_left_out)}; "
        + (own if start.own_validators else "it names no validator of its own, so none is run")
    )


def _choices(start: SessionStart | Judging) -> Iterator[str]:
    if start.fail_open:
        yield (
            "FAIL OPEN: a verdict that cannot be read lets the case pass "
            "(TILTH_FAIL_OPEN_ON_UNPARSED), and the commit says unparsed"
        )
    for name in start.unknown_reviewers:
        yield (
            f"reviewer {name!r} is not defined in evaluators.toml: the default evaluator takes "
            "its place"
        )


def kinships(start: SessionStart) -> Iterator[str]:
    """Say which evaluators are the worker's own model."""
    if not start.evaluate:
        return
    weaker = "the same model on the same endpoint: a weaker second look"
    if start.same_model:
        yield f"evaluator and worker are {weaker}"
    for name in start.same_reviewers:
        yield f"reviewer {name!r} and worker are {weaker}"
