"""The attempt: one task being worked on, and where its exchange stands.

The only mutable state of the inner loop. A resume rebuilds it from the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tilth.contract.case import Case
from tilth.contract.left_out import LeftOut
from tilth.contract.prd import Task
from tilth.contract.verdict import LedgerEntry
from tilth.gate.findings import Baseline
from tilth.log.events import BlockerRaised, Emit, LandingRefused, Payload
from tilth.log.task_state import RedTree
from tilth.model.messages import Conversation, ToolCall, ToolResult, Turn
from tilth.task.budget import Allowance
from tilth.task.watch import Repeats, Verified


@dataclass(frozen=True)
class Green:
    """Hold a tree that passed every validator, and the case made for it."""

    tree: str
    case: Case


@dataclass(frozen=True)
class Accepted:
    """Hold what was accepted and waits for its turn to land, and as what it will land."""

    green: Green
    verdict: str
    score: int | None
    below_bar: bool = False


@dataclass(frozen=True)
class Snapshot:
    """Hold the worktree as it stood when a case was made: its tree, and what it changes."""

    tree: str
    nested: tuple[str, ...]
    left_out: Mapping[str, LeftOut]
    diff: str
    diff_sha256: str


@dataclass(frozen=True)
class Submission(Snapshot):
    """Hold what one case puts up for judgement."""

    case: Case


@dataclass
class Review:
    """Keep count of one conversation with the evaluator about one case.

    `pending` and `given` are left by an interruption: the last answer, not yet wholly acted on, and
    the results it was given. `corrected` is true once it was told that its probe proves nothing,
    `completed` once it was asked for what a verdict lacked.
    """

    conversation: Conversation
    answers: int = 0
    unread: list[Turn] = field(default_factory=list)
    corrected: bool = False
    completed: bool = False
    pending: Turn | None = None
    given: dict[str, ToolResult] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenReview:
    """Hold a review that an interruption left open, and what it is about."""

    review: Review
    call_id: str
    case: Case
    tree: str
    diff_sha256: str
    validators: Mapping[str, Literal["passed", "failed"]]


@dataclass
class Attempt:
    """Keep count of one task's exchange."""

    task: Task
    base: str
    conversation: Conversation
    allowance: Allowance
    emit: Emit
    baseline: Baseline | None = None
    iterations: int = 0
    quiet: int = 0
    rejections: int = 0
    unreadable: int = 0
    green: Green | None = None
    # The last case, if the gate failed it.
    red: RedTree | None = None
    # After a resume these start anew: the worst of it is a remark that comes a call later.
    verified: Verified = field(default_factory=Verified)
    repeats: Repeats = field(default_factory=Repeats)
    # Verdicts of earlier attempts are shown, but a row of them does not end this one.
    ledger_start: int = 0
    # What a person said and the worker has not been sent yet.
    notes: list[str] = field(default_factory=list)
    # The cases and blockers that nobody looked at, because a person had a note first.
    held: set[str] = field(default_factory=set)
    # Left by an interruption: the last answer is not yet wholly acted on.
    open_turn: Turn | None = None
    answered: dict[str, ToolResult] = field(default_factory=dict)
    ruled: dict[str, LedgerEntry] = field(default_factory=dict)
    rulings: dict[str, BlockerRaised] = field(default_factory=dict)
    open_review: OpenReview | None = None
    # With several jobs: what waits for its turn to land, what was ruled on it once it was merged,
    # and a landing that was refused and of which the worker was not told yet.
    accepted: Accepted | None = None
    ruled_merged: LedgerEntry | None = None
    refused: LandingRefused | None = None
    # The files in which it was in conflict with what had landed.
    conflicted: tuple[str, ...] = ()

    @property
    def open_call(self) -> ToolCall | None:
        """Give the case or blocker of the last answer that waits for its result."""
        calls = self.open_turn.tool_calls if self.open_turn else ()
        return next((call for call in calls if call.id not in self.answered), None)

    def tell(self, payload: Payload) -> None:
        """Record what happened."""
        self.emit(payload)

    @property
    def spent(self) -> bool:
        # What was given back unheard costs nothing: a note must not be what ends a task.
        return self.iterations - len(self.held) >= self.allowance.total
