"""The bench: everything work on a task needs, handed in as one frozen value.

The loop sees only these protocols. `session/parts.py` puts the real ones together; tests put their
own there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from tilth.base.clock import Clock, stamp
from tilth.base.interrupt import Interrupt
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.contract.evidence import Mutated, Probed
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Task
from tilth.contract.rules import Rules
from tilth.gate.challenged import Known
from tilth.gate.findings import Baseline, Validation
from tilth.git.changes import Change, Frozen, Merged
from tilth.git.commits import CommitMessage, CommitRecord
from tilth.log.events import Emit
from tilth.model.messages import Model, Role, ToolCall, ToolSpec
from tilth.task.budget import Meter, Spend
from tilth.task.evidence_record import EvidenceRecord
from tilth.task.leftovers import Leftovers
from tilth.task.night import Night
from tilth.task.tool_outcome import Blocked, ToolOutcome
from tilth.task.words import WordRecord, Words


class Tools(Protocol):
    """Run the worker's tools in its worktree."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    def blocked(self, call: ToolCall) -> Blocked | None: ...

    def run(self, call: ToolCall) -> ToolOutcome: ...


class Gate(Protocol):
    """Prove a tree by its validators."""

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline: ...

    def baseline_onto(self, task: Task, plan: Plan, base: str, known: Baseline) -> Baseline: ...

    def validate(
        self,
        task: Task,
        plan: Plan,
        base: str,
        tree: str,
        baseline: Baseline,
        challenged: Known | None,
    ) -> Validation: ...

    def prove_tip(self, plan: Plan, tip: str) -> Validation: ...

    def files_of(self, tree: str) -> Path: ...

    def probe(self, task: Task, plan: Plan, base: str, tree: str, text: str) -> Probed: ...

    def mutants(
        self,
        task: Task,
        plan: Plan,
        base: str,
        tree: str,
        *,
        seconds: float,
        check: Callable[[], None],
    ) -> Mutated: ...


class Tree(Protocol):
    """Freeze, show and land what stands in the worktree."""

    @property
    def path(self) -> Path: ...

    @property
    def branch(self) -> str: ...

    def tip(self) -> str | None: ...

    def attached(self) -> bool: ...

    def record(self, commit: str) -> CommitRecord: ...

    def newest(self) -> CommitRecord | None: ...

    def merge(self, *, base: str, onto: str, change: str) -> Merged: ...

    def freeze(self, base: str) -> Frozen: ...

    def diff(self, base: str, tree: str) -> str: ...

    def changes(self, base: str, tree: str) -> tuple[Change, ...]: ...

    def files(self, rev: str) -> Collection[str]: ...

    def read(self, rev: str, path: str) -> bytes | None: ...

    def links(self, rev: str, *below: str) -> dict[str, str]: ...

    def has_file(self, path: str) -> bool: ...

    def fingerprint(self) -> str | None: ...

    def tree_of(self, rev: str) -> str: ...

    def commit(
        self, *, tree: str, parent: str, message: CommitMessage, restored: bool = False
    ) -> str: ...

    def restore(self, rev: str) -> None: ...

    def keep_aside(self, ref: str, *, tree: str, parent: str, message: CommitMessage) -> str: ...

    def set_aside(self, ref: str, commit: str, back_to: str) -> None: ...

    def aside(self, ref: str) -> str | None: ...

    def apply_aside(self, ref: str) -> bool: ...

    def drop_aside(self, ref: str) -> None: ...


class Record(WordRecord, Protocol):
    """Keep the session's files."""

    @property
    def seed_tests(self) -> Path: ...

    @property
    def start_commit(self) -> str: ...

    def append_progress(self, line: str, *, again: bool = False) -> None: ...

    def progress(self, *of: str) -> tuple[str, ...]: ...

    def seed_meta(self) -> Mapping[str, Any]: ...

    def save_learnings(self, task: Task, learnings: Sequence[str]) -> None: ...

    def close_out(self, reason: StopReason, spend: Mapping[Role, Spend]) -> None: ...


def _never_measured(model: str) -> None:
    """Know nothing of any evaluator."""


class Lane(Protocol):
    """Be one of several worktrees in which tasks of a session are worked on at the same time."""

    def stand_at(self, base: str) -> bool: ...

    def put(self, tree: str) -> None: ...


@dataclass(frozen=True)
class RunContext:
    """Hold what all tasks of one run share: its models, its record, its limits and its clock."""

    worker: Model
    evaluator_for: Callable[[Task], Model]
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
    words: Words
    evidence: EvidenceRecord
    open_readers: Callable[[Path], Tools]
    # The project's own commands, as the gate runs them.
    validators: tuple[tuple[str, ...], ...]
    rules: Rules
    night: Night = field(default_factory=Night, kw_only=True)
    # None: what remains after the last task is kept.
    leftovers: Leftovers | None = field(default=None, kw_only=True)
    # How often a model is known to be wrong as an evaluator, in words for its commits.
    measured: Callable[[str], str | None] = field(default=_never_measured, kw_only=True)
    # For what several lanes must not do at once: words taken up, requests numbered, caps warned of.
    one_at_a_time: AbstractContextManager[Any] = field(
        default_factory=threading.RLock, kw_only=True
    )

    def stamp(self) -> str:
        """Write the present moment."""
        return stamp(self.clock.now())

    def at(self, *, tree: Tree, tools: Tools, gate: Gate, lane: Lane | None = None) -> Bench:
        """Give a bench at one worktree; several can share a run."""
        shared = {field.name: getattr(self, field.name) for field in fields(RunContext)}
        return Bench(**shared, tree=tree, tools=tools, gate=gate, lane=lane)


@dataclass(frozen=True)
class Bench(RunContext):
    """Hold the parts of one run at one worktree: its tree, its tools and its gate."""

    tree: Tree
    tools: Tools
    gate: Gate
    # One of several worktrees: what is accepted here waits for its turn to land.
    lane: Lane | None = None

    @property
    def queued(self) -> bool:
        return self.lane is not None
