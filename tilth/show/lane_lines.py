"""The lanes' lines: what is said of a change that could not land."""

from __future__ import annotations

from collections.abc import Iterator

from tilth.contract.outcomes import Refused
from tilth.log.lane_events import LandingRefused
from tilth.show import figures
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress

_WHY = {
    Refused.CONFLICT: "in conflict with what has landed",
    Refused.GATE: "red together with what has landed",
    Refused.VERDICT: "the evaluator rejects it as merged with what has landed",
}


def refused(refusal: LandingRefused, now: Progress) -> Iterator[Note]:
    """Say why an accepted change did not land."""
    where = f" in {', '.join(refusal.files)}" if refusal.files else ""
    text = f"not landed: {_WHY[refusal.cause]}{where}; its worker goes on from both"
    onto = f"onto {figures.short_sha(refusal.onto)}"
    details = figures.telling_lines(refusal.report) if refusal.report else ()
    yield Note("landing", text, Tone.BAD, "✗", tuple(details), more=(onto,))


LINES = (refused,)
