"""A conversation with a model: its tools, its turns, its results and the request they add up to.

Everything here is plain data in the shape of the Messages API. Provider blocks (thinking,
signatures) are kept as they came and echoed as they came. Nothing here talks to a model.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from tilth.base.tool_schema import tool_schema
from tilth.base.values import Value, canonical

if TYPE_CHECKING:
    from tilth.model.caching import CacheTrail

Block = dict[str, Any]


class Role(StrEnum):
    """Name who a model call is made for."""

    WORKER = "worker"
    EVALUATOR = "evaluator"
    SEEDER = "seeder"


class ToolSpec(Value):
    """Describe one tool to a model."""

    name: str
    description: str
    input_schema: dict[str, Any]

    @classmethod
    def of(cls, name: str, description: str, arguments: type[BaseModel]) -> ToolSpec:
        """Derive the schema from the typed model that will read the arguments."""
        return cls(name=name, description=description, input_schema=tool_schema(arguments))

    def to_wire(self) -> Block:
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }


class ToolCall(Value):
    """Hold one call as the model wrote it; arguments may be any JSON at all."""

    id: str
    name: str
    arguments: Any = None


class ToolResult(Value):
    """Hold exactly what the model is given back for one call."""

    call_id: str
    content: str
    is_error: bool = False

    def to_wire(self) -> Block:
        return result_block(self.call_id, self.content, is_error=self.is_error)


def result_block(call_id: str, content: str, *, is_error: bool) -> Block:
    """Give a result in the form the model gets it in."""
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if is_error:
        block["is_error"] = True
    return block


class Usage(Value):
    """Count the tokens of one call or of many."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    # Of what was written, what is kept for an hour: it costs more.
    cache_write_1h_tokens: int = 0

    @property
    def counted(self) -> int:
        """Give what counts toward the token cap: cache reads are recorded, not counted."""
        return self.input_tokens + self.cache_write_tokens + self.output_tokens

    @property
    def sent(self) -> int:
        """Give all that was sent, whether the cache knew it or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cache_write_1h_tokens=self.cache_write_1h_tokens + other.cache_write_1h_tokens,
        )


class Turn(Value):
    """Hold one whole answer of a model."""

    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Usage
    model: str
    latency_ms: int
    cost_usd: float | None = None
    request_id: str | None = None

    @property
    def text(self) -> str:
        texts = (block.get("text", "") for block in self.content if block.get("type") == "text")
        return "\n".join(text for text in texts if text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(id=block["id"], name=block["name"], arguments=block.get("input"))
            for block in self.content
            if block.get("type") == "tool_use"
        )

    def named_as(self, content: Sequence[Block]) -> Turn:
        """Give the turn with the ids its calls have in the same content as it is sent back."""
        named = (
            {**block, "id": sent["id"]} if block.get("type") == "tool_use" else block
            for block, sent in zip(self.content, content, strict=True)
        )
        return self.model_copy(update={"content": tuple(named)})

    @property
    def was_cut(self) -> bool:
        """Tell whether the answer ended for want of room; its tool calls may be half written."""
        return self.stop_reason == "max_tokens" or self.filled_window

    @property
    def filled_window(self) -> bool:
        """Tell whether the conversation itself left no room for more."""
        return self.stop_reason == "model_context_window_exceeded"

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tool_calls


class Conversation:
    """Grow one append-only request and know its hash at every step.

    The hash is the SHA-256 of the canonical JSON of the whole request. It is carried along from
    message to message, so a long conversation costs no more a turn than a short one, and it is
    taken only when it is asked for, so that a request never waits for it.
    """

    def __init__(
        self,
        *,
        id: str,
        role: Role,
        model: str,
        max_tokens: int,
        system: str,
        tools: Sequence[ToolSpec],
        messages: Iterable[Block] = (),
        cached_for: Literal["5m", "1h"] = "5m",
    ) -> None:
        self.id = id
        self.role = role
        # Five minutes are what an endpoint takes unsaid.
        life = {} if cached_for == "5m" else {"ttl": cached_for}
        self._head: dict[str, Any] = {
            "cache_control": {"type": "ephemeral", **life},
            "max_tokens": max_tokens,
            "model": model,
            "system": system,
            "tools": [tool.to_wire() for tool in tools],
        }
        self._messages: list[Block] = []
        self.call_ids: set[str] = set()
        # What the endpoint has seen of it, once it was asked.
        self.trail: CacheTrail | None = None
        self._restart_hash()
        for message in messages:
            self._append(message)

    @classmethod
    def from_head(cls, id: str, role: Role, head: dict[str, Any]) -> Conversation:
        """Rebuild a conversation from a recorded head, exactly as it was sent."""
        conversation = cls(id=id, role=role, model="", max_tokens=0, system="", tools=())
        conversation._head = dict(head)
        conversation._restart_hash()
        return conversation

    @property
    def head(self) -> dict[str, Any]:
        """Give everything of the request but its messages."""
        return self._head

    @property
    def model(self) -> str:
        return str(self._head["model"])

    @property
    def messages(self) -> list[Block]:
        return self._messages

    def request(self) -> dict[str, Any]:
        """Give the whole request; the lists are the conversation's own and must not be changed."""
        return {**self._head, "messages": self._messages}

    def sha256(self) -> str:
        """Hash the canonical request as it stands now."""
        for message in self._messages[self._hashed :]:
            separator = "," if self._hashed else ""
            self._digest.update((separator + canonical(message)).encode("utf-8", "surrogatepass"))
            self._hashed += 1
        digest = self._digest.copy()
        digest.update(self._tail)
        return digest.hexdigest()

    def say(self, text: str) -> None:
        """Append a user message of plain text."""
        self.reply([{"type": "text", "text": text}])

    def hear(self, content: Sequence[Block]) -> None:
        """Append the model's answer, block for block.

        Blank text says nothing and is refused when it is sent back, so it is left out; an answer
        with nothing else in it leaves no message.
        """
        spoken = [block for block in content if not _is_blank(block)]
        if spoken:
            self._append({"role": "assistant", "content": spoken})

    def reply(self, blocks: Sequence[Block]) -> None:
        """Append one user message of the given blocks."""
        self._append({"role": "user", "content": list(blocks)})

    def add(self, blocks: Sequence[Block]) -> None:
        """Put blocks at the end of the message that is to be sent next, or begin it with them."""
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != "user":
            self.reply(blocks)
            return
        # A new message: whoever recorded the old one keeps it as it was.
        self._messages[-1] = {**last, "content": [*last["content"], *blocks]}
        if self._hashed == len(self._messages):
            self._restart_hash()

    def shorten(
        self,
        contents: Mapping[str, str],
        inputs: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Replace results, and arguments of calls that were not made, in one step."""
        for message in self._messages:
            message["content"] = [
                _shortened(block, contents, inputs or {}) for block in message["content"]
            ]
        self._restart_hash()

    def _append(self, message: Block) -> None:
        self._messages.append(message)
        if message["role"] == "assistant":
            self.call_ids.update(call_ids(message["content"]))

    def _restart_hash(self) -> None:
        # "messages" sorts between "max_tokens" and "model": what stands before it is hashed once,
        # what stands after it is hashed at the end of every copy.
        before = {key: value for key, value in self._head.items() if key < "messages"}
        after = {key: value for key, value in self._head.items() if key > "messages"}
        opening = canonical(before)[:-1] + ("," if before else "") + '"messages":['
        closing = "]" + ("," + canonical(after)[1:] if after else "}")
        self._tail = closing.encode("utf-8", "surrogatepass")
        self._digest = hashlib.sha256(opening.encode("utf-8", "surrogatepass"))
        self._hashed = 0


def _shortened(
    block: Block, contents: Mapping[str, str], inputs: Mapping[str, Mapping[str, str]]
) -> Block:
    if block.get("tool_use_id") in contents:
        return {**block, "content": contents[block["tool_use_id"]]}
    if block.get("type") == "tool_use" and block.get("id") in inputs:
        return {**block, "input": dict(inputs[block["id"]])}
    return block


def call_ids(content: Iterable[Block]) -> Iterator[str]:
    """Give the ids of the tool calls in an answer."""
    return (block["id"] for block in content if block.get("type") == "tool_use")


def with_new_ids(content: Iterable[Block], used: Collection[str]) -> tuple[Block, ...]:
    """Give calls an id of their own where an endpoint gives the same one twice.

    A result finds its call by the id alone, and some servers count from 0 in every answer.
    """
    taken = set(used)
    blocks = []
    for block in content:
        if block.get("type") == "tool_use":
            tries = (f"{block['id']}_{number}" for number in itertools.count(2))
            name = next(n for n in itertools.chain([block["id"]], tries) if n not in taken)
            taken.add(name)
            block = block if name == block["id"] else {**block, "id": name}
        blocks.append(block)
    return tuple(blocks)


def _is_blank(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


class RetryNotice(Value):
    """Tell of one failed try at a model call."""

    attempt: int
    error: str
    delay_s: float
    # The endpoint did answer, but with nothing.
    is_empty: bool = False


# Hears of every failed try before the next one starts.
OnRetry = Callable[[RetryNotice], None]


class Model(Protocol):
    """Answer a conversation with one turn, or raise ProviderError."""

    @property
    def name(self) -> str: ...

    @property
    def endpoint(self) -> str: ...

    def respond(self, conversation: Conversation, on_retry: OnRetry) -> Turn: ...
