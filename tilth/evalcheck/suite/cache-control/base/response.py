"""Answers of a server, as a cache keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Response:
    """Hold an answer and when it came, in seconds."""

    received: int
    headers: Mapping[str, str] = field(default_factory=dict)

    def header(self, name: str) -> str | None:
        """Give a header's value, however its name is written."""
        for known, value in self.headers.items():
            if known.lower() == name.lower():
                return value
        return None
