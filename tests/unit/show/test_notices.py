"""Notices on a stream that is full for a moment: what is said later is heard."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from support.narrow_stream import FOR_EVER, NarrowStream

from tilth.base.interrupt import Interrupt
from tilth.show import fleet
from tilth.show.bar import Bar
from tilth.show.notices import after_the_fact, complain, tell
from tilth.show.terminal import stop_on_signals, terminal


@pytest.fixture
def narrow() -> Iterator[NarrowStream]:
    with NarrowStream() as one:
        yield one


def test_a_full_moment_does_not_silence_what_is_told_later(
    narrow: NarrowStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", narrow.stream)
    narrow.refuse(1)
    tell("early")
    complain("late")
    assert narrow.read() == "early\ntilth: late\n"


def test_what_came_of_a_change_is_written_once_there_is_room(
    narrow: NarrowStream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout", narrow.stream)
    narrow.refuse(1)
    with after_the_fact():
        print("it is done")
    assert narrow.read() == "it is done\n"
    assert capsys.readouterr().err == ""


def test_what_stays_full_is_given_up_told_of_and_fails_nobody_later(
    narrow: NarrowStream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout", narrow.stream)
    narrow.refuse(FOR_EVER)
    with after_the_fact():
        print("it is done")
    assert "it is done, but could not be printed" in capsys.readouterr().err
    narrow.refuse(0)
    narrow.stream.flush()
    assert narrow.read() == ""


class Interrupted(io.FileIO):
    """Be a pipe whose writer gets Ctrl-C in the middle of its first write, with room or without."""

    def __init__(self, *, has_room: bool) -> None:
        self.reader, writer = os.pipe()
        os.set_blocking(self.reader, False)
        super().__init__(writer, "w")
        self.has_room = has_room
        self.is_first = True
        self.waited = False
        self.seen = ""

    def write(self, data: object, /) -> int | None:  # type: ignore[override]
        if self.is_first:
            self.is_first = False
            self._interrupt()
        return super().write(data)  # type: ignore[arg-type]

    def _interrupt(self) -> None:
        if not self.has_room:
            _fill(self.fileno())
        # A handler that waits for room would wait for ever: it is given some in the end.
        rescue = threading.Timer(10, self._rescue)
        rescue.start()
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            rescue.cancel()
            rescue.join()
            self.seen = self.drained()

    def _rescue(self) -> None:
        self.waited = True
        self.drained()

    def drained(self) -> str:
        """Give what stands in the pipe, without what it was filled with."""
        found = b""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self.reader, 1 << 16):
                found += piece
        return found.decode().strip(".")


def _fill(descriptor: int) -> None:
    os.set_blocking(descriptor, False)
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(descriptor, b"." * size)
    os.set_blocking(descriptor, True)


def the_plain_one(interrupt: Interrupt) -> AbstractContextManager[None]:
    return stop_on_signals(interrupt)


def a_runs(interrupt: Interrupt) -> AbstractContextManager[None]:
    return terminal(advises=False).listen(interrupt)


def a_fleets(interrupt: Interrupt) -> AbstractContextManager[None]:
    return stop_on_signals(interrupt, fleet._say)


def an_evaluations(interrupt: Interrupt) -> AbstractContextManager[None]:
    return stop_on_signals(interrupt, Bar(1, 0, {"TERM": "dumb"}).remark)


@pytest.mark.parametrize("has_room", [True, False])
@pytest.mark.parametrize("heard_by", [the_plain_one, a_runs, a_fleets, an_evaluations])
def test_a_signal_in_the_middle_of_a_write_neither_enters_it_again_nor_waits(
    monkeypatch: pytest.MonkeyPatch,
    heard_by: Callable[[Interrupt], AbstractContextManager[None]],
    has_room: bool,
) -> None:
    interrupt, raw = Interrupt(), Interrupted(has_room=has_room)
    with (
        contextlib.closing(os.fdopen(raw.reader)),
        io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8") as stream,
        monkeypatch.context() as patched,
    ):
        patched.setattr("sys.stderr", stream)
        with heard_by(interrupt):
            stream.write("a line of the run\n")
            stream.flush()
        assert raw.drained() == "a line of the run\n"
    assert interrupt.wished
    assert not raw.waited
    # Whole or not at all.
    assert raw.seen.startswith("stopping ") if has_room else raw.seen == ""
    assert raw.seen.count("\n") == has_room
