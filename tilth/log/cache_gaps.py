"""The gaps in a session's conversations, and whether they call for a longer life of the cache.

An endpoint keeps what it was sent for five minutes, or for an hour at twice the price of a write.
An hour pays where so much would have to be written again after gaps of more than five minutes that
the dearer writes cost less. Pure sums over what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tilth.base.clock import read_moment
from tilth.log.envelope import Event
from tilth.log.events import ModelCall
from tilth.model.caching import LIFE_S
from tilth.model.messages import Role

# In parts of the price of input: what a write costs more than a read, and one for an hour more.
WRITTEN_AGAIN = 1.25 - 0.1
WRITTEN_FOR_AN_HOUR = 2.0 - 1.25


@dataclass(frozen=True)
class RoleGaps:
    """Sum the tokens that were new, and those that five minutes were too short for."""

    new: int = 0
    outlived: int = 0


@dataclass(frozen=True)
class _Last:
    conversation: str
    moment: float
    tokens: int


@dataclass(frozen=True)
class CacheGaps:
    """Follow the calls of a session, conversation by conversation."""

    by_role: Mapping[Role, RoleGaps] = field(default_factory=dict)
    _last: Mapping[tuple[Role, str | None], _Last] = field(default_factory=dict)

    def after(self, event: Event, call: ModelCall) -> CacheGaps:
        """Take in one call; it is recorded when its answer is there."""
        usage, key = call.usage, (call.role, event.task_id)
        if not usage.cache_read_tokens and not usage.cache_write_tokens:
            # An endpoint that says nothing of a cache has none that could be kept longer.
            return self
        at = read_moment(event.ts)
        moment = at.timestamp() if at else 0.0
        before, known = self._last.get(key), self.by_role.get(call.role, RoleGaps())
        if before is None or before.conversation != call.conversation:
            before = _Last(call.conversation, moment, 0)
        gap_s = moment - call.latency_ms / 1000 - before.moment
        outlived = before.tokens if LIFE_S["5m"] < gap_s <= LIFE_S["1h"] else 0
        new = max(0, usage.sent - before.tokens)
        now = RoleGaps(known.new + new, known.outlived + outlived)
        last = {**self._last, key: _Last(call.conversation, moment, usage.sent)}
        return CacheGaps({**self.by_role, call.role: now}, last)

    def life(self, role: Role) -> Literal["5m", "1h"]:
        """Say how long a new conversation of a role is best kept."""
        seen = self.by_role.get(role, RoleGaps())
        pays = seen.outlived * WRITTEN_AGAIN > seen.new * WRITTEN_FOR_AN_HOUR
        return "1h" if pays else "5m"
