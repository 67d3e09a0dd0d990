"""The console: a sink that shows a run to the person at the terminal.

On a terminal, lines scroll above one status line that is kept up to date; in a pipe there is one
plain line an event. It owns the drawing, not the words (`tilth.telling`). It never reads the
environment and never stops a run: when nobody can see it any more, it goes quiet.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from tilth.events import Event
from tilth.payloads import Stop
from tilth.summary import Tally
from tilth.telling import figures
from tilth.telling.closing import closing
from tilth.telling.note import STYLES, Note, Tone
from tilth.telling.scene import STOPPED, ConsoleContext, Scene
from tilth.telling.words import opening, tell

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Console", "ConsoleContext", "wants_live"]

_ERASE = "\r\x1b[2K"
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PULSE_S = 0.5
_USUAL_COLUMNS = 80
_NARROWEST = 16
_ROOMY = 50
_LABEL = 10
_WRAPPED_LINES = 3
_DOING_ROOM = 28
_WORTH_TIMING_S = 2
_ASCII = str.maketrans({"✓": "+", "✗": "x", "·": "-", "…": "...", "⏎": "\\n", "→": "->"})


def wants_live(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Tell whether colour and animation are welcome on this stream."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # a closed file
        return False


class Console:
    """Draw events as they happen."""

    def __init__(
        self,
        stream: TextIO | None,
        context: ConsoleContext,
        *,
        live: bool,
        columns: Callable[[], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pen = _Pen(stream)
        self._scene = Scene(context)
        self._clock = clock
        self._brush = _Brush(columns or self._pen.columns) if live else None
        self._pulse = _Pulse(self.tick) if live else None
        self._lock = threading.RLock()
        self._began: float | None = None
        self._doing_since = 0.0
        self._status_drawn = False

    @classmethod
    def on(
        cls, stream: TextIO | None, context: ConsoleContext, environ: Mapping[str, str]
    ) -> Console:
        """Make the console that suits a stream."""
        return cls(stream, context, live=wants_live(stream, environ))

    def __enter__(self) -> Console:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def recall(self, before: Tally) -> None:
        """Go on from what an earlier start left in the log, and show nothing of it."""
        self._scene.recall(before)

    def take(self, event: Event) -> None:
        """Show one event."""
        with self._lock:
            before = self._scene.doing
            self._scene.take(event)
            now = self._clock()
            changed = self._scene.doing != before or self._began is None
            if self._began is None:
                self._began = now
            if changed:
                self._doing_since = now
            self._show(list(self._notes(event)), event, changed=changed)
        if self._pulse is not None and self._scene.doing != STOPPED:
            self._pulse.start()

    def tick(self) -> None:
        """Draw the status line anew, so that time is seen to pass."""
        with self._lock:
            if self._brush is not None and self._began is not None:
                self._pen.write(self._erased() + self._status(self._brush))

    def close(self) -> None:
        """Leave the terminal as it was found; closing twice is harmless."""
        if self._pulse is not None:
            self._pulse.stop()
        with self._lock:
            self._pen.write(self._erased())
            self._began = None

    def _show(self, notes: list[Note], event: Event, *, changed: bool) -> None:
        if self._brush is None:
            self._pen.write("".join(f"{_plain(note, event)}\n" for note in notes))
            return
        if not notes and not changed:
            return
        lines = "".join(f"{line}\n" for note in notes for line in self._brush.lines(note))
        self._pen.write(self._erased() + lines + self._status(self._brush))

    def _notes(self, event: Event) -> Iterator[Note]:
        if self._scene.task_opened:
            yield opening(self._scene)
        if isinstance(event.payload, Stop):
            yield from closing(event.payload, self._scene)
        else:
            yield from tell(event.payload, self._scene)

    def _erased(self) -> str:
        drawn, self._status_drawn = self._status_drawn, False
        return _ERASE if drawn else ""

    def _status(self, brush: _Brush) -> str:
        if self._scene.doing == STOPPED or self._began is None:
            return ""
        self._status_drawn = True
        now = self._clock()
        return brush.status(self._scene, now - self._began, now - self._doing_since)


def _plain(note: Note, event: Event) -> str:
    if note.whole and not note.label:
        return f"{'':18}{'':{_LABEL}}{note.text}".rstrip()
    when = f"{event.ts[11:19]}Z"
    task = event.scope.task_id or ""
    text = " | ".join((_marked(note), *(" ".join(detail.split()) for detail in note.details)))
    return f"{when} {task:<7} {note.label:<{_LABEL}}{text}".rstrip()


def _marked(note: Note) -> str:
    return f"{note.mark} {note.text}" if note.mark else note.text


class _Pen:
    """Write to a stream that may go away."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def columns(self) -> int:
        try:
            known = os.get_terminal_size(self._stream.fileno()).columns if self._stream else 0
        except (OSError, ValueError):
            known = 0
        # A terminal nobody has sized yet says 0.
        return known or _USUAL_COLUMNS

    def write(self, text: str) -> None:
        if self._stream is None or not text:
            return
        try:
            self._stream.write(_encodable(text, self._stream.encoding or "utf-8"))
            self._stream.flush()
        except BlockingIOError:
            # A terminal that is full for a moment costs a line, not the view.
            return
        except (OSError, ValueError):
            self._stream = None


