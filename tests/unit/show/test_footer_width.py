"""The footer on real terminals of several widths."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
from contextlib import suppress

import pyte
import pytest
from support.event_samples import SAMPLES, Tape, context, model_call, tool_call

from tilth.show.live import Console

SPINNER = re.compile("[\u2800-\u28ff] ")


class Terminal:
    """Be a real terminal of some width, and what can be seen on it."""

    def __init__(self, columns: int) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self._seen = pyte.Screen(columns, 30)
        self._stream = pyte.ByteStream(self._seen)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._seen.display if line.strip()]

    @property
    def footer(self) -> list[str]:
        """Give the lines from the one that moves on; nothing before all of it is there."""
        moving = [n for n, line in enumerate(self.lines) if SPINNER.match(line)]
        return self.lines[moving[0] :] if moving and "to go" in self.lines[-1] else []

    def read(self) -> bool:
        """Take in what comes next; tells whether anything came at all."""
        if not select.select([self.master], [], [], 30)[0]:
            return False
        with suppress(OSError):
            # Linux ends a terminal whose other side is closed with an error.
            piece = os.read(self.master, 65536)
            self._stream.feed(piece)
            return bool(piece)
        return False


@pytest.mark.parametrize("columns", [80, 120, 40])
def test_the_footer_fits_a_real_terminal_and_is_gone_at_the_end(columns: int) -> None:
    terminal, tape = Terminal(columns), Tape()
    with (
        os.fdopen(terminal.slave, "w", encoding="utf-8") as stream,
        Console.on(stream, stream, context(), {"TERM": "xterm"}) as console,
    ):
        for payload in (SAMPLES["context_reset"], model_call(), tool_call("bash", command="ls")):
            console.take(tape.event(payload))
        console.tick()
        while not terminal.footer and terminal.read():
            pass
        assert 0 < len(terminal.footer) <= 8
        assert "T-001" in terminal.footer[0]
    while terminal.read():
        pass
    os.close(terminal.master)
    assert not any(SPINNER.match(line) or "to go" in line for line in terminal.lines)
    assert any("Add slugify" in line for line in terminal.lines)
