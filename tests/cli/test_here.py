"""Which session a command means: by where one stands, that of the repository around it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.flow_site import Site, accept, git, solve, submit
from support.light_gate import LIGHT
from support.words import command

THIS, OTHER = "this", "other"


class Desk:
    """Two repositories with a finished session each, of which the second is the newer one."""

    def __init__(self, root: Path) -> None:
        home = root / "sessions"
        self.sites = {name: self._run(root / name, home) for name in (THIS, OTHER)}
        self.names = {name: self._session(site) for name, site in self.sites.items()}

    def _run(self, root: Path, sessions: Path) -> Site:
        site = Site.make(root, {"pyproject.toml": LIGHT})
        site.sessions_dir = sessions
        site.settings["TILTH_SESSIONS_DIR"] = str(sessions)
        assert (
            site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()]).code == 0
        )
        return site

    def _session(self, site: Site) -> str:
        branches = git(site.repo, "branch", "--list", "session/*", "--format=%(refname:short)")
        return branches.removeprefix("session/")

    def say(self, place: Path, *args: str) -> tuple[int, str]:
        with contextlib.chdir(place):
            done = command(self.sites[THIS], *args)
        return done.returncode, f"{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture
def repo(desk: Desk) -> Path:
    return desk.sites[THIS].repo


def test_latest_and_a_left_out_id_mean_this_repository(desk: Desk, repo: Path) -> None:
    for args in (["info", "latest"], ["report"], ["events"], ["show", "latest", "T-001"]):
        code, said = desk.say(repo, *args)
        assert code == 0, said
        assert desk.names[OTHER] not in said
    assert desk.names[THIS] in desk.say(repo, "info", "latest")[1]
    code, said = desk.say(repo, "take", "--dry-run")
    assert (code, desk.names[THIS] in said, str(repo) in said) == (0, True, True), said
    code, said = desk.say(repo, "resume")
    assert (code, desk.names[THIS] in said, str(repo) in said) == (0, True, True), said


def test_a_worktree_is_the_repository_it_belongs_to(desk: Desk, tmp_path: Path) -> None:
    site = desk.sites[THIS]
    worktree = site.sessions / desk.names[THIS] / "workspace"
    (worktree / "deeper").mkdir()
    assert desk.names[THIS] in desk.say(worktree / "deeper", "info", "latest")[1]
    git(site.repo, "worktree", "add", "--quiet", str(tmp_path / "beside"), "HEAD")
    assert desk.names[THIS] in desk.say(tmp_path / "beside", "info", "latest")[1]
    git(site.repo, "worktree", "remove", str(tmp_path / "beside"))


def test_outside_of_a_repository_all_sessions_are_meant(desk: Desk, tmp_path: Path) -> None:
    (desk.sites[OTHER].sessions / desk.names[OTHER] / "events.jsonl").touch()
    assert desk.names[OTHER] in desk.say(tmp_path, "info", "latest")[1]
    assert desk.names[OTHER] in desk.say(tmp_path, "take", "--dry-run")[1]


def test_a_session_of_another_repository_is_named_by_its_id(desk: Desk, repo: Path) -> None:
    name = desk.names[OTHER]
    code, said = desk.say(repo, "take", name, "--dry-run")
    assert (code, str(desk.sites[OTHER].repo) in said) == (0, True)
    code, said = desk.say(repo)
    assert code == 0
    assert said.startswith(desk.names[THIS])
    assert f"elsewhere: {name} is done" in said


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Path]:
    repo = tmp_path / "empty"
    repo.mkdir()
    git(repo, "init", "--quiet")
    yield repo
    shutil.rmtree(repo)


@pytest.mark.parametrize(
    "args",
    [["resume"], ["take"], ["report"], ["tell", "latest", "hello"], ["reset", "latest", "--yes"]],
)
def test_where_there_is_no_session_none_of_another_repository_is_touched(
    desk: Desk, empty: Path, args: list[str]
) -> None:
    code, said = desk.say(empty, *args)
    assert code == 2
    assert "name one of another repository by its id" in said
    assert str(empty) in said
    assert desk.say(empty, "stop") == (0, "no session is running\n")
    code, said = desk.say(empty, "reset", "--all", "--yes", "--discard")
    assert code == 0
    assert all((site.sessions / desk.names[THIS]).is_dir() for site in desk.sites.values())
    code, said = desk.say(empty)
    assert code == 0
    assert said.startswith(f"No session of {empty} yet.\nelsewhere: ")
    # Those begun in the same second stand in any order.
    assert f"elsewhere: {desk.names[OTHER]} is done" in said


def test_of_several_the_one_last_active_is_resumed(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    bundle = site.bundle(1)
    first = site.run(bundle, worker=[solve(1)]).session.name
    second = site.run(bundle, worker=[solve(1)]).session.name
    assert first != second
    assert command(site, "tell", first, "The older one is of interest again.").returncode == 0
    with contextlib.chdir(site.repo):
        resumed = site.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert resumed.code == 0
    assert git(site.repo, "log", "-1", "--format=%s", f"session/{first}") == "T-001: Add feature 1"
