"""The bar: lines with an ETA in a pipe, a bar that goes away on a terminal."""

from __future__ import annotations

import io

import pytest

from tilth.show.bar import Bar


class Terminal(io.StringIO):
    """Be a stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_in_a_pipe_every_step_is_a_line_with_how_far_and_how_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    moments = iter([0.0, 30.0, 40.0])
    with Bar(4, 2, {}, now=lambda: next(moments)) as bar:
        bar.step("a verdict")
        bar.step("another")
    assert capsys.readouterr().err.splitlines() == [
        "3/4 ETA 0:30: a verdict",
        "4/4 ETA 0:00: another",
    ]


def test_on_a_terminal_only_what_stays_is_left_above_the_bar() -> None:
    screen = Terminal()
    with Bar(2, 0, {"TERM": "xterm"}, stream=screen) as bar:
        bar.step("passes by", stays=False)
        bar.remark("stopping")
        bar.step("a [bold]mistake[/bold]\x1b[2J")
    shown = screen.getvalue()
    assert "passes by" not in shown
    assert "a [bold]mistake[/bold]␛[2J" in shown
    assert "2/2" in shown
    assert "ETA 0:00" in shown
