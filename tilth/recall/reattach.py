"""Reattaching: the exchange of an interrupted task, folded from the lines it left in the log.

Pure: it reads lines and gives values. What is done with them is decided in `tilth.resume`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.case import Case
from tilth.exchange.attempt import Green
from tilth.messages import Role, ToolCall, ToolResult, Turn
from tilth.outcomes import FailReason
from tilth.payloads import BlockerRaised
from tilth.recall.rebuild import Rebuilder, Thread, turn_of
from tilth.verdict import LedgerEntry

Line = tuple[str, Mapping[str, Any]]


@dataclass
class Exchange:
    """Hold where an exchange stood when its log ended."""

    thread: Thread | None = None
    iterations: int = 0
    quiet: int = 0
    bonuses: int = 0
    green: Green | None = None
    forced: FailReason | None = None
    # About the last answer of the worker alone: what was ruled on it but not yet acted on.
    submitted: Mapping[str, Any] | None = None
    validators: dict[str, bool] = field(default_factory=dict)
    review: Turn | None = None
    ruled: dict[str, LedgerEntry] = field(default_factory=dict)
    rulings: dict[str, BlockerRaised] = field(default_factory=dict)

    @property
    def open_turn(self) -> Turn | None:
        """Give the last answer if it is not wholly acted on."""
        if self.thread is None or self.thread.is_answered:
            return None
        return self.thread.turn

    @property
    def answered(self) -> dict[str, ToolResult]:
        return dict(self.thread.results) if self.thread and self.open_turn else {}

    def green_of(self, tree: str) -> Green | None:
        """Give a landed tree with its case; without an evaluator only the case tells of it."""
        if self.submitted is not None and self.submitted["tree"] == tree:
            return Green(tree, Case.model_validate(self.submitted["case"]))
        return self.green

    def unanswered(self, control: frozenset[str]) -> tuple[ToolCall, ...]:
        """Give the worktree calls of the open answer that have no recorded result."""
        turn = self.open_turn
        if turn is None or turn.was_cut:
            return ()
        answered = self.answered
        return tuple(
            call for call in turn.tool_calls if call.id not in answered and call.name not in control
        )


def fold(lines: Iterable[Line]) -> Exchange:
    """Fold the lines of one attempt."""
    exchange, rebuilder, reviews = Exchange(), Rebuilder(), set[str]()
    for kind, payload in lines:
        role = payload.get("role")
        if role == Role.EVALUATOR:
            _hear_evaluator(exchange, kind, payload, reviews)
            continue
        thread = rebuilder.read(kind, payload)
        if kind == "prompt_assembled":
            exchange.thread = thread
        elif kind == "model_call" and thread is not None:
            thread.hear(payload)
            _hear_worker(exchange, payload)
        else:
            _note(exchange, kind, payload)
    if exchange.open_turn is None:
        _count_ruled(exchange)
    return exchange


def _hear_worker(exchange: Exchange, payload: Mapping[str, Any]) -> None:
    exchange.iterations += 1
    if any(block.get("type") == "tool_use" for block in payload["content"]):
        exchange.quiet = 0
    _count_ruled(exchange)
    exchange.submitted, exchange.review = None, None
    exchange.validators, exchange.rulings = {}, {}


def _count_ruled(exchange: Exchange) -> None:
    """Count what verdicts earned that were acted on."""
    for entry in exchange.ruled.values():
        exchange.bonuses += entry.earns_bonus
    exchange.ruled = {}


def _hear_evaluator(
    exchange: Exchange, kind: str, payload: Mapping[str, Any], reviews: set[str]
) -> None:
    if kind == "prompt_assembled":
        exchange.review = None
        tools = {tool["name"] for tool in payload["head"]["tools"]}
        if exchange.submitted is not None and "submit_verdict" in tools:
            reviews.add(payload["conversation"])
            case = Case.model_validate(exchange.submitted["case"])
            exchange.green = Green(exchange.submitted["tree"], case)
    elif kind == "model_call" and payload["conversation"] in reviews:
        exchange.review = turn_of(payload)


def _note(exchange: Exchange, kind: str, payload: Mapping[str, Any]) -> None:
    if kind == "nudge":
        exchange.quiet = payload["in_a_row"]
    elif kind == "case_submitted":
        exchange.submitted, exchange.validators, exchange.review = payload, {}, None
    elif kind == "validator_run" and payload["phase"] == "case":
        exchange.validators[payload["name"]] = payload["passed"]
    elif kind == "evaluator_verdict":
        _rule(exchange, payload)
    elif kind == "blocker_raised":
        exchange.rulings[payload["call_id"]] = BlockerRaised.model_validate(payload)
    elif kind == "task_force_accepted":
        exchange.forced = FailReason(payload["reason"])


def _rule(exchange: Exchange, payload: Mapping[str, Any]) -> None:
    entry = LedgerEntry(**{name: payload[name] for name in LedgerEntry.model_fields})
    exchange.ruled[payload["call_id"]] = entry
    exchange.review = None
