"""The bench of an interview: its parts as one value, and the state of its conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tilth.base.clock import Clock
from tilth.base.interrupt import Interrupt
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.interview.approval import Approver, Criteria
from tilth.interview.contract_review import ContractReview
from tilth.interview.frontend import InterviewFrontend
from tilth.interview.sink import SeedSink
from tilth.log.events import Emit
from tilth.model.messages import Conversation, Model, ToolCall, ToolResult, ToolSpec, Turn
from tilth.task.budget import Meter
from tilth.task.night import Night
from tilth.task.tool_outcome import ToolOutcome

MAX_TURNS = 60


class Reader(Protocol):
    """Look at the source repository and change nothing."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    def run(self, call: ToolCall) -> ToolOutcome: ...


@dataclass
class InterviewBench:
    """Hold the parts of one interview; it is also the account its model calls are charged to.

    `started` moves on while a person thinks: their time is not the session's.
    """

    seeder: Model
    evaluator: Model | None
    no_review: str
    reader: Reader
    frontend: InterviewFrontend
    sink: SeedSink
    source: Path
    session: str
    branch: str
    settings: Settings
    emit: Emit
    clock: Clock
    mask: Mask
    meter: Meter
    interrupt: Interrupt
    new_id: Callable[[], str]
    started: float
    # None: nobody reads the criteria before they are written.
    approver: Approver | None = None
    warned: set[str] = field(default_factory=set)
    night: Night = field(default_factory=Night)


@dataclass
class InterviewState:
    """Keep count of one interview; a resume rebuilds it from the log."""

    conversation: Conversation
    emit: Emit
    begun: str
    turns: int = 0
    quiet: int = 0
    asked: int = 0
    held_back: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    # The review is held once; until its findings are told they are owed to the seeder.
    review: ContractReview | None = None
    review_told: bool = False
    disputed: str | None = None
    # The criteria the user last saw or wrote.
    seen: Criteria | None = None
    # Left by an interruption: the last answer is not yet wholly acted on.
    open_turn: Turn | None = None
    is_continued: bool = False
    answered: dict[str, ToolResult] = field(default_factory=dict)
