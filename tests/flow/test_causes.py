"""What stood behind failures: a common cause is said once, and a reason names what ended a task."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, Site, solution, submit, write

from tilth.show.overview import welcome

MISSING = "No module named 'not_installed'"


def importing(number: int) -> str:
    return f"import not_installed\n\n{solution(number)}"


def failing(tmp_path: Path) -> Run:
    """Have two tasks fail for want of one module; one of them has met something else before."""
    site = Site.make(tmp_path)
    lint = write("feature1.py", "def add1(x):\n    return undefined\n")
    tries = [write(f"feature{n}.py", importing(n)) + submit(n) for n in (1, 2)]
    again = [submit(1), submit(1)], [submit(2), submit(2)]
    return site.run(
        site.bundle(1, 2),
        worker=[lint, lint, lint, tries[0], *again[0], tries[1], *again[1]],
        TILTH_ON_EXHAUSTED="skip",
    )


def test_a_cause_of_several_failures_stands_once_at_the_top(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = failing(tmp_path)
    failed = run.of("task_failed")
    assert [one["reason"] for one in failed] == ["no_progress", "no_progress"]
    assert [one["obstacle"]["kind"] for one in failed] == ["module", "module"]
    said = f"{MISSING}: behind 2 failures (T-001, T-002)"
    screen = capsys.readouterr().out
    assert screen.count(said) == 1
    assert screen.index(said) < screen.index("2 failed")
    report = (run.session / "report.md").read_text(encoding="utf-8")
    assert report.count(said) == 1
    assert report.index(said) < report.index("## What to look at first")
    assert welcome(environ={"TILTH_HOME": str(run.site.root / "home")}) == 0
    assert capsys.readouterr().out.count(said) == 1


def test_the_reason_names_what_ended_the_task_not_an_older_fault(tmp_path: Path) -> None:
    run = failing(tmp_path)
    hooks = [event for event in run.of("hook_run") if event["exit_code"] == 1]
    assert len(hooks) > 1
    report = (run.session / "report.md").read_text(encoding="utf-8")
    assert "failed (no_progress)" in report
    assert MISSING in next(line for line in report.splitlines() if line.startswith("1. **T-00"))
    assert "F821" not in report


def test_what_only_one_task_failed_of_is_no_common_cause(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    run = site.run(
        site.bundle(1), worker=[write("feature1.py", importing(1)) + submit(1), *[submit(1)] * 2]
    )
    report = (run.session / "report.md").read_text(encoding="utf-8")
    assert "One cause" not in report
    assert MISSING in report
