"""Rebuilding: conversations grown again from the log, exactly as they were sent.

A conversation is its head and first messages (`prompt_assembled`), the answers (`model_call`) and
what was sent back after each: tool results in the order of their calls, nudges, corrections. Replay
checks every request with it, and a resume goes on with the last conversation it gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.messages import Block, Conversation, Role, ToolResult, Turn, result_block


@dataclass
class Thread:
    """Grow one conversation; what was sent back stands apart until the next request.

    Recorded payloads are kept as they are and turned into values only for those who ask: a
    verification reads thousands of them and needs none.
    """

    conversation: Conversation
    endpoint: str
    answer: Mapping[str, Any] | None = None
    given: dict[str, Block] = field(default_factory=dict)
    replies: list[Block] = field(default_factory=list)

    @property
    def turn(self) -> Turn | None:
        """Give the last answer, while nothing has been sent after it."""
        return None if self.answer is None else turn_of(self.answer)

    @property
    def results(self) -> dict[str, ToolResult]:
        """Give the recorded results of the last answer's calls."""
        return {call_id: _result(block) for call_id, block in self.given.items()}

    @property
    def is_answered(self) -> bool:
        """Tell whether everything in the last answer has been acted on."""
        if self.answer is None:
            return True
        if self.replies:
            return True
        calls = self._calls()
        return bool(calls) and all(call_id in self.given for call_id in calls)

    def settle(self) -> None:
        """Append what was sent back as the one user message it was."""
        calls = self._calls() if self.given else ()
        blocks = [self.given[call_id] for call_id in calls if call_id in self.given]
        if blocks or self.replies:
            self.conversation.reply([*blocks, *self.replies])
            self.answer = None
        self.given, self.replies = {}, []

    def hear(self, payload: Mapping[str, Any]) -> None:
        """Append a recorded answer."""
        self.conversation.hear(payload["content"])
        self.answer = payload

    def _calls(self) -> tuple[str, ...]:
        content = self.answer["content"] if self.answer else ()
        return tuple(block["id"] for block in content if block.get("type") == "tool_use")


def turn_of(payload: Mapping[str, Any]) -> Turn:
    """Read the answer a `model_call` holds."""
    return Turn.model_validate({name: payload.get(name) for name in Turn.model_fields})


def _result(block: Block) -> ToolResult:
    return ToolResult(
        call_id=block["tool_use_id"],
        content=block["content"],
        is_error=block.get("is_error", False),
    )


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
            thread.given[payload["call_id"]] = result_block(
                payload["call_id"], payload["content"], is_error=payload["is_error"]
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
        """Append a recorded answer to its conversation and give it."""
        thread.hear(payload)
        return turn_of(payload)

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
