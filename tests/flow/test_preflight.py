"""A plan is proven before a model is paid: what no worker can mend stops the run, said once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.commands import start
from support.flow_site import Run, Site, accept, git, seed_test, solve, submit, task
from support.ignored_files import FILES, bundle, make_site
from support.messages_api import MessagesServer, by_role

from tilth.base.errors import UserError
from tilth.interview.preflight import preflight

WORK = [solve(1) + submit(1), solve(2) + submit(2)]


def flown(site: Site, folder: Path, *, worker: list[Any] | None = None, **settings: str) -> Run:
    """Run as the command does: with a preflight."""
    script = by_role(worker=worker or WORK, evaluator=[accept(), accept()])
    with MessagesServer(script) as server:
        environ = site.environ(server.url, **settings)
        code = start(folder, site.repo, {}, new=True, environ=environ, preflight=preflight)
        return Run(site, code, tuple(server.requests))


def stopped(site: Site, folder: Path, **settings: str) -> str:
    """Give what a run says that ends before it begins, and see that nothing is left of it."""
    before = git(site.repo, "for-each-ref"), git(site.repo, "worktree", "list")
    with MessagesServer(by_role()) as server:
        environ = site.environ(server.url, **settings)
        how = {"new": True, "environ": environ, "preflight": preflight, "ping": True}
        with pytest.raises(UserError) as caught:
            start(folder, site.repo, {}, **how)
    assert server.requests == []
    assert (git(site.repo, "for-each-ref"), git(site.repo, "worktree", "list")) == before
    assert not site.sessions.exists() or os.listdir(site.sessions) == []
    return str(caught.value)


def test_what_the_preflight_ran_is_not_run_again(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"tests/test_own.py": "def test_own():\n    assert True\n"})
    run = flown(site, site.bundle(1, 2), worker=[solve(1), solve(2)], TILTH_JOBS="2")
    [found] = run.of("preflight")
    assert set(found["baselines"]) == {"T-001", "T-002"}
    assert "2 tests of the plan are red, as they should be before the work" in found["notes"][0]
    base = [each for each in run.of("validator_run") if each["phase"] == "base"]
    again = [found["baselines"][name]["report"]["duration_ms"] for name in ("T-001", "T-002")]
    told = [each["duration_ms"] for each in base if each["name"] == "pytest"]
    assert sorted(told) == sorted(again)
    [suite] = [each for each in base if each["name"] == "suite"]
    assert suite["duration_ms"] == found["suite_report"]["duration_ms"]


def test_a_task_on_another_tree_has_a_base_run_of_its_own(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    run = flown(site, site.bundle(1, 2))
    assert run.code == 0
    trees = [each["tree"] for each in run.of("validator_run") if each["phase"] == "base"]
    assert len(set(trees)) == 2


def test_an_import_that_is_misspelt_stops_the_run_once(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"shop/__init__.py": ""})
    folder = site.bundle(1, 2)
    for number in (1, 2):
        path = folder / "tests" / f"test_t00{number}_add.py"
        path.write_text("import shopp\n" + seed_test(number))
    said = stopped(site, folder)
    assert said.count("no module is called shopp: did you mean shop?") == 1
    assert "(T-001, T-002)" in said


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("import zzz_helper", "neither the repository nor the plan names it: install it"),
        ("def test_b(mocker): assert mocker", "a fixture that nobody defines"),
        ("def test_c(:", "does not parse"),
    ],
)
def test_what_the_tests_lack_stops_the_run(tmp_path: Path, line: str, fix: str) -> None:
    site = Site.make(tmp_path)
    folder = site.bundle(1)
    path = folder / "tests" / "test_t001_add.py"
    path.write_text(f"{line}\n" if "mocker" in line else f"{line}\n{seed_test(1)}")
    assert fix in stopped(site, folder)


def test_an_ignored_file_that_is_nowhere_stops_the_run(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    (site.repo / "src/pkg/_version.py").unlink()
    said = stopped(site, bundle(site))
    assert "git ignores src/pkg/_version.py, and it is nowhere: make it in your checkout" in said


def test_an_ignored_file_that_is_not_carried_is_named_with_the_way(tmp_path: Path) -> None:
    said = stopped(make_site(tmp_path), bundle(Site(tmp_path)), TILTH_CARRY="off")
    assert "`--carry src/pkg/_version.py` hands it on" in said


def test_an_interpreter_that_cannot_start_stops_the_run(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert "TILTH_PYTHON must be a Python" in stopped(
        site, site.bundle(1), TILTH_PYTHON=str(python)
    )


@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_the_plan_is_proven_after_setup(tmp_path: Path, sandbox: str) -> None:
    line = """echo 'version = "1.2"' > src/pkg/_version.py"""
    setup = f"setup = ['''{line}''']\n"
    site = make_site(tmp_path, {"pyproject.toml": FILES["pyproject.toml"] + setup})
    (site.repo / "src/pkg/_version.py").unlink()
    run = flown(site, bundle(site), worker=WORK[:1], TILTH_SANDBOX=sandbox)
    assert run.code == 0
    assert run.of("preflight")[0]["baselines"]
    assert git(site.repo, "worktree", "list").count("\n") == 1


def test_a_regression_criterion_is_proven_by_staying_green(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"old.py": "OLD = 1\n"})
    criteria = ["add1(x) gives x + 1", "OLD stays 1"]
    folder = site.bundle(1, tasks=[task(1, acceptance_criteria=criteria)])
    (folder / "tests" / "test_t001_add.py").write_text(
        "def test_adds():  # AC-1\n    from feature1 import add1\n\n    assert add1(1) == 2\n\n\n"
        "def test_old():  # AC-2 stays\n    from old import OLD\n\n    assert OLD == 1\n"
    )
    covered = [{"criterion": n, "addressed_by": "feature1.py:add1"} for n in ("1", "2")]
    run = flown(site, folder, worker=[solve(1) + submit(1, ac_coverage=covered)])
    assert run.code == 0
    assert run.of("seed_already_green") == []
    assert "1 green, to stay so" in run.of("preflight")[0]["notes"][0]
    assert "Green there, to stay so" in run.last_user_text("evaluator", 0)


def test_skips_and_failures_of_the_base_are_named(tmp_path: Path) -> None:
    own = (
        "import pytest\n\n\n"
        "@pytest.mark.skip(reason='no translations here')\ndef test_a():\n    pass\n\n\n"
        "def test_b():\n    assert 0\n"
    )
    site = Site.make(tmp_path, {"tests/test_own.py": own})
    notes = flown(site, site.bundle(1), worker=WORK[:1]).of("preflight")[0]["notes"]
    assert "1 skipped: no translations here; red: tests/test_own.py::test_b" in notes[1]
