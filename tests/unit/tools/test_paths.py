"""The file tools stay inside the worktree, whatever stands in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import ToolError
from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Unconfined
from tilth.tools import Toolbox, ToolOutcome
from tilth.tools.paths import Enclosure

SECRET = "outside secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a worktree beside something that must not be reached from it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{SECRET}\n")
    inside = tmp_path / "worktree"
    (inside / "src").mkdir(parents=True)
    (inside / "src" / "a.txt").write_text("inside\n")
    return inside


def call(root: Path, name: str, **arguments: Any) -> ToolOutcome:
    box = Toolbox(root=root, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=5)
    return box.run(ToolCall(id="c1", name=name, arguments=arguments))


TOOLS: dict[str, Callable[[Path, str], ToolOutcome]] = {
    "read_file": lambda root, path: call(root, "read_file", path=path),
    "write_file": lambda root, path: call(root, "write_file", path=path, content="changed"),
    "edit_file": lambda root, path: call(
        root, "edit_file", path=path, old_string="outside", new_string="changed"
    ),
    "glob": lambda root, path: call(root, "glob", pattern="**", path=path),
    "grep": lambda root, path: call(root, "grep", pattern=".", path=path),
}


def check_refused(root: Path, tool: str, path: str) -> ToolOutcome:
    outside = root.parent / "outside"
    outcome = TOOLS[tool](root, path)
    assert outcome.is_error
    assert SECRET not in outcome.content
    assert "\n" not in outcome.content
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == f"{SECRET}\n"
    return outcome


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "src/../../outside/secret.txt",
        "/etc/passwd",
        "/",
        "..",
        "src/../..",
        "//etc/passwd",
    ],
)
def test_a_path_that_leads_out_is_refused(root: Path, tool: str, path: str) -> None:
    assert "is outside the worktree" in check_refused(root, tool, path).content


@pytest.mark.parametrize("tool", TOOLS)
def test_an_absolute_path_to_a_neighbour_is_refused(root: Path, tool: str) -> None:
    (root.parent / "worktree-2").mkdir()

    for path in (f"{root}-2/x", f"{root}/../outside/secret.txt", str(root.parent)):
        check_refused(root, tool, path)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("link.txt", "../outside/secret.txt", "link.txt"),
        ("link", "../outside", "link/secret.txt"),
        ("link", "../outside", "link/new.txt"),
        ("link", "../outside", "link"),
        ("src/link", "../../outside", "src/link/secret.txt"),
        ("dangling", "../outside/new.txt", "dangling"),
        ("loop", "loop", "loop"),
        ("inner", "src/a.txt", "inner"),
    ],
)
def test_a_symlink_is_never_followed(
    root: Path, tool: str, link: str, target: str, path: str
) -> None:
    (root / link).symlink_to(target)

    outcome = check_refused(root, tool, path)

    assert f"{link} is a symbolic link to " in outcome.content
    assert (root / "src/a.txt").read_text() == "inside\n"
    assert (root / link).is_symlink()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "path", [".git", ".git/config", ".GIT/hooks/pre-commit", "src/.git", "src/.Git/x", "./.git/x"]
)
def test_git_is_left_alone(root: Path, tool: str, path: str) -> None:
    (root / ".git").write_text("gitdir: elsewhere\n")

    outcome = check_refused(root, tool, path)

    assert "is inside .git" in outcome.content
    assert (root / ".git").read_text() == "gitdir: elsewhere\n"
    assert os.listdir(root / "src") == ["a.txt"]


@pytest.mark.parametrize("path", [".gitignore", ".github/x.yml", "git/x", "x.git"])
def test_names_that_only_look_like_git_are_fine(root: Path, path: str) -> None:
    assert not call(root, "write_file", path=path, content="x").is_error
    assert call(root, "read_file", path=path).content == "x"


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "grep"])
def test_a_named_pipe_is_refused_without_waiting(root: Path, tool: str) -> None:
    os.mkfifo(root / "pipe")

    assert check_refused(root, tool, "pipe").content == ("pipe is a named pipe, not a regular file")


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file"])
def test_a_socket_is_refused(root: Path, tool: str) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "s"))

        assert check_refused(root, tool, "s").content == "s is a socket, not a regular file"


def test_searching_past_pipes_and_links_does_not_wait_or_follow(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("../outside")
    (root / "link.txt").symlink_to("../outside/secret.txt")

    assert call(root, "grep", pattern=".").content == "src/a.txt:1: inside"
    assert call(root, "glob", pattern="**").content == "src/a.txt"
    assert "no file matches" in call(root, "glob", pattern="link/*").content


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
def test_the_other_end_of_a_hard_link_keeps_what_it_had(root: Path, tool: str) -> None:
    secret = root.parent / "outside" / "secret.txt"
    os.link(secret, root / "linked.txt")

    outcome = TOOLS[tool](root, "linked.txt")

    assert not outcome.is_error
    assert secret.read_text() == f"{SECRET}\n"
    assert "changed" in (root / "linked.txt").read_text()


@contextlib.contextmanager
def attack(step: Callable[[], None]) -> Iterator[None]:
    """Do something to the worktree over and over while the tools work in it."""
    stop = threading.Event()

    def again_and_again() -> None:
        while not stop.is_set():
            step()

    attacker = threading.Thread(target=again_and_again)
    attacker.start()
    try:
        yield
    finally:
        stop.set()
        attacker.join()


def test_a_symlink_that_is_swapped_in_while_we_read_leads_nowhere(root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("inside\n")
    (root / "link").symlink_to("../outside")
    (root.parent / "outside" / "private.txt").touch()
    box = Toolbox.for_reading(root)
    read = ToolCall(id="c1", name="read_file", arguments={"path": "dir/secret.txt"})
    glob = ToolCall(id="c2", name="glob", arguments={"pattern": "**"})

    def swap() -> None:
        for name in ("real", "link"):
            os.rename(root / name, root / "dir")
            os.rename(root / "dir", root / name)

    with attack(swap):
        contents: set[str] = set()
        # On a busy machine the swap may need its time to be seen at all.
        for number in range(100_000):
            contents.add(box.run(read).content)
            if number >= 500 and "inside\n" in contents:
                break
        listings: set[str] = set()
        for number in range(100_000):
            listings.add(box.run(glob).content)
            if number >= 500 and any("dir/secret.txt" in names for names in listings):
                break

    assert contents >= {"inside\n"}
    assert f"{SECRET}\n" not in contents
    assert any("dir/secret.txt" in names for names in listings)
    assert not any("private.txt" in names for names in listings)


def test_a_symlink_that_is_swapped_in_while_we_write_leads_nowhere(root: Path) -> None:
    folder = root / "dir"
    box = Toolbox(root=root, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=5)

    def swap() -> None:
        try:
            folder.symlink_to("../outside")
            folder.unlink()
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)

    with attack(swap):
        for index in range(500):
            arguments = {"path": f"dir/{index}.txt", "content": "x"}
            box.run(ToolCall(id="c1", name="write_file", arguments=arguments))

    assert os.listdir(root.parent / "outside") == ["secret.txt"]


def test_a_root_reached_by_a_symlink_is_still_the_root(root: Path) -> None:
    alias = root.parent / "alias"
    alias.symlink_to(root)

    for path in ("src/a.txt", str(alias / "src/a.txt"), str(root / "src/a.txt")):
        assert call(alias, "read_file", path=path).content == "inside\n"


def test_dots_are_taken_by_name(tmp_path: Path) -> None:
    enclosure = Enclosure(tmp_path)

    assert enclosure.parts("a/./b//c/../d") == ("a", "b", "d")
    assert enclosure.parts(".") == ()
    assert enclosure.parts(str(tmp_path)) == ()
    assert enclosure.parts("a/..") == ()
    with pytest.raises(ToolError, match="outside the worktree"):
        enclosure.parts("a/../../b")
