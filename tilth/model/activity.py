"""The activity of a model: what it is writing right now, told while its answer streams in.

For eyes alone: nothing is kept, and nothing depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_TAIL = 400
_HEAD = 600
_TELLING = re.compile(r'"(?:path|command|pattern)"\s*:\s*"((?:[^"\\]|\\.)*)')


class Activity:
    """Follow one answer event by event."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._tool = ""
        self._text = ""

    def take(self, event: dict[str, Any]) -> None:
        """Say what an event shows, if it shows anything new."""
        block, delta = event.get("content_block"), event.get("delta")
        if isinstance(block, dict):
            self._begin(block)
        elif isinstance(delta, dict):
            self._grow(delta)

    def _begin(self, block: dict[str, Any]) -> None:
        self._text, self._tool = "", ""
        kind = block.get("type")
        if kind == "tool_use":
            self._tool = str(block.get("name"))
            self._tell(f"writes {self._tool}")
        elif kind in ("thinking", "redacted_thinking"):
            self._tell("thinks")
        else:
            self._tell("writes")

    def _grow(self, delta: dict[str, Any]) -> None:
        text = delta.get("text")
        if isinstance(text, str):
            self._text = (self._text + text)[-_TAIL:]
            last = next((line for line in reversed(self._text.splitlines()) if line.strip()), "")
            self._tell(f"says: {last.strip()}")
        written = delta.get("partial_json")
        if isinstance(written, str) and len(self._text) < _HEAD:
            self._text += written
            found = _TELLING.search(self._text)
            if found and found[1]:
                self._tell(f"writes {self._tool}: {found[1]}")
