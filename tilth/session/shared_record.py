"""The shared record: a session's files, written by several lanes, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tilth.contract.operator_requests import OperatorRequest
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Task
from tilth.contract.verdict import LedgerEntry
from tilth.model.messages import Role
from tilth.session.session import Session
from tilth.task.budget import Spend


class SharedRecord:
    """Be the record of a run whose lanes write beside each other."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.RLock()

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def plan(self) -> Plan:
        return self._session.plan

    @property
    def seed_tests(self) -> Path:
        return self._session.seed_tests

    @property
    def start_commit(self) -> str:
        return self._session.start_commit

    def save_task(self, task: Task) -> Plan:
        with self._lock:
            return self._session.save_task(task)

    def append_ledger_entry(self, entry: LedgerEntry) -> int:
        with self._lock:
            return self._session.append_ledger_entry(entry)

    def read_ledger(self, task_id: str) -> tuple[LedgerEntry, ...]:
        return self._session.read_ledger(task_id)

    def append_progress(self, line: str, *, again: bool = False) -> None:
        with self._lock:
            self._session.append_progress(line, again=again)

    def progress(self, *of: str) -> tuple[str, ...]:
        return self._session.progress(*of)

    def seed_meta(self) -> Mapping[str, Any]:
        return self._session.seed_meta()

    def save_learnings(self, task: Task, learnings: Sequence[str]) -> None:
        with self._lock:
            self._session.save_learnings(task, learnings)

    def append_request(self, request: OperatorRequest) -> None:
        with self._lock:
            self._session.append_request(request)

    def requests(self) -> tuple[OperatorRequest, ...]:
        return self._session.requests()

    def close_out(self, reason: StopReason, spend: Mapping[Role, Spend]) -> None:
        with self._lock:
            self._session.close_out(reason, spend)
