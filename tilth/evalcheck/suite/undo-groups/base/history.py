"""Edits that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

from document import Document


@dataclass(frozen=True)
class Edit:
    """Hold one replacement: where, what was there, what is there now."""

    start: int
    old: str
    new: str

    def revert(self, document: Document) -> None:
        document.replace(self.start, self.start + len(self.new), self.old)

    def repeat(self, document: Document) -> None:
        document.replace(self.start, self.start + len(self.old), self.new)


class History:
    """Edit a document and take edits back."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._done: list[Edit] = []

    def edit(self, start: int, end: int, new: str) -> None:
        """Replace a part of the document."""
        old = self._document.replace(start, end, new)
        self._done.append(Edit(start, old, new))

    def undo(self) -> None:
        """Take the last edit back."""
        if self._done:
            self._done.pop().revert(self._document)
