"""What a command behind bubblewrap can read and write, tried with real commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.sandbox_site import SECRET, Place, bubblewrap, outside

from tilth.base.errors import ToolError
from tilth.sandbox.confinement import Access, Bind
from tilth.sandbox.forbidden import root_only
from tilth.sandbox.interpreters import named_places


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path)


def test_the_worktree_can_be_written(place: Place) -> None:
    place.says("mkdir made && echo x > made/new.py && rm app.py && mv pkg moved")

    assert (place.workspace / "made" / "new.py").read_text() == "x\n"
    assert not (place.workspace / "app.py").exists()
    assert (place.workspace / "moved" / "mod.py").exists()


@pytest.mark.parametrize("target", ["/usr/x", "/etc/x", "/x", "/var/lib/x", "/dev/x", "/sys/x"])
def test_the_system_cannot_be_written(place: Place, target: str) -> None:
    finished = place.run(f"echo x > {target}")

    assert finished.exit_code == 1
    assert "Read-only file system" in finished.output


def test_a_program_of_the_system_cannot_be_replaced(place: Place) -> None:
    assert "Read-only file system" in place.run("echo x > /usr/bin/env").output


def test_nothing_of_the_home_can_be_seen(place: Place) -> None:
    found = place.says(f"grep -rl '{SECRET}' {place.home} {place.root} 2>/dev/null; true")

    assert found == ""
    assert place.says(f"ls -A {place.home}").split() == [".tilth", "src"]


def test_of_the_sessions_only_the_worktree_can_be_seen(place: Place) -> None:
    session = place.workspace.parent
    (session / "events.jsonl").write_text(SECRET)

    assert place.says(f"ls -A {session.parent}") == session.name
    assert "events.jsonl" not in place.says(f"ls -A {session}")
    assert place.says("pwd") == str(place.workspace)


def test_a_hidden_home_cannot_be_written_either(place: Place) -> None:
    finished = place.run(f"echo x > {place.home}/planted")

    assert "Read-only file system" in finished.output
    assert not (place.home / "planted").exists()


def test_the_sources_checkout_is_out_of_sight_with_its_uncommitted_files(place: Place) -> None:
    source = place.policy.source

    assert place.says(f"ls -A {source}") == ".git"
    assert "Read-only file system" in place.run(f"echo x > {source}/app.py").output
    assert (source / "app.py").read_text() == "x = 1\n"


def test_git_can_look_inside(place: Place) -> None:
    (place.workspace / "app.py").write_text("x = 2\n")

    assert "M app.py" in place.says("git status --porcelain")
    assert "+x = 2" in place.says("git diff")
    assert "base" in place.says("git log --oneline")


def test_git_cannot_write_inside(place: Place) -> None:
    (place.workspace / "app.py").write_text("x = 2\n")
    before = outside("git", "rev-parse", "--all", cwd=place.policy.source)

    for line in ("git add app.py", "git commit -qam x", "git branch planted", "git stash"):
        assert place.run(f"git config --global user.email a@b.c; {line}").exit_code != 0, line
    assert outside("git", "rev-parse", "--all", cwd=place.policy.source) == before


@pytest.mark.parametrize(
    "line",
    [
        "echo x > .git",
        "rm -f .git",
        "mv .git elsewhere",
        "rm .git; mkdir .git",
        "echo x > $(git rev-parse --git-dir)/index",
        "mkdir -p $(git rev-parse --git-common-dir)/hooks/x",
        "echo x >> $(git rev-parse --git-common-dir)/config",
        "chmod 777 .git",
    ],
)
def test_neither_git_directory_can_be_changed(place: Place, line: str) -> None:
    before = (place.workspace / ".git").read_text()

    finished = place.run(line)

    assert finished.exit_code != 0
    assert (place.workspace / ".git").read_text() == before


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/run", "/dev/shm"])
def test_shared_directories_are_empty_and_private(place: Place, folder: str) -> None:
    # The place and the interpreter may stand below /tmp: the way to them can be seen there.
    shown = (str(place.root), sys.prefix, sys.base_prefix)
    top = {path.removeprefix(f"{folder}/").split("/")[0] for path in shown}

    seen = place.says(f"echo x > {folder}/made-inside && ls -A {folder}").split()

    assert set(seen) <= {"made-inside", *top}
    assert not Path(folder, "made-inside").exists()


def test_the_interpreter_and_the_tools_work_though_the_home_is_hidden(place: Place) -> None:
    assert place.says("python -c 'import sys; print(sys.prefix)'") == sys.prefix
    assert "pytest" in place.says("python -m pytest --version")
    assert place.says("ruff --version").startswith("ruff")


def test_a_virtual_environment_in_the_hidden_checkout_works_and_cannot_be_changed(
    place: Place,
) -> None:
    venv = place.policy.source / ".venv"
    outside(sys.executable, "-m", "venv", "--without-pip", str(venv), cwd=place.root)
    python = venv / "bin" / "python"
    shown = place.with_policy(python=python, shown=(venv,))

    assert shown.says(f"{python} -c 'import sys; print(sys.prefix)'") == str(venv)
    assert "Read-only file system" in shown.run(f"echo x > {venv}/pyvenv.cfg").output


def test_an_editable_install_of_the_checkout_finds_the_worktree(place: Place) -> None:
    venv = place.policy.source / ".venv"
    outside(sys.executable, "-m", "venv", "--without-pip", str(venv), cwd=place.root)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "shop.pth").write_text(f"{place.policy.source}\n")
    python = venv / "bin" / "python"
    (place.workspace / "pkg" / "mod.py").write_text("y = 'from the worktree'\n")

    said = place.with_policy(python=python, shown=(venv,)).says(
        f"cd / && {python} -c 'import pkg.mod; print(pkg.mod.y)'"
    )

    assert said == "from the worktree"


def test_an_interpreter_reached_by_links_through_the_hidden_home_works(place: Place) -> None:
    links = place.home / "bin"
    links.mkdir()
    (links / "python-now").symlink_to("python-real")
    (links / "python-real").symlink_to(sys.executable)
    python = links / "python-now"
    shown = place.with_policy(python=python, shown=named_places(python, place.policy.hidden))

    assert shown.says(f"{links}/python-now -c 'print(1)'") == "1"
    assert SECRET not in shown.run(f"cat {place.home}/.ssh/id_rsa").output


def test_a_link_in_the_worktree_leads_nowhere_hidden(place: Place) -> None:
    (place.workspace / "way").symlink_to(place.home / ".ssh")

    assert SECRET not in place.run("cat way/id_rsa").output


def test_a_bind_is_dropped_when_a_command_led_its_source_elsewhere(place: Place) -> None:
    shown = place.root / "shown"
    shown.mkdir()
    bind = Bind(source=place.workspace / "pkg", target=shown)
    access = place.policy.worker().model_copy(update={"binds": (bind,), "readable": (shown,)})
    assert place.says(f"ls {shown}", access) == "mod.py"

    place.says(f"rm -r pkg && ln -s {place.home}/.ssh pkg")

    assert place.says(f"ls {shown}", access) == ""


def test_a_mount_point_that_became_a_link_is_refused(place: Place) -> None:
    (place.workspace / "sub").symlink_to("/etc")
    bind = Bind(source=place.policy.venv, target=place.workspace / "sub" / "x")
    with pytest.raises(ToolError, match="is a link where the sandbox needs a plain path"):
        place.run("true", Access(writable=(place.workspace,), binds=(bind,)))


def test_a_missing_writable_directory_is_said(place: Place) -> None:
    with pytest.raises(ToolError, match=r"/gone does not exist"):
        place.run("true", Access(writable=(place.workspace / "gone",)))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could read them in the first place")
def test_what_root_alone_may_read_is_hidden_from_root(place: Place) -> None:
    closed = [path for path in root_only(euid=0) if path.is_file() and path.stat().st_size]
    assert Path("/etc/shadow") in closed

    finished = place.run(f"cat {' '.join(map(str, closed))}")

    assert finished.exit_code == 1
    assert {line.rpartition(": ")[2] for line in finished.output.splitlines()} <= {
        "Permission denied",
        "No such file or directory",
    }


def test_bubblewrap_is_what_these_tests_ran_behind(place: Place) -> None:
    assert place.wall == bubblewrap()
