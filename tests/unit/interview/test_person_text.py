"""A person's text: without what a terminal puts in, and otherwise as it was."""

from __future__ import annotations

import pytest

from tilth.interview.commands import Command, before_command, command_in
from tilth.interview.person_text import person_text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("plain", "plain"),
        ("\x1b[A\x1b[1;5Dred", "red"),
        ("\x1bOAred", "red"),
        ("\x1b[200~pasted\x1b[201~", "pasted"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]0;title\x07red", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1;2|odd\x1b\\red", "red"),
        ("half\x1b", "half"),
        ("a\x00b\x07c\x7fd\x85e", "abcd\ne"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays", "tab\tstays"),
        ("\udc80lone \ud800", "lone"),
        ("  \x1b[A \n", ""),
        ("naïve \U0001f469\u200d\U0001f4bb \u202e.", "naïve \U0001f469\u200d\U0001f4bb \u202e."),
    ],
)
def test_only_what_was_meant_is_left(typed: str, meant: str) -> None:
    assert person_text(typed) == meant


@pytest.mark.parametrize("length", [10, 50_000])
def test_an_unended_sequence_does_not_take_the_next_line_with_it(length: int) -> None:
    assert person_text(f"\x1b]0;{'x' * length}\nanswer") == "answer"


@pytest.mark.parametrize("word", ["/back", " /HELP ", "/quit", "/skip", "some text\n/quit"])
def test_a_last_line_that_is_a_command_is_one(word: str) -> None:
    assert command_in(word) in Command


@pytest.mark.parametrize(
    "text", ["", "/health", "/back to the start", "say /quit", "/quit\nis a route", "back"]
)
def test_anything_else_is_an_answer(text: str) -> None:
    assert command_in(text) is None


def test_what_stood_before_a_command_is_kept() -> None:
    assert before_command("one\ntwo\n/help") == "one\ntwo"
    assert before_command("/help") == ""
