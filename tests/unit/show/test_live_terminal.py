"""The console on a terminal: colour, the status line, and streams that go away."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

import pyte
import pytest
from rich.cells import cell_len
from support.event_samples import (
    SAMPLES,
    Tape,
    a_session,
    context,
    model_call,
    plan,
    tool_call,
    verdict,
)

from tilth.log.events import Payload
from tilth.model.messages import Role
from tilth.show.live import Console, wants_live

ERASE = "\r\x1b[2K"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
UP = "\x1b[1A"
SPINNER = re.compile("[\u2800-\u28ff] ")


class Screen:
    """Be a terminal of a given width that remembers what was drawn, and shows it as one would."""

    def __init__(self, columns: int = 100, **changes: object) -> None:
        self.stream = io.StringIO()
        self.now = 5000.0
        self.columns = columns
        self._tape = Tape()
        self._seen, self._fed = pyte.Screen(columns, 500), 0
        self._feed = pyte.Stream(self._seen).feed
        self.console = Console(
            self.stream,
            context(**changes),
            live=True,
            foot=self.stream,
            columns=lambda: self.columns,
            clock=lambda: self.now,
        )

    def take(self, *payloads: Payload, task_id: str | None = "T-001") -> Screen:
        for payload in payloads:
            self.console.take(self._tape.event(payload, task_id))
        return self

    @property
    def drawn(self) -> str:
        """Give all that was drawn, without colour."""
        return COLOUR.sub("", self.stream.getvalue())

    @property
    def lines(self) -> list[str]:
        """Give what a person would see now."""
        assert self._seen.columns == self.columns
        drawn = self.stream.getvalue()
        # What it has drawn before stands on the screen already.
        self._feed(drawn[self._fed :].replace("\n", "\r\n"))
        self._fed = len(drawn)
        rows = range(self._seen.cursor.y + 1)
        return ["".join(self._row(number)).rstrip() for number in rows]

    def _row(self, number: int) -> Iterator[str]:
        """Give a row as `display` does, without the rows that nobody asks for."""
        row, column = self._seen.buffer[number], 0
        while column < self.columns:
            data = row[column].data
            yield data
            # A wide character stands in two cells, the second of which is empty.
            column += 2 if data and cell_len(data[0]) == 2 else 1

    @property
    def status(self) -> str:
        """Give the footer: the rows that the spinner opens."""
        lines = self.lines
        opening = [n for n, line in enumerate(lines) if SPINNER.match(line)]
        return "\n".join(lines[opening[-1] :]) if opening else lines[-1]


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.mark.parametrize("columns", [1, 8, 20, 24, 50, 80, 100, 400])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    screen = Screen(columns, plan=plan("日本語 " * 300, "x" * 5000, "z"))
    for event in a_session():
        screen.console.take(event)
    commands = ("tilth ", "git ")
    for line in screen.drawn.replace(UP, "").replace(ERASE, "\n").split("\n"):
        if not any(command in line for command in commands):
            assert cell_len(line) <= max(16, columns), line


@pytest.mark.parametrize("columns", range(44, 70, 3))
def test_a_line_that_is_cut_is_cut_between_two_words(columns: int) -> None:
    words = (
        "pytest is red before the work begins, as it should be · 3 collected, 2 passed, 1 failed"
    )
    tests = {"collected": 3, "passed": 2, "failed": 1}
    red = SAMPLES["validator_run"].model_copy(
        update={"phase": "base", "passed": False, "tests": tests, "output": ""}
    )
    screen = Screen(columns).take(red)
    (line,) = [line for line in screen.drawn.split("\n") if "pytest is red" in line]
    cut = line.partition("pytest is red")[2].partition("…")[0]
    assert f"pytest is red{cut} " in f"{words} "


def test_the_status_line_says_where_the_run_stands(screen: Screen) -> None:
    screen.take(SAMPLES["context_reset"], model_call())
    screen.now += 754
    screen.take(tool_call("bash", command="pytest -q"))
    screen.now += 7
    screen.console.tick()
    first, second = screen.status.splitlines()
    assert first[2:] == "T-001 1/3 · iteration 1/32 · bash: pytest -q 0:07"
    assert second == "  0 done, 3 to go · 12:41 of 2:00:00 · $0.02 of $10 · 4.5k/2M tokens"
    screen.console.close()


def test_a_usual_terminal_has_room_for_all_that_matters() -> None:
    screen = Screen(80).take(SAMPLES["context_reset"], model_call())
    screen.now += 3725
    screen.console.tick()
    first, second = screen.status.splitlines()
    assert first[2:] == "T-001 1/3 · iteration 1/32 · waiting for the worker 1:02:05"
    assert second == "  0 done, 3 to go · 1:02:05 of 2:00:00 · $0.02 of $10 · 4.5k/2M tokens"
    screen.console.close()


def test_time_starts_with_the_first_event(screen: Screen) -> None:
    screen.take(SAMPLES["session_start"], task_id=None)
    assert re.search(r"getting ready\n  0 done, 3 to go · 0:00 of ", screen.status)
    screen.console.close()


def test_the_status_line_follows_the_work(screen: Screen) -> None:
    seen = []
    for event in a_session():
        screen.console.take(event)
        seen.append(screen.status)
    for doing in (
        "waiting for the worker",
        "validators",
        "evaluator",
        "again in 8 s",
        "committing",
    ):
        assert any(doing in status for status in seen), doing


def test_a_quota_wait_is_counted_down(screen: Screen) -> None:
    screen.take(model_call(), SAMPLES["quota_wait"])
    assert "quota: waits until" in screen.status
    screen.now += 61
    screen.console.tick()
    assert ", 3:58:59 left" in screen.status
    screen.take(model_call())
    screen.console.tick()
    assert "left" not in screen.status


def test_there_is_one_status_line_and_none_after_the_stop(screen: Screen) -> None:
    for event in a_session():
        screen.console.take(event)
        assert sum("tokens" in line and "spent" not in line for line in screen.lines) <= 1
    assert screen.status == ""
    assert any("log 1a2b3c4d5e6f..session/" in line for line in screen.lines[-4:])
    screen.console.close()


def test_closing_takes_the_status_line_away_and_may_be_done_twice(screen: Screen) -> None:
    screen.take(SAMPLES["context_reset"])
    assert screen.status
    screen.console.close()
    screen.console.close()
    assert screen.status == ""
    screen.console.tick()
    assert screen.status == ""


@pytest.mark.parametrize("narrow", [40, 24, 79])
def test_a_terminal_that_becomes_narrower_and_wide_again_keeps_no_debris(narrow: int) -> None:
    screen = Screen(80).take(SAMPLES["context_reset"], model_call())
    # A terminal that shrinks breaks what stands on it into more rows; the footer goes with them.
    wide = screen.lines
    seen = pyte.Screen(narrow, 200)
    feed = pyte.Stream(seen).feed
    feed("\r\n".join(wide))
    before = len(screen.stream.getvalue())
    screen.columns = narrow
    screen.console.tick()
    feed(screen.stream.getvalue()[before:].replace("\n", "\r\n"))
    shown = [line.rstrip() for line in seen.display if line.strip()]
    assert sum(bool(SPINNER.match(line)) for line in shown) == 1
    assert sum("to go" in line for line in shown) == 1
    screen.console.close()


def test_what_a_model_writes_is_seen_while_it_writes(screen: Screen) -> None:
    screen.take(SAMPLES["context_reset"])
    screen.console.model_is(Role.WORKER, "writes edit_file: words.py")
    screen.now += 3
    screen.console.tick()
    assert "worker writes edit_file: words.py 0:03" in screen.status
    screen.take(tool_call("bash", command="ls"))
    assert "words.py" not in screen.status
    screen.console.close()


def test_a_remark_of_a_signal_handler_gets_a_line_of_its_own(screen: Screen) -> None:
    screen.take(SAMPLES["context_reset"], model_call())
    screen.console.remark("stopping after the current call")
    screen.console.tick()
    (line,) = (line for line in screen.lines if "stopping" in line)
    assert line.split() == ["note", "stopping", "after", "the", "current", "call"]
    assert "waiting for the worker" in screen.status
    screen.console.close()


def test_lines_go_to_one_stream_and_the_footer_to_the_other() -> None:
    lines, foot = io.StringIO(), io.StringIO()
    with Console(lines, context(), live=False, foot=foot, columns=lambda: 80) as console:
        for event in a_session():
            console.take(event)
    assert "evaluator ✓ accepts" in lines.getvalue()
    assert "\x1b" not in lines.getvalue()
    assert "to go" not in lines.getvalue()
    assert "accepts" not in foot.getvalue()
    assert "to go" in foot.getvalue()


def test_closing_ends_the_pulse() -> None:
    before = threading.active_count()
    screen = Screen().take(SAMPLES["context_reset"])
    assert threading.active_count() == before + 1
    screen.console.close()
    assert threading.active_count() == before


def test_only_styles_of_its_own_reach_the_terminal(screen: Screen) -> None:
    hostile = "[red]x[/red] [/x] \x1b[31m\x1b]0;owned\x07\x9b2J\rforged\n\u202e\ud800"
    screen.take(
        SAMPLES["context_reset"],
        verdict(concern=hostile),
        tool_call("bash", command=hostile),
    )
    screen.console.close()
    rest = screen.drawn.replace(ERASE, "").replace(UP, "")
    assert "\x1b" not in rest
    assert "\r" not in rest
    assert "\x9b" not in rest
    assert "[red]x[/red] [/x] ␛[31m␛]0;owned␇" in rest
    rest.encode("utf-8")


def test_a_verdict_is_green_or_red(screen: Screen) -> None:
    screen.take(verdict())
    screen.console.close()
    assert "\x1b[32m✓ accepts · score 91\x1b[0m" in screen.stream.getvalue()


class Broken(io.StringIO):
    """Be a stream whose reader has gone."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
        self.tries = 0

    def write(self, text: str) -> int:
        self.tries += 1
        raise self.error


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(5, "gone"), ValueError("closed")])
def test_a_stream_that_is_gone_never_stops_the_run(error: Exception, live: bool) -> None:
    stream = Broken(error)
    with Console(stream, context(), live=live) as console:
        for event in a_session():
            console.take(event)
    assert stream.tries == 1


