"""The logged interview: where it stood when its log ended, rebuilt from the log alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tilth.base.errors import Unreadable
from tilth.interview.contract_review import (
    SUBMIT_REVIEW,
    ContractReview,
    ReviewOutcome,
    parse_review,
)
from tilth.interview.draft import WRITE_SEED
from tilth.interview.question import ASK_USER, Question, parse_question
from tilth.log.conversations import Conversations, Thread, turn_of
from tilth.log.events import (
    Event,
    ModelCall,
    Nudge,
    Payload,
    PromptAssembled,
    SessionPrepared,
    ToolCalled,
    ToolResulted,
)
from tilth.model.messages import Role, Turn

CONTROL_TOOLS = frozenset({ASK_USER.name, WRITE_SEED.name})


@dataclass
class LoggedInterview:
    """Hold what the log of an interview says."""

    thread: Thread | None = None
    begun: str = ""
    trace_id: str | None = None
    turns: int = 0
    quiet: int = 0
    asked: int = 0
    review: ContractReview | None = None
    review_told: bool = False
    prepared: bool = False
    # What was asked and answered, oldest first.
    answers: list[tuple[Question, str]] = field(default_factory=list)
    _reviews: set[str] = field(default_factory=set)
    _asked: dict[str, Question] = field(default_factory=dict)

    @property
    def open_turn(self) -> Turn | None:
        """Give the last answer if it is not wholly acted on."""
        return None if self.thread is None or self.thread.is_answered else self.thread.turn


def read_interview(events: Iterable[Event]) -> LoggedInterview:
    """Read the log of an interview once."""
    logged, conversations = LoggedInterview(), Conversations()
    for event in events:
        thread, payload = conversations.follow(event), event.payload
        match payload:
            case PromptAssembled(role=Role.SEEDER):
                logged.thread, logged.begun = thread, event.ts
                logged.trace_id = event.scope.trace_id
            case PromptAssembled(role=Role.EVALUATOR):
                if SUBMIT_REVIEW.name in {tool["name"] for tool in payload.head["tools"]}:
                    logged._reviews.add(payload.conversation)
            case ModelCall():
                _hear(logged, payload)
            case _:
                _note(logged, payload)
    return logged


def _hear(logged: LoggedInterview, call: ModelCall) -> None:
    turn = turn_of(call)
    if call.role is Role.SEEDER:
        logged.turns += 1
        logged.quiet = 0 if turn.tool_calls else logged.quiet
    elif call.conversation in logged._reviews:
        try:
            logged.review = parse_review(turn)
        except Unreadable as error:
            logged.review = ContractReview(outcome=ReviewOutcome.UNREADABLE, note=str(error))


def _note(logged: LoggedInterview, payload: Payload) -> None:
    match payload:
        case Nudge():
            logged.quiet = payload.in_a_row
        case ToolResulted(name=WRITE_SEED.name):
            logged.review_told = logged.review_told or logged.review is not None
        case ToolCalled(name=ASK_USER.name):
            logged._asked[payload.call_id] = parse_question(payload.arguments)
        case ToolResulted(name=ASK_USER.name, is_error=False):
            logged.asked += 1
            question = logged._asked.get(payload.call_id)
            if question is not None:
                logged.answers.append((question, payload.content))
        case SessionPrepared():
            logged.prepared = True
