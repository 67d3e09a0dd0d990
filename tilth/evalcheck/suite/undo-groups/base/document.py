"""A text that is edited in place."""

from __future__ import annotations


class Document:
    """Hold a text."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def replace(self, start: int, end: int, new: str) -> str:
        """Put a new text in place of a part; give the old part."""
        if not 0 <= start <= end <= len(self.text):
            raise IndexError(f"no part from {start} to {end} in a text of {len(self.text)}")
        old = self.text[start:end]
        self.text = self.text[:start] + new + self.text[end:]
        return old
