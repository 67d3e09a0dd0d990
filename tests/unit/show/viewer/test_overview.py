"""The overview: how a task's ending looks on the page."""

from __future__ import annotations

import pytest

from tilth.log.state import SessionState
from tilth.show.endings import TaskEnding
from tilth.show.report import TaskReport
from tilth.show.viewer.overview import task_head


def tone(ending: TaskEnding, *tampered: str) -> str:
    task = TaskReport(id="T-001", title="One", ending=ending, show="", tampered=tampered)
    return str(task_head(task, SessionState(), running=False)["tone"])


@pytest.mark.parametrize("ending", list(TaskEnding))
def test_every_ending_has_a_tone_and_only_clean_work_is_green(ending: TaskEnding) -> None:
    assert (tone(ending) == "good") is (ending is TaskEnding.DONE)
    assert tone(ending, "conftest.py") != "good"
