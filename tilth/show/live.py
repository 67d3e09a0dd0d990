"""The console: a sink that shows a run to the person who started it.

What happened are lines, which are the output; on a terminal a footer below them is kept up to date.
In a pipe there is one plain line an event. It owns the order of drawing, not the words
(`tilth.show.lines`). It never reads the environment and never stops a run: when nobody can see it
any more, it goes quiet.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TextIO

from tilth.base.safe_text import one_line
from tilth.log.events import Event, Stop
from tilth.log.state import SessionState
from tilth.model.messages import Role
from tilth.show.brush import LABEL, Brush, marked
from tilth.show.footer import Footer, Moment
from tilth.show.last_screen import last_screen
from tilth.show.lines import announced, told
from tilth.show.note import Note, Tone
from tilth.show.pen import Pen, wants_live
from tilth.show.progress import STOPPED, ConsoleContext, Progress
from tilth.show.times import clock_time

__all__ = ["Console", "ConsoleContext", "wants_live"]

_PULSE_S = 0.5


class Console:
    """Draw events as they happen: lines on `stream`, and a footer on `foot` if there is one."""

    def __init__(
        self,
        stream: TextIO | None,
        context: ConsoleContext,
        *,
        live: bool,
        foot: TextIO | None = None,
        columns: Callable[[], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pen = Pen(stream)
        self._foot = Pen(foot) if foot is not None else None
        self._now = Progress(context)
        self._clock = clock
        self._brush = Brush(columns or self._pen.columns) if live else None
        self._footer = Footer(Brush(columns or self._foot.columns)) if self._foot else None
        self._pulse = _Pulse(self.tick) if self._footer else None
        self._lock = threading.RLock()
        self._began: float | None = None
        self._doing_since = 0.0
        self._activity: str | None = None
        self._remark: str | None = None
        # Of each lane: since when it does what it does, and what its model writes just now.
        self._lane_since: dict[str, float] = {}
        self._lane_activity: dict[str, str] = {}

    @classmethod
    def on(
        cls,
        stream: TextIO | None,
        foot: TextIO | None,
        context: ConsoleContext,
        environ: Mapping[str, str],
        *,
        plain: bool = False,
    ) -> Console:
        """Make the console that suits two streams; `plain` wants lines alone."""
        below = foot if not plain and wants_live(foot, environ) else None
        return cls(stream, context, live=not plain and wants_live(stream, environ), foot=below)

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def has_footer(self) -> bool:
        """Tell whether a footer will be drawn."""
        return self._footer is not None

    @property
    def is_live(self) -> bool:
        """Tell whether a footer is drawn now."""
        return self.has_footer and self._is_working

    def recall(self, before: SessionState) -> None:
        """Go on from what an earlier start left in the log, and show nothing of it."""
        self._now = Progress(self._now.context, replace(before, conversations=None))

    def take(self, event: Event) -> None:
        """Show one event."""
        with self._lock:
            before = self._now.doing
            self._now.take(event)
            now = self._clock()
            if self._began is None:
                self._began = self._doing_since = now
            if self._now.doing != before or self._activity is not None:
                self._doing_since, self._activity = now, None
            if event.task_id in self._now.lanes and event.task_id is not None:
                self._lane_since[event.task_id] = now
                self._lane_activity.pop(event.task_id, None)
            self._draw(list(self._notes(event)), event)
        if self._pulse is not None and self._now.doing != STOPPED:
            self._pulse.start()

    def model_is(self, role: Role, activity: str) -> None:
        """Hear what a model does right now; it is drawn with the next beat."""
        shown = f"{role} {one_line(activity, 120)}"
        lane = threading.current_thread().name
        if lane in self._now.lanes:
            # A lane's thread has the name of its task.
            self._lane_activity[lane] = shown
            return
        if shown.partition(":")[0] != (self._activity or "").partition(":")[0]:
            self._doing_since = self._clock()
        self._activity = shown

    def remark(self, text: str) -> None:
        """Take one line from a signal handler; it is drawn with the next beat."""
        self._remark = text

    def tick(self) -> None:
        """Draw the footer anew, so that time is seen to pass."""
        with self._lock:
            if self._began is not None:
                remark, self._remark = self._remark, None
                self._draw([Note("note", remark, Tone.WARN)] if remark else [], None)

    def close(self) -> None:
        """Leave the terminal as it was found; closing twice is harmless."""
        if self._pulse is not None:
            self._pulse.stop()
        with self._lock:
            self._wipe()
            self._began = None

    def _draw(self, notes: list[Note], event: Event | None) -> None:
        if not notes and self._footer is None:
            return
        self._wipe()
        if self._brush is not None:
            brush = self._brush
            self._pen.write("".join(f"{line}\n" for note in notes for line in brush.lines(note)))
        else:
            when = clock_time(event.ts) if event else ""
            task = (event.task_id if event else None) or ""
            self._pen.write("".join(f"{_plain(note, when, task)}\n" for note in notes))
        if self._foot is not None and self._footer is not None and self._is_working:
            self._foot.write(self._footer.rows(self._now, self._moment()))

    def _wipe(self) -> None:
        if self._foot is not None and self._footer is not None:
            self._foot.write(self._footer.erased())

    @property
    def _is_working(self) -> bool:
        return self._began is not None and self._now.doing != STOPPED

    def _moment(self) -> Moment:
        now = self._clock()
        lanes = {
            name: (now - self._lane_since.get(name, now), self._lane_activity.get(name))
            for name in tuple(self._now.lanes)
        }
        elapsed = now - (self._began or now)
        return Moment(elapsed, now - self._doing_since, self._activity, lanes)

    def _notes(self, event: Event) -> Iterator[Note]:
        if self._now.task_opened:
            yield announced(self._now)
        if isinstance(event.payload, Stop):
            yield from last_screen(event.payload, self._now)
        elif self._brush is not None and self._now.state.laned and event.task_id is not None:
            # A plain line has a column for its task; here the words begin with it.
            for note in told(event, self._now):
                yield replace(note, text=f"{event.task_id} {note.text}")
        else:
            yield from told(event, self._now)


def _plain(note: Note, when: str, task: str) -> str:
    if note.whole and not note.label:
        return f"{'':18}{'':{LABEL}}{note.text}".rstrip()
    text = " | ".join((marked(note), *(" ".join(detail.split()) for detail in note.details)))
    return f"{when} {task:<7} {note.label:<{LABEL}}{text}".rstrip()


class _Pulse:
    """Call something twice a second until told to stop."""

    def __init__(self, beat: Callable[[], None]) -> None:
        self._beat = beat
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None and not self._done.is_set():
            self._thread = threading.Thread(target=self._run, name="tilth-console", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._done.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(_PULSE_S):
            self._beat()
