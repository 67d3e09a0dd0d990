"""How a task and a run can end, and the exit code that says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class FailReason(StrEnum):
    """Say why a task failed."""

    ITER_CAP = "iter_cap"
    EVALUATOR_CAP = "evaluator_cap"
    NO_CASE = "no_case"
    NO_PROGRESS = "no_progress"
    BLOCKED = "blocked"
    # Given up by a person: no resume tries it again.
    DROPPED = "dropped"


class FreshReason(StrEnum):
    """Say why a task begins in a fresh conversation."""

    # Written so in every log there is.
    TASK_STARTED = "task started"
    TAKEN_UP = "taken_up"
    # Why a resume does not go on with the task's own conversation.
    ASKED = "asked"
    NOT_BEGUN = "not_begun"
    WORKTREE_LOST = "worktree_lost"
    MODEL_CHANGED = "model_changed"
    ENDPOINT_CHANGED = "endpoint_changed"


class SetAside(StrEnum):
    """Say what became of partial work that was set aside, once its task began anew."""

    BACK = "back"
    NO_LONGER_FITS = "no_longer_fits"


class Refused(StrEnum):
    """Say why an accepted change could not land on what had landed before it."""

    CONFLICT = "conflict"
    GATE = "gate"
    VERDICT = "verdict"


@dataclass(frozen=True)
class Fresh:
    """Say why a task begins in a fresh conversation, and what changed if something did."""

    reason: FreshReason = FreshReason.TASK_STARTED
    was: str | None = None
    now: str | None = None


class StopReason(StrEnum):
    """Say why a run stopped."""

    ALL_DONE = "all_done"
    ITER_CAP = "iter_cap"
    EVALUATOR_CAP = "evaluator_cap"
    NO_CASE = "no_case"
    NO_PROGRESS = "no_progress"
    BLOCKED = "blocked"
    DROPPED = "dropped"
    WALL_CLOCK = "wall_clock"
    TOKEN_CAP = "token_cap"  # noqa: S105  # not a password
    COST_CAP = "cost_cap"
    PROVIDER_FAILURE = "provider_failure"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class ExitCode(IntEnum):
    """Give every exit code its meaning."""

    DONE = 0
    TASK_FAILED = 1
    USAGE = 2
    CAP = 3
    BELOW_BAR = 4
    PROVIDER = 5
    WAITING = 6
    INTERRUPTED = 130


_PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.PROVIDER,
    ExitCode.CAP,
    ExitCode.WAITING,
    ExitCode.TASK_FAILED,
    ExitCode.BELOW_BAR,
    ExitCode.DONE,
)

_BY_STOP = {
    StopReason.ALL_DONE: ExitCode.DONE,
    StopReason.ITER_CAP: ExitCode.TASK_FAILED,
    StopReason.EVALUATOR_CAP: ExitCode.TASK_FAILED,
    StopReason.NO_CASE: ExitCode.TASK_FAILED,
    StopReason.NO_PROGRESS: ExitCode.TASK_FAILED,
    StopReason.BLOCKED: ExitCode.WAITING,
    StopReason.DROPPED: ExitCode.TASK_FAILED,
    StopReason.WALL_CLOCK: ExitCode.CAP,
    StopReason.TOKEN_CAP: ExitCode.CAP,
    StopReason.COST_CAP: ExitCode.CAP,
    StopReason.PROVIDER_FAILURE: ExitCode.PROVIDER,
    StopReason.INTERRUPTED: ExitCode.INTERRUPTED,
    # A run that ends on a fault of the harness or of its session files.
    StopReason.ERROR: ExitCode.USAGE,
}


def first_of(codes: Iterable[ExitCode]) -> ExitCode:
    """Give the code that wins where several apply."""
    wanted = set(codes) or {ExitCode.DONE}
    return next(code for code in _PRECEDENCE if code in wanted)


def exit_code(
    reason: StopReason,
    *,
    request_open: bool = False,
    below_bar: bool = False,
    tip_red: bool = False,
) -> ExitCode:
    """Give the exit code of a run that stopped for a reason; `tip_red` is of the final tip."""
    codes = [_BY_STOP[reason]]
    if tip_red:
        codes.append(ExitCode.TASK_FAILED)
    if request_open:
        codes.append(ExitCode.WAITING)
    if below_bar and reason is StopReason.ALL_DONE:
        codes.append(ExitCode.BELOW_BAR)
    return first_of(codes)


@dataclass(frozen=True)
class TaskEnd:
    """Say how work on a task ended: done, or failed for a reason."""

    failure: FailReason | None = None
    detail: str = ""
