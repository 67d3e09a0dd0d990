"""The session: one run of one PRD against one repo, as it stands on disk.

The only writer under the sessions directory, apart from the worktree's own content. Everything it
keeps beside the event log can be rebuilt from that log.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from enum import StrEnum
from functools import wraps
from pathlib import Path
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

from pydantic import ConfigDict

from tilth.base.clock import Clock, SystemClock, stamp
from tilth.base.errors import CorruptSession, DiskError, UnknownSession
from tilth.base.failpoint import reach
from tilth.base.plain_file import read_plain
from tilth.base.values import Value, jsonable
from tilth.config.secrets import Mask
from tilth.contract.operator_requests import OperatorRequest, still_open
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Task
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import SCHEMA_VERSION, Event, SessionStart
from tilth.log.reader import read_events
from tilth.model.messages import Role
from tilth.session.fence import Fence, Guard, fence_file
from tilth.session.files import Files, entries, stage, validated
from tilth.session.store import Lock, make_private, read_json, read_lines, sync_dir
from tilth.task.budget import Spend

SESSION_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
PROGRESS_LINES = 30

Given = ParamSpec("Given")
Result = TypeVar("Result")


class SessionStatus(StrEnum):
    """Say where a session stands."""

    INTERVIEWING = "interviewing"
    PREPARED = "prepared"
    RUNNING = "running"
    STOPPED = "stopped"
    WAITING = "waiting"
    FAILED = "failed"
    DONE = "done"


_STATUS_AFTER = {
    StopReason.ALL_DONE: SessionStatus.DONE,
    StopReason.BLOCKED: SessionStatus.WAITING,
    StopReason.ITER_CAP: SessionStatus.FAILED,
    StopReason.EVALUATOR_CAP: SessionStatus.FAILED,
    StopReason.NO_CASE: SessionStatus.FAILED,
    StopReason.NO_PROGRESS: SessionStatus.FAILED,
    StopReason.DROPPED: SessionStatus.FAILED,
}


class Checkpoint(Value):
    """Hold what `checkpoint.json` says."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = SCHEMA_VERSION
    session: str
    status: SessionStatus
    source: str
    branch: str
    base_commit: str
    base_branch: str | None = None  # sessions of old do not say
    taken: tuple[str, ...] = ()  # the tasks that `tilth take` has brought onto another branch
    prd: str | None = None
    prd_sha256: str | None = None
    created: str
    updated: str
    usage: Mapping[Role, Spend] = {}


def session_id(moment: datetime, token: str) -> str:
    """Make an id from a moment and six random hex digits."""
    return f"{moment:%Y%m%d-%H%M%S}-{token[:6]}"


def branch_of(session: str) -> str:
    return f"session/{session}"


def checked_id(text: str) -> str:
    """Let only a well-formed full id through."""
    if not SESSION_ID.fullmatch(text):
        raise UnknownSession(
            f"{text!r} is not a session id (like 20261116-093000-a1b2c3); see `tilth info`"
        )
    return text


def _one_at_a_time(
    write: Callable[Concatenate[Session, Given], Result],
) -> Callable[Concatenate[Session, Given], Result]:
    """Have the threads of a run write to its session one after the other."""

    @wraps(write)
    def alone(session: Session, /, *args: Given.args, **options: Given.kwargs) -> Result:
        with session.writing:
            return write(session, *args, **options)

    return alone


