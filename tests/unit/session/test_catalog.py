"""The catalog: which sessions there are, and which one goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.session_files import Shelf

from tilth.base.errors import UnknownSession
from tilth.config.settings import Settings, load
from tilth.session.catalog import latest_to_resume, readable_sessions, resumable_sessions

OLD, NEW = "20261114-010101-0a0a0a", "20261115-010101-0b0b0b"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def settings(shelf: Shelf) -> Settings:
    return load({}, shelf.environ)


def test_sessions_come_newest_first_and_a_broken_one_is_passed_over(shelf: Shelf) -> None:
    shelf.add(OLD, status="stopped")
    shelf.add(NEW, status="done")
    (shelf.add("20261116-010101-0c0c0c") / "checkpoint.json").write_text("{")
    assert [session.id for session in readable_sessions(settings(shelf))] == [NEW, OLD]


def test_a_session_that_can_go_on_comes_before_a_newer_one_that_is_done(shelf: Shelf) -> None:
    shelf.add(OLD, status="stopped")
    shelf.add(NEW, status="done")
    assert [session.id for session in resumable_sessions(settings(shelf))] == [OLD]
    assert latest_to_resume(settings(shelf)) == OLD


def test_with_nothing_to_go_on_with_the_newest_that_is_done_is_named(shelf: Shelf) -> None:
    shelf.add(OLD, status="done")
    shelf.add(NEW, status="done")
    assert latest_to_resume(settings(shelf)) == NEW


def test_without_any_session_the_way_to_see_them_is_said(shelf: Shelf) -> None:
    with pytest.raises(UnknownSession, match=r"no session in .* can be resumed; see `tilth info`"):
        latest_to_resume(settings(shelf))
