"""The table an interview is held at: its parts, and where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tilth.budget import Meter
from tilth.clock import Clock
from tilth.events import Emit
from tilth.interrupt import Interrupt
from tilth.mask import Mask
from tilth.messages import Conversation, Model, ToolCall, ToolResult, ToolSpec, Turn
from tilth.seed.contract import Review
from tilth.seed.frontend import InterviewFrontend
from tilth.seed.sink import SeedSink
from tilth.settings import Settings
from tilth.tooling import Outcome


class Reader(Protocol):
    """Look at the source repository and change nothing."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    def run(self, call: ToolCall) -> Outcome: ...


@dataclass
class Table:
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
    warned: set[str] = field(default_factory=set)


@dataclass
class Talk:
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
    review: Review | None = None
    review_told: bool = False
    disputed: str | None = None
    # Left by an interruption: the last answer is not yet wholly acted on.
    open_turn: Turn | None = None
    taken_up: bool = False
    answered: dict[str, ToolResult] = field(default_factory=dict)
