"""The progress line: seen on a terminal while something works, gone afterwards, never in a pipe."""

from __future__ import annotations

import io
import sys
import threading

import pytest
from support.event_samples import SESSION, tool_result

from tilth.log.envelope import Event, Scope
from tilth.show.progress_line import EventProgress, no_progress, progress_line

TERMINAL = {"TERM": "xterm"}


class Terminal(io.StringIO):
    """Be a terminal, and tell when something was written to it."""

    encoding = "utf-8"

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._changed:
            count = super().write(text)
            self._changed.notify_all()
        return count

    def shows(self, text: str) -> None:
        """Wait until it does."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self.getvalue(), timeout=60)


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give stderr a terminal; called by the test itself, or pytest takes it back before."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_it_says_what_is_done_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_line("reading the tests", TERMINAL) as line:
        terminal.shows("reading the tests")
        line.at("trying T-001")
        terminal.shows("trying T-001")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_line_that_stays_stands_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_line("working", TERMINAL) as line:
        terminal.shows("working")
        line.tell("note: something")
    assert "\r\x1b[Knote: something\n" in terminal.getvalue()


def test_it_follows_a_run_by_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_line("playing", TERMINAL) as line:
        scope = Scope(task_id="T-001", iter=2)
        event = Event(1, "2026-11-16T22:15:30.000Z", SESSION, scope, tool_result("bash"))
        EventProgress(line, "at").take(event)
        terminal.shows("at: T-001, turn 2")


def test_what_it_names_cannot_act_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_line("a\x1b[31m\nb", TERMINAL):
        terminal.shows("b")
    assert "\x1b[31m" not in terminal.getvalue()
    assert "\n" not in terminal.getvalue()


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"NO_COLOR": "1", "TERM": "xterm"}])
def test_where_no_animation_is_welcome_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    terminal = on_terminal(monkeypatch)
    with progress_line("working", environ) as line:
        line.at("still working")
    assert terminal.getvalue() == ""


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line("working", TERMINAL):
        pass
    no_progress().at("working")
    assert capsys.readouterr().err == ""
