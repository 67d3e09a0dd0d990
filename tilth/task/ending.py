"""The ending of a run: why it stopped, its exit code, and the last event of its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilth.base.errors import (
    CapReached,
    CorruptSession,
    DiskError,
    Interrupted,
    ProviderError,
    UserError,
    WorkspaceError,
    fault_line,
)
from tilth.contract.operator_requests import still_open
from tilth.contract.outcomes import ExitCode, FailReason, StopReason, exit_code
from tilth.contract.prd import Status, Task
from tilth.log.events import Stop
from tilth.task.bench import Bench, RunContext
from tilth.task.final_tip import prove_tip

_BY_THE_USER = "stopped by the user"


@dataclass(frozen=True)
class Ending:
    """Say how a run ended."""

    reason: StopReason
    exit_code: ExitCode
    detail: str


@dataclass(frozen=True)
class Halt:
    """Say why the work ended; `tip_red` is of all of it together."""

    reason: StopReason
    detail: str
    tip_red: bool = False


def halt_of(error: BaseException, *, wished: bool) -> Halt:
    """Say what an exception that ended the work means; a wish to stop outranks what came of it."""
    match error:
        case Interrupted() | KeyboardInterrupt():
            return Halt(StopReason.INTERRUPTED, _BY_THE_USER)
        case CapReached() | ProviderError() if wished:
            return Halt(StopReason.INTERRUPTED, f"{_BY_THE_USER}; {error}")
        case CapReached():
            return Halt(StopReason(error.reason), str(error))
        case ProviderError():
            return Halt(StopReason.PROVIDER_FAILURE, str(error))
        case WorkspaceError() | DiskError() | UserError():
            return Halt(StopReason.ERROR, str(error))
        case _:
            return Halt(StopReason.ERROR, fault_line(error))


def out_of_work(bench: Bench, failures: Sequence[Task] = ()) -> Halt:
    """Say why no task is left to work on: the first failure of this start, or the end of all."""
    plan = bench.record.plan
    # A person may have sent one back or accepted it since; one that waited for that may be left.
    failed = {task.id: task for task in plan.with_status(Status.FAILED)}
    known = [failed[task.id] for task in failures if task.id in failed]
    # What a person gave up is a reason to stop only where nothing else failed.
    first = min((*known, *failed.values()), key=lambda task: task.dropped, default=None)
    if first is not None:
        reason = bench.words.state.task(first.id).reason or FailReason.ITER_CAP
        return Halt(StopReason(reason), f"{first.id} failed: {reason}")
    if plan.all_done:
        red = prove_tip(bench)
        said = f"; but red on the final tip: {', '.join(red)}" if red else ""
        early = f"; {bench.leftovers.over}" if bench.leftovers and bench.leftovers.over else ""
        whole = f"{len(plan.tasks)} of {len(plan.tasks)}{said}{early}"
        return Halt(StopReason.ALL_DONE, whole, tip_red=bool(red))
    waiting = ", ".join(task.id for task in plan.tasks if task.status is not Status.DONE)
    return Halt(StopReason.ERROR, f"no task can be started; not done: {waiting}")


def stop(context: RunContext, halt: Halt) -> Ending:
    """Record that a run stopped."""
    reason, detail, tip_red = halt.reason, halt.detail, halt.tip_red
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
        return bool(still_open(context.record.requests(), context.record.plan.settled))
    except CorruptSession:
        return False


def _is_below_bar(context: RunContext) -> bool:
    try:
        return any(task.quality_flag for task in context.record.plan.tasks)
    except CorruptSession:
        return False
