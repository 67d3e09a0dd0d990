"""The note: one thing told to a person, with how loudly it is said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tilth.inert import inert, one_line

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

    `whole` keeps the text uncut, for what a person may want to copy; `opens` sets the note apart
    from what came before.
    """

    label: str
    text: str
    tone: Tone = Tone.PLAIN
    mark: str = ""
    details: tuple[str, ...] = ()
    whole: bool = False
    opens: bool = False

    def __post_init__(self) -> None:
        # Here and not at each call: no teller can forget it.
        text = " ".join(inert(self.text).split()) if self.whole else one_line(self.text, TEXT_LIMIT)
        object.__setattr__(self, "label", one_line(self.label, 20))
        object.__setattr__(self, "text", text)
        details = (inert(detail).replace("\n", " ") for detail in self.details)
        object.__setattr__(self, "details", tuple(_cut(detail) for detail in details if detail))


def _cut(detail: str) -> str:
    return detail if len(detail) <= TEXT_LIMIT else detail[: TEXT_LIMIT - 1] + "…"
