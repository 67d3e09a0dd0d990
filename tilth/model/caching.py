"""Prompt caching: what an endpoint could have read from its cache, and what it says it read.

Every request extends the one before, so nearly all of it can be read for a tenth of the price.
Where the endpoint reports far less, twice in a row, somebody should know. Pure but for its own
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.base.values import Value
from tilth.model.messages import Block, Conversation, Usage

# A prefix below this may be too short to be cached by the larger models.
SHORTEST_TOKENS = 4096
FAR_BELOW = 0.5
IN_A_ROW = 2
LIFE_S = {"5m": 300.0, "1h": 3600.0}


class Place(Value):
    """Name one block of a request: of the head by its key, else by its message and its number."""

    message: int | None
    block: int
    kind: str
    name: str = ""


class CacheLoss(Value):
    """Say what was not read from the cache; `differs` is None where all we sent stayed the same."""

    expected_tokens: int
    read_tokens: int
    differs: Place | None = None


@dataclass
class CacheTrail:
    """Follow the requests of one conversation."""

    _head: Mapping[str, Any] = field(default_factory=dict)
    _sent: list[tuple[Place, Block]] = field(default_factory=list)
    _messages: int = 0
    _tokens: int = 0
    _answered: float | None = None
    _misses: int = 0
    _differs: Place | None = None

    def after(
        self, conversation: Conversation, usage: Usage, *, asked: float, answered: float
    ) -> CacheLoss | None:
        """Take in the answer to the request as it stands; gives a loss once it has repeated."""
        expected, read = self._tokens, usage.cache_read_tokens
        too_late = self._answered is None or asked - self._answered > life_s(conversation)
        missed = not too_late and expected >= SHORTEST_TOKENS and read < FAR_BELOW * expected
        if missed:
            self._misses += 1
            self._differs = self._differs or self._first_difference(conversation)
        elif not too_late:
            self._misses, self._differs = 0, None
        self._note(conversation, usage, anew=missed)
        self._answered = answered
        if self._misses < IN_A_ROW:
            return None
        return CacheLoss(expected_tokens=expected, read_tokens=read, differs=self._differs)

    def _note(self, conversation: Conversation, usage: Usage, *, anew: bool) -> None:
        if anew:
            self._sent, self._messages = [], 0
        new = conversation.messages[self._messages :]
        self._sent += places(new, self._messages)
        self._messages += len(new)
        self._head = conversation.head
        self._tokens = usage.sent

    def _first_difference(self, conversation: Conversation) -> Place | None:
        """Find the first block that is not as it was in the request before."""
        for key, said in conversation.head.items():
            if self._head.get(key) != said:
                return Place(message=None, block=0, kind=key)
        now = places(conversation.messages, 0)
        for (place, before), (_, block) in zip(self._sent, now, strict=False):
            if before is not block and before != block:
                return place
        return None


def places(messages: list[Block], first: int) -> Iterator[tuple[Place, Block]]:
    """Give every block of some messages with its place; `first` is the number of the first one."""
    names: dict[str, str] = {}
    for number, message in enumerate(messages, start=first):
        for index, block in enumerate(message["content"]):
            name = str(block.get("name") or names.get(block.get("tool_use_id", ""), ""))
            names[str(block.get("id"))] = name
            yield Place(message=number, block=index, kind=str(block.get("type")), name=name), block


def life_s(conversation: Conversation) -> float:
    """Give how long the endpoint keeps what it was sent."""
    control = conversation.head.get("cache_control") or {}
    return LIFE_S.get(control.get("ttl", "5m"), LIFE_S["5m"])
