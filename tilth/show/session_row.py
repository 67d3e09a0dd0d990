"""A row: where one session stands, read from its small files alone.

It reads `checkpoint.json` and `prd.json`, never the log, so that hundreds of sessions can be listed
at once. A session that cannot be read is a value too: it says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, ValidationError

from tilth.base.clock import SystemClock
from tilth.base.errors import CorruptSession
from tilth.base.plain_file import read_plain
from tilth.base.values import Value
from tilth.config.secrets import Mask
from tilth.contract.status import Status, held_in
from tilth.log.events import SCHEMA_VERSION
from tilth.session.lost_log import LostLog, require_log, statuses
from tilth.session.session import Checkpoint, Session, SessionStatus
from tilth.session.store import lock_holder

INTERRUPTED = "interrupted"
BROKEN = "broken"


class _Task(Value):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    status: Status
    quality_flag: str | None = None
    depends_on: tuple[str, ...] = ()
    dropped: bool = False


class _Tasks(Value):
    """Read of a session's PRD only what a row shows."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    feature: str | None = None
    tasks: tuple[_Task, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Say where a session stands; `fault` says why it cannot be read.

    A session writes its cost down when it stops: until then `cost_usd` is what it had cost at the
    last stop, and `cost_final` is false.
    """

    session: str
    status: str
    fault: str = ""
    # No command mends that.
    log_lost: bool = False
    done_tasks: tuple[str, ...] = ()
    total: int = 0
    failed: tuple[str, ...] = ()
    below_bar: tuple[str, ...] = ()
    cost_usd: float = 0.0
    cost_known: bool = True
    cost_final: bool = True
    created: str = ""
    updated: str = ""
    source: str = ""
    branch: str = ""
    base_commit: str = ""
    # The branch that the session began from; none where HEAD stood on no branch.
    base_branch: str | None = None
    feature: str | None = None
    # The done tasks whose work stands on a branch of the user's.
    taken: tuple[str, ...] = ()
    # What is not done was given up by a person, or needs what was.
    nothing_left: bool = False

    @property
    def done(self) -> int:
        return len(self.done_tasks)


def read_row(directory: Path) -> SessionRow:
    """Look at one session's small files."""
    try:
        checkpoint = Checkpoint.model_validate_json(read_plain(directory / "checkpoint.json"))
        if checkpoint.schema_version <= SCHEMA_VERSION:
            plan = _read_tasks(directory, checkpoint)
            require_log(_log(directory), checkpoint, (task.status for task in plan.tasks))
            return _seen(directory, checkpoint, plan)
    except (OSError, ValidationError, CorruptSession):
        pass  # said in full below
    fault, log_lost = _why_broken(directory)
    return SessionRow(directory.name, BROKEN, fault=fault, log_lost=log_lost)


def live_status(directory: Path, status: SessionStatus) -> str:
    """Name the status; one that says `running` while nobody works on it was interrupted."""
    if status is SessionStatus.RUNNING and lock_holder(directory / "lock") is None:
        return INTERRUPTED
    return status.value


def _read_tasks(directory: Path, checkpoint: Checkpoint) -> _Tasks:
    try:
        raw = read_plain(directory / "prd.json")
    except FileNotFoundError:
        # An interview has no plan until its seed holds, and one that failed never gets one.
        if checkpoint.status in (SessionStatus.INTERVIEWING, SessionStatus.FAILED):
            return _Tasks()
        raise
    return _Tasks.model_validate_json(raw)


def _seen(directory: Path, checkpoint: Checkpoint, plan: _Tasks) -> SessionRow:
    tasks = plan.tasks
    spent = checkpoint.usage.values()
    return SessionRow(
        session=directory.name,
        status=live_status(directory, checkpoint.status),
        done_tasks=tuple(task.id for task in tasks if task.status is Status.DONE),
        total=len(tasks),
        failed=tuple(task.id for task in tasks if task.status is Status.FAILED),
        below_bar=tuple(task.id for task in tasks if task.quality_flag),
        cost_usd=sum(spend.cost_usd for spend in spent),
        cost_known=not any(spend.unpriced_calls for spend in spent),
        cost_final=checkpoint.status is not SessionStatus.RUNNING,
        created=checkpoint.created,
        updated=checkpoint.updated,
        source=checkpoint.source,
        branch=checkpoint.branch,
        base_commit=checkpoint.base_commit,
        base_branch=checkpoint.base_branch,
        feature=plan.feature,
        taken=checkpoint.taken,
        nothing_left=_nothing_left(tasks),
    )


def _nothing_left(tasks: tuple[_Task, ...]) -> bool:
    held = held_in(tasks)
    return bool(held) and all(t.status is Status.DONE or t.id in held for t in tasks)


def _why_broken(directory: Path) -> tuple[str, bool]:
    """Let the session itself say what is wrong with it, and whether its log is lost."""
    session = Session(directory, SystemClock(), Mask())
    try:
        require_log(_log(directory), session.checkpoint, statuses(session))
        said = f"cannot be read: {session.checkpoint.status}, {len(session.plan.tasks)} tasks"
        return said, False
    except CorruptSession as error:
        return str(error), isinstance(error, LostLog)


def _log(directory: Path) -> Path:
    return directory / "events.jsonl"