def _encodable(text: str, encoding: str) -> str:
    if encoding.lower().replace("-", "") == "utf8":
        return text
    plain = text.translate(_ASCII)
    return plain.encode(encoding, "backslashreplace").decode(encoding)


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


class _Brush:
    """Turn notes into coloured lines that fit the terminal; the one user of rich."""

    def __init__(self, columns: Callable[[], int]) -> None:
        from io import StringIO

        from rich.console import Console as RichConsole

        self._columns = columns
        # It only looks styles up and measures: what it would print goes nowhere.
        self._rich = RichConsole(file=StringIO(), force_terminal=True, width=80, no_color=False)
        self._frame = 0

    @property
    def width(self) -> int:
        """Give the usable width; the last column is left free, where terminals wrap."""
        return max(_NARROWEST, self._columns() - 1)

    def lines(self, note: Note) -> Iterator[str]:
        """Draw one note."""
        width = self.width
        roomy = width >= _ROOMY
        if note.opens:
            yield ""
        indent = 2 + _LABEL if roomy and not note.opens else 2
        for number, line in enumerate(self._head(note, width, indent, roomy=roomy)):
            yield self._ansi(line if number == 0 else _indented(line, indent))
        style = "dim" if note.tone in (Tone.HEAD, Tone.QUIET, Tone.PLAIN) else ""
        for detail in note.details:
            for line in self._wrapped(self._text(detail, style), width - indent):
                yield self._ansi(_indented(line, indent))

    def status(self, scene: Scene, elapsed: float, doing_for: float) -> str:
        """Draw the line that says what goes on right now."""
        width = self._columns() - 1
        if width < _NARROWEST:
            return ""
        self._frame = (self._frame + 1) % len(_SPINNER)
        since = f" {figures.clock(doing_for)}" if doing_for >= _WORTH_TIMING_S else ""
        where, tail = _standing(scene, elapsed, width - _DOING_ROOM)
        shown = self._text(f"{_SPINNER[self._frame]} ", "cyan")
        shown.append(f"{where}{figures.SEPARATOR}" if where else "", "bold")
        shown.append(scene.doing, "cyan").append(since, "dim")
        room = width - (len(tail) + 2 if tail else 0)
        shown.truncate(room, overflow="ellipsis", pad=bool(tail))
        shown.append(f"  {tail}" if tail else "", "dim")
        return self._ansi(shown)

    def _head(self, note: Note, width: int, indent: int, *, roomy: bool) -> Iterator[Text]:
        label = self._label(note, roomy=roomy)
        text = self._text(_marked(note), STYLES[note.tone])
        if note.whole:
            yield label.append_text(text)
            return
        room = max(4, width - label.cell_len)
        if note.tone in (Tone.PLAIN, Tone.QUIET):
            text.truncate(room, overflow="ellipsis")
            yield label.append_text(text)
            return
        first, *rest = self._wrapped(text, room)
        yield label.append_text(first)
        yield from rest

    def _label(self, note: Note, *, roomy: bool) -> Text:
        style = STYLES[note.tone] if note.tone is Tone.LOUD else "dim"
        if note.opens:
            return self._text(f"{note.label} ", style)
        if roomy:
            return self._text(f"  {note.label:<{_LABEL}}", style)
        return self._text(f"  {note.label} " if note.label else "    ", style)

    def _wrapped(self, text: Text, width: int) -> list[Text]:
        lines = list(text.wrap(self._rich, max(4, width), overflow="fold"))
        for line in lines:
            line.rstrip()
        if len(lines) > _WRAPPED_LINES:
            lines = lines[:_WRAPPED_LINES]
            lines[-1].append(" …")
            lines[-1].truncate(max(4, width), overflow="ellipsis")
        return lines

    def _text(self, text: str, style: str) -> Text:
        from rich.text import Text

        # As a span: rich leaves the style of a text without spans to its printer.
        return Text(end="").append(text, style)

    def _ansi(self, text: Text) -> str:
        from rich.color import ColorSystem

        return "".join(
            segment.style.render(segment.text, color_system=ColorSystem.STANDARD)
            if segment.style
            else segment.text
            for segment in text.render(self._rich)
        )


def _indented(line: Text, indent: int) -> Text:
    line.pad_left(indent)
    return line


def _standing(scene: Scene, elapsed: float, room: int) -> tuple[str, str]:
    """Say where the run stands and what it has spent, in as many words as there is room for."""
    task_id, iteration = scene.task_id or "", scene.progress.strip() if scene.iteration else ""
    long_name = figures.joined(
        (f"{task_id} {scene.position}".strip(), f"iteration {iteration}" if iteration else "")
    )
    name = figures.joined((task_id, iteration))
    clock, cost, tokens = figures.clock(elapsed), scene.cost, scene.tokens
    brief_cost, brief_tokens = cost.replace(" of ", "/"), tokens.removesuffix(" tokens")
    choices = (
        (long_name, (clock, cost, tokens)),
        (name, (clock, cost, tokens)),
        (name, (clock, brief_cost, brief_tokens)),
        (name, (clock, brief_cost)),
        (name, (clock,)),
    )
    for where, spent in choices:
        tail = figures.joined(spent)
        # The spinner, the separator and the gap take seven columns.
        if len(where) + len(tail) + 7 <= room:
            return where, tail
    return name, ""
