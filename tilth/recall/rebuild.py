"""Rebuilding: conversations grown again from the log, exactly as they were sent.

A conversation is its head and first messages (`prompt_assembled`), the answers (`model_call`) and
what was sent back after each: tool results in the order of their calls, nudges, corrections. Replay
checks every request with it, and a resume goes on with the last conversation it gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.messages import Block, Conversation, Role, ToolResult, Turn


@dataclass
class Thread:
    """Grow one conversation; what was sent back stands apart until the next request."""

    conversation: Conversation
    endpoint: str
    turn: Turn | None = None
    results: dict[str, ToolResult] = field(default_factory=dict)
    replies: list[Block] = field(default_factory=list)

    @property
    def is_answered(self) -> bool:
        """Tell whether everything in the last answer has been acted on."""
        if self.turn is None:
            return True
        if self.replies:
            return True
        calls = self.turn.tool_calls
        return bool(calls) and all(call.id in self.results for call in calls)

    def settle(self) -> None:
        """Append what was sent back as the one user message it was."""
        calls = self.turn.tool_calls if self.turn else ()
        blocks = [self.results[call.id].to_wire() for call in calls if call.id in self.results]
        if blocks or self.replies:
            self.conversation.reply([*blocks, *self.replies])
        self.results, self.replies = {}, []


class Rebuilder:
    """Read a log line by line and keep every conversation it tells of."""

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}

    def read(self, kind: str, payload: Mapping[str, Any]) -> Thread | None:
        """Take in one event; gives the thread it belongs to.

        At a `model_call` the thread's conversation stands as it was sent: its hash can be compared
        before `hear` appends the answer.
        """
        if kind == "prompt_assembled":
            return self._open(payload)
        thread = self.threads.get(payload.get("conversation", ""))
        if thread is None:
            return None
        if kind == "tool_result":
            thread.results[payload["call_id"]] = ToolResult(
                call_id=payload["call_id"],
                content=payload["content"],
                is_error=payload["is_error"],
            )
        elif kind == "nudge":
            thread.replies.append({"type": "text", "text": payload["text"]})
        elif kind == "evaluator_parse_error":
            thread.replies.extend(payload["reply"])
        elif kind == "context_trimmed":
            thread.settle()
            thread.conversation.trim(frozenset(payload["call_ids"]), payload["stub"])
        elif kind == "model_call":
            thread.settle()
        return thread

    def hear(self, thread: Thread, payload: Mapping[str, Any]) -> Turn:
        """Append a recorded answer to its conversation."""
        turn = Turn.model_validate({name: payload.get(name) for name in Turn.model_fields})
        thread.conversation.hear(turn.content)
        thread.turn = turn
        return turn

    def drop(self, conversation: str) -> None:
        """Forget a conversation that will not be continued."""
        self.threads.pop(conversation, None)

    def _open(self, payload: Mapping[str, Any]) -> Thread:
        conversation = Conversation.from_head(
            payload["conversation"], Role(payload["role"]), payload["head"]
        )
        for message in payload["messages"]:
            conversation.reply(message["content"])
        thread = Thread(conversation, payload.get("endpoint", ""))
        self.threads[conversation.id] = thread
        return thread
