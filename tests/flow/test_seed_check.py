"""`tilth check`: the same proof for a PRD that was written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Site, git, seed_test, task
from support.warm_start import with_warm_gate

from tilth.base.errors import BadPlan, UserError
from tilth.interview.check import check


def environ(site: Site) -> dict[str, str]:
    """Leave out key and model: a check needs neither."""
    home = str(site.root / "home")
    path = "/usr/local/bin:/usr/bin:/bin"
    return with_warm_gate({"PATH": path, "TILTH_HOME": home, "TILTH_SANDBOX": "off"})


def checked(site: Site, bundle: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = check(bundle, site.repo, {}, as_json=True, environ=environ(site))
    return code, json.loads(capsys.readouterr().out)


def test_a_sound_prd_is_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = Site.make(tmp_path)
    code = check(site.bundle(1, 2), site.repo, {}, environ=environ(site))
    table = capsys.readouterr().out.splitlines()
    assert code == 0
    assert table[0].split() == [
        "task",
        "title",
        "tests",
        "collects",
        "red",
        "on",
        "base",
        "criteria",
    ]
    assert table[1].split() == ["T-001", "Add", "feature", "1", "1", "yes", "yes", "1/1"]
    assert table[-1].startswith("ready: ")
    assert not site.sessions.exists()
    assert git(site.repo, "branch", "--list", "session/*") == ""


def test_each_fault_stands_with_its_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path)
    tasks = [task(1), task(2, acceptance_criteria=["adds", "takes text"]), task(3), task(4)]
    bundle = site.bundle(1, 2, tasks=tasks)
    green = "def test_green():\n    assert 1 + 1 == 2\n"
    (bundle / "tests" / "test_t003_add.py").write_text(green, encoding="utf-8")
    code, document = checked(site, bundle, capsys)
    assert code == 1
    assert document["ok"] is False
    rows = {row["id"]: row for row in document["tasks"]}
    assert [rows[key]["red"] for key in sorted(rows)] == [True, True, False, False]
    assert [rows[key]["collects"] for key in sorted(rows)] == [True, True, True, False]
    assert [(rows[key]["covered"], rows[key]["criteria"]) for key in sorted(rows)] == [
        (1, 1),
        (0, 2),
        (1, 1),
        (0, 1),
    ]
    assert len(document["problems"]) == 4
    assert "T-004: has no test file" in document["problems"][-1]


def test_tests_that_stand_in_the_repository_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path, {"tests/test_t001_add.py": seed_test(1)})
    bundle = site.bundle(tasks=[task(1)])
    code, document = checked(site, bundle, capsys)
    assert code == 0
    assert document["tasks"][0]["files"] == ["test_t001_add.py"]


def test_a_task_may_have_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = Site.make(tmp_path)
    bundle = site.bundle(1)
    (bundle / "tests" / "test_t001_more.py").write_text(seed_test(1), encoding="utf-8")
    code, document = checked(site, bundle, capsys)
    assert code == 0
    assert document["tasks"][0]["tests"] == 2


def test_a_story_that_passes_already_is_not_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path)
    story = {"id": "S1", "title": "t", "description": "d", "acceptanceCriteria": ["c"]}
    folder = site.bundle()
    stories = {"userStories": [{**story, "passes": True}]}
    (folder / "prd.json").write_text(json.dumps(stories), encoding="utf-8")
    code, document = checked(site, folder, capsys)
    assert (code, document["done"], document["tasks"]) == (0, ["T-001"], [])


def test_a_bad_prd_is_a_usage_error(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with pytest.raises(BadPlan, match=r"tasks\[0\]\.id"):
        check(site.bundle(tasks=[task(1, id="1")]), site.repo, {}, environ=environ(site))
    with pytest.raises(UserError, match="does not exist"):
        check(tmp_path / "none", site.repo, {}, environ=environ(site))
