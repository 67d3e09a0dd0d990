"""The lines of the handover: what is said of word sent to a person and of work taken home."""

from __future__ import annotations

from collections.abc import Iterator

from tilth.base.safe_text import one_line
from tilth.log.handover_events import Notified, Taken
from tilth.show import figures
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress


def notified(word: Notified, now: Progress) -> Iterator[Note]:
    """Say whom word was sent to, or why it did not arrive."""
    if word.ok:
        yield Note("notified", one_line(f"{word.channel} ({word.kind})"), Tone.QUIET)
        return
    said = f"{word.channel} was not reached: {word.error or 'no reason given'}"
    yield Note("warning", one_line(said), Tone.WARN, "!")


def taken(took: Taken, now: Progress) -> Iterator[Note]:
    """Say what was brought where."""
    what = ", ".join(took.tasks) or "nothing new"
    pushed = f", pushed to {took.pushed}" if took.pushed else ""
    where = f"{took.branch} at {figures.short_sha(took.after)}"
    yield Note("taken", one_line(f"{what} into {where}{pushed} ({took.how})"), Tone.GOOD, "\u2713")


LINES = (notified, taken)
