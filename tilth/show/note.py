"""The note: one thing told to a person, with how loudly it is said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tilth.base.safe_text import inert, one_line, shortened

TEXT_LIMIT = 400


class Tone(StrEnum):
    """Say how a note is meant."""

    PLAIN = "plain"
    QUIET = "quiet"
    HEAD = "head"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    LOUD = "loud"


# How a tone looks where colour is welcome, in the words of the terminal library.
STYLES = {
    Tone.PLAIN: "",
    Tone.QUIET: "dim",
    Tone.HEAD: "bold",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.WARN: "yellow",
    Tone.LOUD: "bold yellow",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Hold a label, a line and its details; whatever they are made from, they are inert.

    `more` is what only the full telling says, and a note that is no `story` is told nowhere else.
    `whole` keeps the text on one line, for what a person may want to copy; `uncut` shows all of the
    details, however long; `opens` sets the note apart from what came before.
    """

    label: str
    text: str
    tone: Tone = Tone.PLAIN
    mark: str = ""
    details: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    story: bool = True
    whole: bool = False
    uncut: bool = False
    opens: bool = False

    def __post_init__(self) -> None:
        # Here and not at each call: nobody who writes a note can forget it.
        text = inert(self.text).replace("\n", " ") if self.whole else self.text
        text = text if self.whole else one_line(text, TEXT_LIMIT)
        object.__setattr__(self, "label", one_line(self.label, 20))
        object.__setattr__(self, "text", text)
        details = (inert(detail).replace("\n", " ") for detail in self.details)
        limit = None if self.uncut else TEXT_LIMIT
        kept = (shortened(detail, limit or len(detail)) for detail in details if detail)
        object.__setattr__(self, "details", tuple(kept))
