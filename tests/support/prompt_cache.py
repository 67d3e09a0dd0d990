"""A prompt cache as endpoints keep one: what a request may read of the requests before it.

Prefixes are kept at the block that a request marks, which is its last one where the mark stands at
the top. A later request finds one if it is among the last LOOKBACK blocks before its own mark.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

LOOKBACK = 20


@dataclass
class PromptCache:
    """Count, over many requests, what of each one's predecessor could be read."""

    sent: int = 0
    read: int = 0
    _kept: dict[bytes, int] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    def take(self, body: dict[str, Any], conversation: str = "") -> tuple[int, int]:
        """Take in a request; gives how much of it is read and how much is written."""
        prefixes = list(_prefixes(body))
        size = prefixes[-1][1]
        marked = "cache_control" in body
        near = prefixes[-LOOKBACK - 1 :] if marked else []
        read = next((known for key, known in reversed(near) if key in self._kept), 0)
        if marked:
            self._kept[prefixes[-1][0]] = size
        if conversation in self._last:
            self.sent += self._last[conversation]
            self.read += min(read, self._last[conversation])
        self._last[conversation] = size
        return read, size - read

    @property
    def share(self) -> float:
        """Give the share of what was sent before that could be read."""
        return self.read / self.sent if self.sent else 1.0


def _prefixes(body: dict[str, Any]) -> Any:
    """Give the hash and size of the request up to each of its blocks."""
    digest, size = hashlib.sha256(), 0
    head = {key: body.get(key) for key in ("model", "tools", "system")}
    blocks = [head, *(block for message in body["messages"] for block in message["content"])]
    for block in blocks:
        text = json.dumps(block, sort_keys=True).encode()
        digest.update(text)
        size += len(text)
        yield digest.digest(), size