class Session:
    """Read and write one session's files."""

    def __init__(
        self, directory: Path, clock: Clock, mask: Mask, guard: Guard = nullcontext
    ) -> None:
        self.directory = directory
        self.id = checked_id(directory.name)
        self.guard = guard
        self.writing = RLock()
        self._files = Files(directory, guard)
        self._clock = clock
        self._mask = mask
        self._lock = Lock(directory / "lock")
        self._checkpoint: Checkpoint | None = None
        self._plan: Plan | None = None

    @property
    def mask(self) -> Mask:
        return self._mask

    def hide(self, mask: Mask) -> None:
        """Hide in every later record what is known to be secret by now."""
        self._mask = mask

    @classmethod
    def new(
        cls,
        sessions: Path,
        checkpoint: Checkpoint,
        plan: Plan | None,
        seed_tests: Mapping[str, bytes],
        *,
        clock: Clock,
        mask: Mask,
        guard: Guard = nullcontext,
    ) -> Session:
        """Make a session's directory; it appears complete, by rename, already locked.

        Without a plan it is an interview, which gets one when its seed holds.
        """
        place = sessions / checked_id(checkpoint.session)
        try:
            make_private(sessions)
            staged = Path(tempfile.mkdtemp(prefix=f".new-{place.name}-", dir=sessions))
            lock = Lock(staged / "lock")
            try:
                stage(staged, jsonable(checkpoint), plan and mask.data(jsonable(plan)), seed_tests)
                lock.acquire()
                reach("before the session appears")
                with guard():
                    os.rename(staged, place)
                reach("after the session appeared")
            except BaseException:
                lock.release()
                shutil.rmtree(staged, ignore_errors=True)
                raise
            sync_dir(sessions)
        except OSError as error:
            raise DiskError(f"cannot create a session in {sessions}: {error.strerror}") from error
        session = cls(place, clock, mask, guard)
        session._lock = lock
        return session

    @classmethod
    def open_locked(
        cls, sessions: Path, session: str, *, clock: Clock, mask: Mask, guard: Guard | None = None
    ) -> Session:
        """Open a session from disk alone and take its lock; one that was shared stays fenced."""
        opened = cls.look(sessions, session, clock=clock, mask=mask)
        opened._lock.acquire()
        if guard is None and fence_file(sessions, opened.id).exists():
            guard = Fence.take(sessions, opened.id).passing
        opened.guard = guard or nullcontext
        opened._files = Files(opened.directory, opened.guard)
        return opened

    @classmethod
    def look(
        cls, sessions: Path, session: str, *, clock: Clock | None = None, mask: Mask | None = None
    ) -> Session:
        """Open a session for reading only; what is on disk was masked when it was written."""
        directory = sessions / checked_id(session)
        if not directory.is_dir():
            raise UnknownSession(f"no session {session} in {sessions}; see `tilth info`")
        return cls(directory, clock or SystemClock(), mask or Mask())

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def discard(self) -> None:
        """Take back a session that never began."""
        self.release()
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def workspace(self) -> Path:
        return self.directory / "workspace"

    def lane(self, task_id: str) -> Path:
        """Name the worktree of a task's lane."""
        return self.directory / "workspaces" / task_id

    @property
    def start_commit(self) -> str:
        return self.checkpoint.base_commit

    @property
    def seed_tests(self) -> Path:
        return self.directory / "seed-tests"

    @property
    def log_path(self) -> Path:
        return self.directory / "events.jsonl"

    def events(self) -> Iterator[Event]:
        """Read the event log, event by event."""
        return read_events(self.log_path)

    @property
    def checkpoint(self) -> Checkpoint:
        if self._checkpoint is None:
            self._checkpoint = _read_checkpoint(self.directory / "checkpoint.json")
        return self._checkpoint

    def save_checkpoint(
        self,
        status: SessionStatus,
        spend: Mapping[Role, Spend] | None = None,
        **changes: Any,
    ) -> None:
        """Replace the checkpoint with a new status and spend, and what else has changed."""
        changes |= {"status": status, "updated": stamp(self._clock.now())}
        if spend is not None:
            changes["usage"] = dict(spend)
        checkpoint = self.checkpoint.model_copy(update=changes)
        self._files.replace_json("checkpoint.json", jsonable(checkpoint))
        self._checkpoint = checkpoint

    def rebuild_checkpoint(self, start: SessionStart, created: str) -> None:
        """Write a checkpoint anew from the session's first event, where the old one is unusable."""
        self._checkpoint = Checkpoint(
            session=self.id,
            status=SessionStatus.STOPPED,
            source=start.source,
            branch=branch_of(self.id),
            base_commit=start.base_commit,
            base_branch=start.base_branch,
            created=created,
            updated=created,
        )
        self._files.replace_json("checkpoint.json", jsonable(self._checkpoint))

    @property
    def has_plan(self) -> bool:
        """Tell whether there is a plan: an interview has none before its seed holds."""
        return (self.directory / "prd.json").exists()

    @property
    def plan(self) -> Plan:
        if self._plan is None:
            path = self.directory / "prd.json"
            self._plan = validated(Plan, read_json(path), str(path))
        return self._plan

    @_one_at_a_time
    def save_task(self, task: Task) -> Plan:
        """Replace the session's PRD with one task in its new state."""
        plan = self.plan.replaced(task)
        self._files.replace_json("prd.json", self._mask.data(jsonable(plan)))
        self._plan = plan
        return plan

    @_one_at_a_time
    def append_ledger_entry(self, entry: LedgerEntry) -> int:
        """Append a verdict to its task's ledger and give the number of entries."""
        path = self._ledger_path(entry.task_id)
        self._files.append(path.relative_to(self.directory), self._line(entry))
        return sum(1 for _ in read_lines(path))

    def read_ledger(self, task_id: str) -> tuple[LedgerEntry, ...]:
        """Give all verdicts on a task, oldest first."""
        return tuple(entries(LedgerEntry, self._ledger_path(task_id)))

    def _ledger_path(self, task_id: str) -> Path:
        if self.plan.task(task_id) is None:
            raise UnknownSession(f"session {self.id} has no task {task_id!r}")
        return self.directory / "ledger" / f"{task_id}.jsonl"

    @_one_at_a_time
    def append_progress(self, line: str, *, again: bool = False) -> None:
        """Add one line to the story of the session; `again` leaves out one that is there."""
        path = self.directory / "progress.txt"
        old = read_plain(path) if path.exists() else b""
        flat = " ".join(self._mask.known(line).split()).encode("utf-8", "backslashreplace")
        if not (again and old.splitlines()[-1:] == [flat]):
            self._files.replace("progress.txt", old + flat + b"\n")

    def progress(self, *of: str) -> tuple[str, ...]:
        """Give the last lines of the story of the session, or of some tasks, in their order."""
        path = self.directory / "progress.txt"
        lines = read_plain(path).decode("utf-8", "replace").splitlines() if path.exists() else []
        told = [line for task in of for line in lines if line.startswith(f"{task} ")]
        return tuple((told if of else lines)[-PROGRESS_LINES:])

    def save_summary(self, summary: Mapping[str, Any]) -> None:
        self._files.replace_json("summary.json", self._mask.data(dict(summary)))

    def save_report(self, text: str) -> None:
        raw = self._mask.known(text).encode("utf-8", "backslashreplace")
        self._files.replace("report.md", raw)

    @_one_at_a_time
    def save_learnings(self, task: Task, learnings: Sequence[str]) -> None:
        """Add what an accepted task taught to the notes for the user."""
        path = self.directory / "proposed-learnings.md"
        old = (
            read_plain(path).decode("utf-8", "replace")
            if path.exists()
            else "# Proposed learnings\n"
        )
        if f"\n## {task.id} " in old:
            return
        title = " ".join(task.title.split())
        items = "".join(f"- {' '.join(item.split())}\n" for item in learnings)
        text = self._mask.known(f"{old}\n## {task.id} {title}\n\n{items}")
        self._files.replace(path.name, text.encode("utf-8", "backslashreplace"))

    def seed_meta(self) -> Mapping[str, Any]:
        """Give the interview's record, or nothing when there was no interview."""
        path = self.directory / "seed-meta.json"
        meta = read_json(path) if path.exists() else {}
        if not isinstance(meta, dict):
            raise CorruptSession(f"{path}: must hold an object")
        return meta

    @_one_at_a_time
    def append_request(self, request: OperatorRequest) -> None:
        """Put a question, a flag or an answer on record."""
        self._files.append("operator-requests.jsonl", self._line(request))

    def requests(self) -> tuple[OperatorRequest, ...]:
        """Give all questions, flags and answers, oldest first."""
        return tuple(entries(OperatorRequest, self.directory / "operator-requests.jsonl"))

    @_one_at_a_time
    def close_out(self, reason: StopReason, spend: Mapping[Role, Spend]) -> None:
        """Leave the checkpoint as a stopped run should be found."""
        status = _STATUS_AFTER.get(reason, SessionStatus.STOPPED)
        settled = self.plan.settled
        if status is SessionStatus.FAILED and still_open(self.requests(), settled):
            # Under `skip` a question may be open although another task failed first.
            status = SessionStatus.WAITING
        self.save_checkpoint(status, spend)

    def _line(self, entry: Value) -> str:
        return json.dumps(self._mask.data(jsonable(entry)), ensure_ascii=False)


def _read_checkpoint(path: Path) -> Checkpoint:
    mend = f"`tilth resume {path.parent.name}` writes it anew from the log"
    try:
        content = read_json(path)
    except CorruptSession as error:
        raise CorruptSession(str(error), mend) from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise CorruptSession(
            f"{path}: written in schema {version}, this Tilth reads up to {SCHEMA_VERSION}; "
            "use the newer Tilth that wrote it"
        )
    try:
        return validated(Checkpoint, content, str(path))
    except CorruptSession as error:
        raise CorruptSession(str(error), mend) from None
