"""The policy: what worker, validators and setup may reach, decided on paths alone."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.sandbox_site import policy

from tilth.sandbox import forbidden
from tilth.sandbox.confinement import Bind
from tilth.sandbox.policy import hidden_places, tool_places

SYSTEM = ("/", "/usr", "/bin", "/lib", "/etc", "/dev", "/proc", "/tmp")


@pytest.mark.parametrize("home", SYSTEM)
def test_a_home_without_which_nothing_runs_is_not_hidden(home: str) -> None:
    assert Path(home) not in hidden_places({"HOME": home})


@pytest.mark.parametrize("home", ["/srv/home", "/usr/people/a", "/tmp/home"])
def test_a_home_is_hidden_wherever_it_stands_and_so_are_the_other_places(home: str) -> None:
    hidden = hidden_places({"HOME": home}, Path("/srv/other"))
    assert {Path(home), Path("/srv/other")} <= set(hidden)
    assert Path("people") not in hidden_places({"HOME": "people"})


def test_what_may_be_written_is_the_worktree_and_a_home_of_ones_own(tmp_path: Path) -> None:
    place = policy(tmp_path)
    assert place.worker().writable == (tmp_path / "workspace", tmp_path / "own")
    assert place.for_setup().writable == (tmp_path / "workspace", tmp_path / "setup" / "home")
    assert place.gate().writable == ()


def test_the_checkout_and_the_git_directory_are_hidden_and_git_reads_a_clean_configuration(
    tmp_path: Path,
) -> None:
    place = policy(tmp_path, git_config=tmp_path / "clean")
    both = (tmp_path / "src", tmp_path / "src" / ".git")
    assert place.worker().hidden == place.for_setup().hidden == (tmp_path / "home", *both)
    assert place.gate().hidden == (tmp_path / "home", tmp_path / "src" / ".git")
    clean = Bind(source=tmp_path / "clean", target=tmp_path / "src" / ".git" / "config")
    assert clean in place.worker().binds
    assert clean in place.for_setup().binds
    assert tmp_path / "src" / ".git" / "config" not in place.worker().readable
    assert not any(bind.writable for bind in place.worker().binds)
    assert policy(tmp_path).worker().binds == ()


def test_of_the_git_directory_only_what_git_reads_is_shown(tmp_path: Path) -> None:
    git = tmp_path / "src" / ".git"
    access = policy(tmp_path, registration=git / "worktrees" / "w").worker()
    shown = {*access.readable, *(pin.target for pin in access.pinned)}
    read = ("HEAD", "objects", "refs", "packed-refs", "reftable", "info", "shallow")
    below = {path for path in shown if path.is_relative_to(git)}
    assert below == {git / name for name in read} | {git / "worktrees" / "w"}
    assert tmp_path / "workspace" / ".git" in shown
    assert not any(path.is_relative_to(git) for path in policy(tmp_path).gate().readable)
    assert policy(tmp_path).gate().pinned == ()


def test_the_worktrees_files_stand_in_for_the_checkouts_but_no_link_and_no_git(
    tmp_path: Path,
) -> None:
    place = policy(tmp_path)
    for name in ("app.py", ".git", ".venv", "pkg"):
        (tmp_path / "workspace" / name).mkdir(parents=True)
    (tmp_path / "workspace" / "link").symlink_to("/etc")
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src" / "pkg").symlink_to("/etc")
    bind = Bind(source=tmp_path / "workspace" / "app.py", target=tmp_path / "src" / "app.py")
    assert place.worker().binds == (bind,)
    assert policy(tmp_path, python=Path(sys.executable)).worker().binds == ()


def test_the_accounts_own_home_is_hidden_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account = SimpleNamespace(pw_dir="/srv/account")
    monkeypatch.setattr(pwd, "getpwuid", lambda _: account)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    hidden = hidden_places({"HOME": "/srv/elsewhere"})
    assert {Path("/srv/account"), Path("/srv/elsewhere")} <= set(hidden)
    assert Path("/root") not in hidden
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert {Path("/root"), Path("/home")} <= set(hidden_places({}))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files that root alone can read")
def test_what_only_a_sandbox_could_hide_is_looked_for_where_there_is_one() -> None:
    private = forbidden.root_only(euid=0)
    assert private
    assert hidden_places({}) == (*hidden_places({}, confined=False), *private)


def test_tools_are_shown_wherever_they_stand() -> None:
    brew = Path("/home/linuxbrew/.linuxbrew")
    assert tool_places(Path("/home/a/ruff"), None) == (Path("/home/a/ruff"), brew)
