"""The bench: everything a run needs, handed in as one frozen value.

The loop sees only these protocols. The real parts are put together in one place at the edge; tests
put their own there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tilth.budget import Meter, Spend
from tilth.changes import Change, Frozen
from tilth.clock import Clock, stamp
from tilth.commits import CommitMessage
from tilth.events import Emit
from tilth.findings import Baseline, Validation
from tilth.interrupt import Interrupt
from tilth.mask import Mask
from tilth.messages import Model, Role, ToolCall, ToolSpec
from tilth.outcomes import StopReason
from tilth.prd import Plan, Task
from tilth.requests import OperatorRequest
from tilth.settings import Settings
from tilth.tooling import Blocked, Outcome
from tilth.verdict import LedgerEntry


class Tools(Protocol):
    """Run the worker's tools in its worktree."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    def blocked(self, call: ToolCall) -> Blocked | None: ...

    def run(self, call: ToolCall) -> Outcome: ...


class Gate(Protocol):
    """Prove a tree by its validators."""

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline: ...

    def validate(
        self, task: Task, plan: Plan, base: str, tree: str, baseline: Baseline
    ) -> Validation: ...


class Tree(Protocol):
    """Freeze, show and land what stands in the worktree."""

    @property
    def path(self) -> Path: ...

    @property
    def branch(self) -> str: ...

    def tip(self) -> str | None: ...

    def freeze(self, base: str) -> Frozen: ...

    def diff(self, base: str, tree: str) -> str: ...

    def changes(self, base: str, tree: str) -> tuple[Change, ...]: ...

    def read(self, rev: str, path: str) -> bytes | None: ...

    def has_file(self, path: str) -> bool: ...

    def fingerprint(self) -> str | None: ...

    def commit(self, *, tree: str, parent: str, message: CommitMessage) -> str: ...

    def restore(self, rev: str) -> None: ...

    def set_aside(self, ref: str, commit: str, back_to: str) -> None: ...

    def aside(self, ref: str) -> str | None: ...

    def apply_aside(self, ref: str) -> bool: ...

    def drop_aside(self, ref: str) -> None: ...


class Record(Protocol):
    """Keep the session's files."""

    @property
    def id(self) -> str: ...

    @property
    def plan(self) -> Plan: ...

    @property
    def seed_tests(self) -> Path: ...

    def save_task(self, task: Task) -> Plan: ...

    def append_ledger_entry(self, entry: LedgerEntry) -> int: ...

    def read_ledger(self, task_id: str) -> tuple[LedgerEntry, ...]: ...

    def append_progress(self, line: str, *, again: bool = False) -> None: ...

    def progress(self) -> tuple[str, ...]: ...

    def seed_meta(self) -> Mapping[str, Any]: ...

    def save_learnings(self, task: Task, learnings: Sequence[str]) -> None: ...

    def append_request(self, request: OperatorRequest) -> None: ...

    def requests(self) -> tuple[OperatorRequest, ...]: ...

    def close_out(self, reason: StopReason, spend: Mapping[Role, Spend]) -> None: ...


@dataclass(frozen=True)
class Bench:
    """Hold the parts of one run."""

    worker: Model
    evaluator_for: Callable[[Task], Model]
    tools: Tools
    gate: Gate
    tree: Tree
    record: Record
    settings: Settings
    emit: Emit
    clock: Clock
    mask: Mask
    meter: Meter
    interrupt: Interrupt
    new_id: Callable[[], str]
    started: float
    warned: set[str]

    def stamp(self) -> str:
        """Write the present moment."""
        return stamp(self.clock.now())
