"""The overview: how a task's ending looks on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tilth.log.state import SessionState
from tilth.show.endings import TaskEnding
from tilth.show.report import TaskReport
from tilth.show.viewer.overview import task_head
from tilth.show.viewer.page_files import text_of

DOCS = Path(__file__).parents[4] / "docs"


def tone(ending: TaskEnding, *tampered: str) -> str:
    task = TaskReport(id="T-001", title="One", ending=ending, show="", tampered=tampered)
    return str(task_head(task, SessionState(), running=False)["tone"])


@pytest.mark.parametrize("ending", list(TaskEnding))
def test_every_ending_has_a_tone_and_only_clean_work_is_green(ending: TaskEnding) -> None:
    assert (tone(ending) == "good") is (ending is TaskEnding.DONE)
    assert tone(ending, "conftest.py") != "good"


def test_the_words_of_the_help_are_those_of_the_docs() -> None:
    pages = (DOCS / "glossary.md", DOCS / "visualize.md")
    known = "".join(page.read_text("utf-8") for page in pages).replace("`", "")
    words = re.findall(r'^  \["(.*)", "(.*)"\],$', text_of("glossary.js"), re.MULTILINE)
    assert len(words) >= 10
    assert [word for word, means in words if f"| {word} | {means} |" not in known] == []
