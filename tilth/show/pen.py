"""The pen: text onto a stream that may go away, in whatever encoding it has. Never raises.

Whatever is printed passes a standard stream, and there the keys that are known are hidden.
"""

from __future__ import annotations

import codecs
import io
import os
import select
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TextIO

_USUAL_COLUMNS = 80
_ASCII: dict[int, int | str] = {
    **str.maketrans("✓✗×·▶−–—“”‘’│─", "+xx->---\"\"''|-"),
    ord("…"): "...",
    ord("⏎"): "\\n",
    ord("→"): "->",
    ord("≤"): "<=",
    ord("≥"): ">=",
}
_PLAIN = "tilth-plain"
# How long a full stream is waited for, and how often one that says it has room may have none.
_MOMENT_S = 1.0
_TRIES = 100


class Hiding(io.TextIOWrapper):
    """Be a standard stream that shows nothing which is to be hidden."""

    hide: tuple[Callable[[str], str], ...] = ()
    # Held, because it closes what both of them write to when nobody has it any more.
    over: TextIO | None = None

    def write(self, text: str) -> int:
        for hide in self.hide:
            text = hide(text)
        return super().write(text)


def hold_back() -> None:
    """Put a stream that can hide in the place of both standard streams."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream) is io.TextIOWrapper:
            stream.flush()
            hiding = Hiding(
                stream.buffer,
                stream.encoding,
                stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            hiding.over = stream
            setattr(sys, name, hiding)


def hide_on_streams(hide: Callable[[str], str]) -> None:
    """Have a text pass through here before it is printed, from now on."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Hiding):
            stream.hide = (*stream.hide, hide)


def wants_live(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Tell whether colour and animation are welcome on this stream."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # a closed file
        return False


class Pen:
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
            self._stream.write(encodable(text, self._stream.encoding or "utf-8"))
            self._stream.flush()
        except BlockingIOError:
            # A terminal that is full for a moment costs a line, not the view.
            return
        except (OSError, ValueError):
            let_go(self._stream)
            self._stream = None


def settle(stream: TextIO) -> OSError | None:
    """Write what a stream still holds, waiting if it is full; what fails is let go and given."""
    fault: OSError | None = None
    for _ in range(_TRIES):
        try:
            stream.flush()
        except BlockingIOError as error:
            fault = error
            if not _has_room(stream):
                break
        except OSError as error:
            fault = error
            break
        except ValueError:  # a closed file
            return None
        else:
            return None
    let_go(stream)
    return fault


def _has_room(stream: TextIO) -> bool:
    """Wait a moment for a stream to take more."""
    try:
        return bool(select.select([], [stream.fileno()], [], _MOMENT_S)[1])
    except (OSError, ValueError):
        return False


def let_go(stream: TextIO) -> None:
    """Let what a stream could not write go nowhere; else it would fail anew, at the latest at exit.

    What was done decides a command's exit code, and Python would put one of its own in its place.
    """
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def encodable(text: str, encoding: str) -> str:
    if is_utf8(encoding):
        return text
    plain = text.translate(_ASCII)
    return plain.encode(encoding, "backslashreplace").decode(encoding)


def is_utf8(encoding: str | None) -> bool:
    """Tell whether a stream of this encoding can show every character."""
    return (encoding or "utf-8").lower().replace("-", "").replace("_", "") == "utf8"


def speak_plainly(stream: TextIO | None) -> None:
    """Have a stream that knows few characters show others by plain ones, and the rest by number."""
    if stream is None or is_utf8(stream.encoding) or not isinstance(stream, io.TextIOWrapper):
        return
    codecs.register_error(_PLAIN, _plain)
    stream.reconfigure(errors=_PLAIN)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    said = error.object[error.start : error.end].translate(_ASCII)
    return said.encode("ascii", "backslashreplace").decode("ascii"), error.end
