"""A second PRD that begins at T-001 again, where a first one's work has landed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import Site, accept, git, seed_test, solution, solve, submit, task, write
from support.light_gate import LIGHT
from support.words import command

from tilth.base.errors import UserError

FREE = "number on from T-003"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Give a repository in which T-001 and T-002 of a first PRD have landed."""
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    run = site.run(
        site.bundle(1, 2),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        evaluator=[accept(), accept()],
    )
    assert run.code == 0
    git(site.repo, "merge", "--quiet", "--ff-only", run.branch)
    return site


def second(site: Site) -> Path:
    """Write a PRD of two other tasks, of which the second stands on the first."""
    plan = [task(7), task(8, depends_on=["T-001"])]
    for number, entry in enumerate(plan, start=1):
        entry["id"] = f"T-{number:03d}"
    folder = site.root / "second"
    (folder / "tests").mkdir(parents=True)
    (folder / "prd.json").write_text(json.dumps(plan), encoding="utf-8")
    for number, feature in ((1, 7), (2, 8)):
        name = f"test_t{number:03d}_more.py"
        (folder / "tests" / name).write_text(seed_test(feature), encoding="utf-8")
    return folder


def test_it_is_refused_with_the_fix_and_leaves_nothing(site: Site) -> None:
    sessions, refs = sorted(site.sessions.iterdir()), git(site.repo, "for-each-ref")
    with pytest.raises(UserError, match=r"T-001, T-002 landed in .* before") as told:
        site.run(second(site), worker=[])
    assert FREE in str(told.value)
    assert "--renumber" in str(told.value)
    assert sorted(site.sessions.iterdir()) == sessions
    assert git(site.repo, "for-each-ref") == refs


def test_check_says_it_too(site: Site) -> None:
    done = command(site, "check", str(second(site)), "--repo", str(site.repo), "--json")
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert not said["ok"]
    assert FREE in said["problems"][0]


def test_renumbered_it_runs_beside_the_first(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    run = site.run(
        second(site),
        worker=[
            solve(7) + submit(7),
            write("feature8.py", solution(8)) + submit(8),
        ],
        evaluator=[accept(), accept()],
        renumber=True,
    )
    assert run.code == 0
    assert "renumbered: T-001 is T-003, T-002 is T-004" in capsys.readouterr().err
    assert {name: entry["source_id"] for name, entry in run.tasks.items()} == {
        "T-003": "T-001",
        "T-004": "T-002",
    }
    assert run.tasks["T-004"]["depends_on"] == ["T-003"]
    tests = git(site.repo, "ls-tree", "--name-only", run.branch, "tests/").splitlines()
    assert tests == [
        "tests/test_t001_add.py",
        "tests/test_t002_add.py",
        "tests/test_t003_more.py",
        "tests/test_t004_more.py",
    ]
    assert run.subjects[1:] == ["T-003: Add feature 7", "T-004: Add feature 8"]


def test_tests_that_merely_stand_there_are_a_tasks_own(tmp_path: Path) -> None:
    tests = {"tests/test_t001_add.py": seed_test(1)}
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT, **tests})
    run = site.run(
        site.bundle(tasks=[task(1)]), worker=[solve(1) + submit(1)], evaluator=[accept()]
    )
    assert run.code == 0
    assert run.subjects == ["T-001: Add feature 1"]


def test_work_that_failed_takes_no_id(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    bundle = site.bundle(1)
    failed = site.run(
        bundle, worker=[write("half.py", "HALF = 1\n")], TILTH_MAX_ITERATIONS_PER_TASK="1"
    )
    assert failed.subjects[-1].startswith("FAILED")
    git(site.repo, "merge", "--quiet", "--ff-only", failed.branch)
    assert site.run(bundle, worker=[solve(1) + submit(1)], evaluator=[accept()]).code == 0
