"""Notices on a stream that is full for a moment: what is said later is heard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.narrow_stream import FOR_EVER, NarrowStream

from tilth.show.notices import after_the_fact, complain, tell


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
