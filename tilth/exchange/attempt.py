"""The attempt: one task being worked on, and where its exchange stands.

The only mutable state of the inner loop. A resume rebuilds it from the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilth.budget import Allowance
from tilth.case import Case
from tilth.events import Emit
from tilth.findings import Baseline
from tilth.messages import Conversation, ToolResult, Turn
from tilth.payloads import BlockerRaised
from tilth.prd import Task
from tilth.verdict import LedgerEntry
from tilth.watch import Rounds


@dataclass(frozen=True)
class Green:
    """Hold a tree that passed every validator, and the case made for it."""

    tree: str
    case: Case


@dataclass(frozen=True)
class Submission:
    """Hold what one case puts up for judgement."""

    case: Case
    tree: str
    nested: tuple[str, ...]
    diff: str
    diff_sha256: str


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
    # After a resume it starts anew: the worst of it is a reminder that comes one run later.
    rounds: Rounds = field(default_factory=Rounds)
    # Verdicts of earlier attempts are shown, but a row of them does not end this one.
    ledger_start: int = 0
    # Left by an interruption: the last answer is not yet wholly acted on.
    open_turn: Turn | None = None
    answered: dict[str, ToolResult] = field(default_factory=dict)
    ruled: dict[str, LedgerEntry] = field(default_factory=dict)
    rulings: dict[str, BlockerRaised] = field(default_factory=dict)

    @property
    def spent(self) -> bool:
        return self.iterations >= self.allowance.total
