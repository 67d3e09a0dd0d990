"""The summary: everything a session did, rolled up into what `summary.json` holds.

A pure fold over events: what it does not know it ignores, what it touches it validates. Never reads
a file and never prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from tilth.errors import CorruptSession
from tilth.events import Event
from tilth.tally.counts import KINDS, Line
from tilth.tally.rollup import Spent, Summary, TaskSummary
from tilth.tally.sums import Sums
from tilth.values import describe_faults

__all__ = ["Spent", "Summary", "Tally", "TaskSummary", "fold"]


class Tally:
    """Keep a session's summary up to date, one event at a time; it is a sink."""

    def __init__(self) -> None:
        self._sums = Sums()

    @property
    def whole(self) -> Summary:
        """Give the sums of the session, without its tasks."""
        return self._sums.whole.value()

    def task(self, task_id: str) -> TaskSummary:
        """Give one task's roll-up; a task nothing has happened to is empty."""
        found = self._sums.tasks.get(task_id)
        return TaskSummary() if found is None else found.value()

    def summary(self) -> Summary:
        """Give the roll-up as it stands now."""
        return self._sums.summary()

    def take(self, event: Event) -> None:
        """Count an event as it happens."""
        line = Line(
            seq=event.seq,
            ts=event.ts,
            type=event.type,
            session=event.session,
            task_id=event.scope.task_id,
            iter=event.scope.iter,
            payload=event.payload,
        )
        self._count(line)

    def read(self, line: Mapping[str, Any]) -> None:
        """Count a line of the log; raises CorruptSession where it cannot be what it says it is."""
        try:
            self._count(Line.model_validate(line))
        except ValidationError as error:
            what = f"event {line.get('seq')} ({line.get('type')})"
            raise CorruptSession(
                f"events.jsonl cannot be trusted: {what}: {describe_faults(error)}; "
                "restore the file or start a new session"
            ) from None

    def _count(self, line: Line) -> None:
        kind = KINDS.get(line.type)
        seen = None if kind is None else kind.model_validate(line.payload)
        sums = self._sums
        whole = sums.whole
        whole.add("events")
        started = whole["started"] or line.ts
        whole.set(session=line.session, started=started, updated=line.ts)
        if line.task_id is not None and line.task_id not in sums.tasks:
            sums.task(line.task_id).set(started=line.ts)
        if seen is not None:
            seen.count(sums, line)


def fold(lines: Iterable[Mapping[str, Any]]) -> Summary:
    """Roll up the lines of a log; raises CorruptSession where a field it needs is no such value."""
    tally = Tally()
    for line in lines:
        tally.read(line)
    return tally.summary()
