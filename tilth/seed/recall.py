"""Recalling an interview: where it stood when its log ended, rebuilt from the log alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.errors import Unreadable
from tilth.messages import Role, Turn
from tilth.recall.rebuild import Rebuilder, Thread
from tilth.seed.contract import SUBMIT_REVIEW, Outcome, Review, parse_review
from tilth.seed.draft import WRITE_SEED
from tilth.seed.question import ASK_USER

CONTROL_TOOLS = frozenset({ASK_USER.name, WRITE_SEED.name})


@dataclass
class Recalled:
    """Hold what the log of an interview says."""

    thread: Thread | None = None
    begun: str = ""
    trace_id: str | None = None
    turns: int = 0
    quiet: int = 0
    asked: int = 0
    review: Review | None = None
    review_told: bool = False
    prepared: bool = False
    _reviews: set[str] = field(default_factory=set)

    @property
    def open_turn(self) -> Turn | None:
        """Give the last answer if it is not wholly acted on."""
        return None if self.thread is None or self.thread.is_answered else self.thread.turn


def recall(lines: Iterable[Mapping[str, Any]]) -> Recalled:
    """Read the log of an interview once."""
    recalled, rebuilder = Recalled(), Rebuilder()
    for line in lines:
        kind, payload = line["type"], line["payload"]
        if payload.get("role") == Role.EVALUATOR:
            _hear_review(recalled, kind, payload)
            continue
        thread = rebuilder.read(kind, payload)
        if kind == "prompt_assembled" and payload["role"] == Role.SEEDER:
            recalled.thread, recalled.begun = thread, line["ts"]
            recalled.trace_id = line["trace_id"]
        elif kind == "model_call" and thread is not None:
            turn = rebuilder.hear(thread, payload)
            recalled.turns += 1
            recalled.quiet = 0 if turn.tool_calls else recalled.quiet
        else:
            _note(recalled, kind, payload)
    return recalled


def _hear_review(recalled: Recalled, kind: str, payload: Mapping[str, Any]) -> None:
    if kind == "prompt_assembled":
        tools = {tool["name"] for tool in payload["head"]["tools"]}
        if SUBMIT_REVIEW.name in tools:
            recalled._reviews.add(payload["conversation"])
    elif kind == "model_call" and payload["conversation"] in recalled._reviews:
        turn = Turn.model_validate({name: payload.get(name) for name in Turn.model_fields})
        try:
            recalled.review = parse_review(turn)
        except Unreadable as error:
            recalled.review = Review(outcome=Outcome.UNREADABLE, note=str(error))


def _note(recalled: Recalled, kind: str, payload: Mapping[str, Any]) -> None:
    if kind == "nudge":
        recalled.quiet = payload["in_a_row"]
    elif kind == "tool_result" and payload["name"] == WRITE_SEED.name:
        recalled.review_told = recalled.review_told or recalled.review is not None
    elif kind == "tool_result" and payload["name"] == ASK_USER.name:
        recalled.asked += not payload["is_error"]
    elif kind == "session_prepared":
        recalled.prepared = True
