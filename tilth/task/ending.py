"""The ending of a run: why it stopped, its exit code, and the last event of its log."""

from __future__ import annotations

from dataclasses import dataclass

from tilth.base.errors import CorruptSession, DiskError
from tilth.contract.operator_requests import still_open
from tilth.contract.outcomes import ExitCode, StopReason, exit_code
from tilth.contract.prd import Status
from tilth.log.events import Stop
from tilth.task.bench import RunContext


@dataclass(frozen=True)
class Ending:
    """Say how a run ended."""

    reason: StopReason
    exit_code: ExitCode
    detail: str


def stop(context: RunContext, reason: StopReason, detail: str, *, tip_red: bool) -> Ending:
    """Record that a run stopped; `tip_red` is of all its work together."""
    code = exit_code(
        reason,
        request_open=_waits(context),
        below_bar=_is_below_bar(context),
        tip_red=tip_red,
    )
    try:
        context.emit(Stop(reason=reason, exit_code=code, detail=detail))
        context.record.close_out(reason, context.meter.by_role)
    except DiskError as error:
        # What stopped the run matters more than that it could not be written down.
        why = f"{detail}; " if detail and detail not in str(error) else ""
        raise DiskError(f"{why}{error}") from error
    return Ending(reason, code, detail)


def _waits(context: RunContext) -> bool:
    """Tell whether a question to a person still matters."""
    try:
        done = {task.id for task in context.record.plan.with_status(Status.DONE)}
        return bool(still_open(context.record.requests(), done))
    except CorruptSession:
        return False


def _is_below_bar(context: RunContext) -> bool:
    try:
        return any(task.quality_flag for task in context.record.plan.tasks)
    except CorruptSession:
        return False