def test_a_stream_that_is_full_for_a_moment_costs_only_that_line() -> None:
    stream = Broken(BlockingIOError())
    with Console(stream, context(), live=False) as console:
        console.take(Tape().event(SAMPLES["commit"]))
        console.take(Tape().event(SAMPLES["commit"]))
    assert stream.tries == 2


def test_a_closed_or_missing_stream_is_quiet() -> None:
    stream = io.StringIO()
    stream.close()
    for gone in (stream, None):
        with Console.on(gone, gone, context(), {}) as console:
            console.take(Tape().event(SAMPLES["commit"]))


def test_a_stream_that_knows_no_unicode_still_gets_every_word() -> None:
    buffer = io.BytesIO()
    with io.TextIOWrapper(buffer, encoding="ascii") as stream:
        with Console(stream, context(plan=plan("Größe")), live=False) as console:
            console.take(Tape().event(SAMPLES["context_reset"]))
            console.take(Tape().event(verdict()))
        told = buffer.getvalue().decode("ascii")
    assert "T-001 Gr\\xf6\\xdfe" in told
    assert "+ accepts - score 91" in told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_and_animation_are_for_willing_terminals_only() -> None:
    terminal = Terminal()
    assert wants_live(terminal, {"TERM": "xterm-256color", "NO_COLOR": ""})
    assert not wants_live(terminal, {"NO_COLOR": "0"})
    assert not wants_live(terminal, {"TERM": "dumb"})
    assert not wants_live(io.StringIO(), {"TERM": "xterm"})
    assert not wants_live(None, {})


def read_to_end(master: int) -> str:
    seen = b""
    # Linux ends a terminal whose other side is closed with an error, not with an empty read.
    with suppress(OSError):
        while chunk := os.read(master, 65536):
            seen += chunk
    os.close(master)
    return seen.decode()


def test_a_real_terminal_gets_the_live_view() -> None:
    master, slave = pty.openpty()
    with (
        os.fdopen(slave, "w", encoding="utf-8") as stream,
        Console.on(stream, stream, context(), {"TERM": "xterm"}) as console,
    ):
        console.take(Tape().event(SAMPLES["context_reset"]))
    seen = read_to_end(master)
    assert "T-001 Add slugify (1/3)" in seen
    assert seen.endswith(ERASE)


def test_the_words_cost_no_rich_until_a_terminal_is_drawn_on() -> None:
    code = "import sys, tilth.show.live; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
