"""Conversations rebuilt: grown again from the log, exactly as they were sent.

A conversation is its head and first messages (`prompt_assembled`), the answers (`model_call`) and
what was sent back after each: tool results in the order of their calls, nudges, corrections, and
after them a person's notes. Replay checks every request with it, and a resume goes on with the last
conversation it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tilth.log.events import (
    ContextTrimmed,
    EvaluatorParseError,
    EvaluatorTool,
    Event,
    LandingRefused,
    ModelCall,
    Nudge,
    OperatorSpoke,
    PromptAssembled,
    SecondOpinion,
    TaskDone,
    TaskFailed,
    ToolResulted,
)
from tilth.model.messages import Block, Conversation, Role, ToolResult, Turn, result_block


@dataclass
class Thread:
    """Grow one conversation; what was sent back stands apart until the next request."""

    conversation: Conversation
    endpoint: str
    answer: ModelCall | None = None
    given: dict[str, Block] = field(default_factory=dict)
    replies: list[Block] = field(default_factory=list)
    # What a person said since the last request: it comes after all the rest.
    notes: list[Block] = field(default_factory=list)

    @property
    def turn(self) -> Turn | None:
        """Give the last answer, while nothing has been sent after it."""
        return None if self.answer is None else turn_of(self.answer)

    @property
    def results(self) -> dict[str, ToolResult]:
        """Give the recorded results of the last answer's calls."""
        return {
            call_id: ToolResult(
                call_id=call_id, content=block["content"], is_error=block.get("is_error", False)
            )
            for call_id, block in self.given.items()
        }

    @property
    def is_answered(self) -> bool:
        """Tell whether everything in the last answer has been acted on."""
        if self.answer is None or self.replies:
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
        if self.notes:
            self.conversation.add(self.notes)
        self.given, self.replies, self.notes = {}, [], []

    def hear(self, answer: ModelCall) -> None:
        """Append a recorded answer."""
        self.conversation.hear(answer.content)
        self.answer = answer

    def _calls(self) -> tuple[str, ...]:
        content = self.answer.content if self.answer else ()
        return tuple(block["id"] for block in content if block.get("type") == "tool_use")


def turn_of(call: ModelCall) -> Turn:
    """Give the answer a `model_call` holds."""
    return Turn(**{name: getattr(call, name) for name in Turn.model_fields})


_FOLLOWED = frozenset(
    {
        ContextTrimmed,
        EvaluatorParseError,
        EvaluatorTool,
        LandingRefused,
        ModelCall,
        Nudge,
        OperatorSpoke,
        PromptAssembled,
        SecondOpinion,
        TaskDone,
        TaskFailed,
        ToolResulted,
    }
)


def _forget(conversation: str) -> None:
    """Let a conversation go without a word."""


class Conversations:
    """Follow a log and hold every conversation that can still grow.

    One is let go when its task ends or its role opens another, so a long log needs no more memory
    than its longest conversations; `let_go` hears of it first.
    """

    def __init__(self, let_go: Callable[[str], None] = _forget) -> None:
        self.threads: dict[str, Thread] = {}
        self._held: dict[tuple[str | None, Role], str] = {}
        self._let_go = let_go

    def follow(self, event: Event) -> Thread | None:
        """Take in one event, answers included; gives the thread it belongs to."""
        thread = self.send(event)
        if thread is not None and isinstance(event.payload, ModelCall):
            thread.hear(event.payload)
        return thread

    def send(self, event: Event) -> Thread | None:
        """Take in what was sent; gives the thread it belongs to.

        At a `model_call` the thread's conversation stands as it was sent: its hash can be compared
        before `hear` appends the answer.
        """
        if type(event.payload) not in _FOLLOWED:
            return None
        match event.payload:
            case ModelCall(conversation=name):
                if (thread := self.threads.get(name)) is not None:
                    thread.settle()
                return thread
            case ToolResulted(conversation=name) | EvaluatorTool(conversation=name) as result:
                if (thread := self.threads.get(name)) is not None:
                    thread.given[result.call_id] = result_block(
                        result.call_id, result.content, is_error=result.is_error
                    )
                return thread
            case PromptAssembled() as prompt:
                return self._open(event.task_id, prompt)
            case Nudge(conversation=name, text=text):
                return self._reply(name, ({"type": "text", "text": text},))
            case OperatorSpoke(conversation=str(name), note=str(text)):
                return self._note(name, text)
            case LandingRefused(conversation=str(name), told=text):
                return self._note(name, text)
            case EvaluatorParseError(conversation=name, reply=blocks):
                return self._reply(name, blocks)
            case ContextTrimmed(conversation=name) as trimmed:
                if (thread := self.threads.get(name)) is not None:
                    thread.settle()
                    stubs = dict.fromkeys(trimmed.call_ids, trimmed.stub) if trimmed.stub else {}
                    thread.conversation.shorten(trimmed.contents or stubs, trimmed.inputs)
                return thread
            case TaskDone() | TaskFailed() | SecondOpinion():
                self._close(event.task_id)
        return None

    def _open(self, task_id: str | None, prompt: PromptAssembled) -> Thread:
        before = self._held.get((task_id, prompt.role))
        if before is not None:
            self._drop(before)
        conversation = Conversation.from_head(prompt.conversation, prompt.role, prompt.head)
        for message in prompt.messages:
            conversation.reply(message["content"])
        thread = Thread(conversation, prompt.endpoint)
        self._held[task_id, prompt.role] = conversation.id
        self.threads[conversation.id] = thread
        return thread

    def _reply(self, name: str, blocks: tuple[Block, ...]) -> Thread | None:
        thread = self.threads.get(name)
        if thread is not None:
            thread.replies.extend(blocks)
        return thread

    def _note(self, name: str, text: str) -> Thread | None:
        thread = self.threads.get(name)
        if thread is not None:
            thread.notes.append({"type": "text", "text": text})
        return thread

    def _close(self, task_id: str | None) -> None:
        for key in [key for key in self._held if key[0] == task_id]:
            self._drop(self._held.pop(key))

    def _drop(self, name: str) -> None:
        self._let_go(name)
        self.threads.pop(name, None)
