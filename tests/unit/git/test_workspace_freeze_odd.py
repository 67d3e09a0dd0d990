"""Freezing what is odd: names, links, special files, nested repositories."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest
from support.git_repo import Repo, frozen_files

from tilth.contract.left_out import LeftOut
from tilth.git import survey
from tilth.git.changes import Skipped
from tilth.git.workspace import Workspace


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    files = {"app.py": "x = 1\n", "pkg/mod.py": "y = 1\n", ".gitignore": "build/\n"}
    return Repo(tmp_path / "repo", files)


@pytest.fixture
def base(repo: Repo) -> str:
    return repo.head()


@pytest.fixture
def work(repo: Repo) -> Workspace:
    return repo.started()


def write(work: Workspace, name: str, text: str = "new\n") -> Path:
    file = work.path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


ODD_NAMES = [
    "-rf",
    "--help",
    ":(glob)x",
    ":!x",
    "*.py",
    "a b\tc",
    "line\nbreak.py",
    'quote"d',
    "back\\slash",
    "./x".replace("/", "\u2215"),
    "café.py",
    "[x]",
    "#hash",
    "!bang",
    " lead",
    "trail ",
]


def test_odd_file_names_are_frozen_as_they_are(work: Workspace, base: str, tmp_path: Path) -> None:
    for name in ODD_NAMES:
        write(work, name, name)
        write(work, f"{name}-dir/inner", name)
    expected = dict.fromkeys(ODD_NAMES, "A") | {f"{n}-dir/inner": "A" for n in ODD_NAMES}
    assert frozen_files(work, base) == expected
    tree = work.freeze(base).tree
    assert all(work.read(tree, name) == name.encode() for name in ODD_NAMES)
    work.export(tree, tmp_path / "out")
    assert all((tmp_path / "out" / name).read_text() == name for name in ODD_NAMES)


def test_an_ignored_odd_name_stays_out(repo: Repo) -> None:
    base = repo.commit_files({".gitignore": "odd*\n:*\n"})
    work = repo.started()
    write(work, "odd\nname")
    write(work, ":(top)x")
    write(work, "-plain")
    assert frozen_files(work, base) == {"-plain": "A"}


def test_a_name_that_is_not_utf8_is_frozen_and_can_be_read(work: Workspace, base: str) -> None:
    (work.path / os.fsdecode(b"caf\xe9.py")).write_bytes(b"content")
    tree = work.freeze(base).tree
    [change] = work.changes(base, tree)
    assert change.path == "caf\\xe9.py"
    assert change.path in work.files(tree)
    assert work.read(tree, change.path) == b"content"


def test_links_and_modes_are_kept(work: Workspace, base: str, repo: Repo, tmp_path: Path) -> None:
    (work.path / "app.py").chmod(0o755)
    (work.path / "link").symlink_to("/etc/passwd")
    (work.path / "folder").symlink_to("pkg")
    tree = work.freeze(base).tree
    listing = repo.git("ls-tree", tree)
    assert "100755 blob" in next(line for line in listing.splitlines() if "app.py" in line)
    assert repo.git("cat-file", "blob", f"{tree}:link") == "/etc/passwd"
    work.export(tree, tmp_path / "out")
    assert (tmp_path / "out" / "link").readlink() == Path("/etc/passwd")
    assert (tmp_path / "out" / "folder").readlink() == Path("pkg")
    assert os.access(tmp_path / "out" / "app.py", os.X_OK)


def test_a_directory_swapped_for_a_link_takes_nothing_from_outside(
    work: Workspace, base: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mod.py").write_text("secret\n")
    shutil.rmtree(work.path / "pkg")
    (work.path / "pkg").symlink_to(outside)
    assert frozen_files(work, base) == {"pkg": "A", "pkg/mod.py": "D"}


def test_a_file_and_a_directory_may_change_places(work: Workspace, base: str) -> None:
    (work.path / "app.py").unlink()
    write(work, "app.py/__init__.py")
    shutil.rmtree(work.path / "pkg")
    write(work, "pkg")
    assert frozen_files(work, base) == {
        "app.py": "D",
        "app.py/__init__.py": "A",
        "pkg": "A",
        "pkg/mod.py": "D",
    }


def test_empty_directories_vanish(work: Workspace, base: str) -> None:
    (work.path / "empty" / "deeper").mkdir(parents=True)
    assert frozen_files(work, base) == {}


def test_sockets_and_pipes_are_passed_over_and_named(work: Workspace, base: str) -> None:
    os.mkfifo(work.path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(work.path)  # a socket's path must be short
        try:
            server.bind("sock")
        finally:
            os.chdir(here)
    assert work.freeze(base).skipped == (
        Skipped(path="pipe", why="special"),
        Skipped(path="sock", why="special"),
    )


def close(path: Path) -> None:
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads everything")


def test_an_unreadable_file_is_named_and_keeps_its_base(work: Workspace, base: str) -> None:
    close(work.path / "app.py")
    frozen = work.freeze(base)
    assert frozen.skipped == (Skipped(path="app.py", why="unreadable"),)
    assert work.changes(base, frozen.tree) == ()


def test_an_unreadable_directory_is_named_and_keeps_its_base(work: Workspace, base: str) -> None:
    close(work.path / "pkg")
    frozen = work.freeze(base)
    assert frozen.skipped == (Skipped(path="pkg", why="unreadable"),)
    assert work.changes(base, frozen.tree) == ()
    work.restore(base)
    assert (work.path / "pkg" / "mod.py").read_text() == "y = 1\n"


def test_a_huge_new_file_is_named_and_left_out(work: Workspace, base: str) -> None:
    with (work.path / "huge.bin").open("wb") as file:
        file.truncate(survey.LARGEST_NEW_FILE + 1)
    frozen = work.freeze(base)
    assert frozen.skipped == (Skipped(path="huge.bin", why="too large"),)
    assert work.changes(base, frozen.tree) == ()


@pytest.mark.parametrize("name", ["d", "d" * 200])
def test_a_chain_of_directories_beyond_reach_is_named(
    work: Workspace, base: str, name: str
) -> None:
    here = os.open(work.path, os.O_RDONLY)
    for _ in range(survey.DEEPEST + 2):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("lost.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    write(work, "kept.py")
    frozen = work.freeze(base)
    [deep] = frozen.skipped
    assert deep.why is LeftOut.TOO_DEEP
    assert deep.path.startswith(f"{name}/{name}/")
    assert [change.path for change in work.changes(base, frozen.tree)] == ["kept.py"]


def test_a_name_git_refuses_is_named(work: Workspace, base: str) -> None:
    (work.path / ".gitmodules").symlink_to("app.py")
    assert work.freeze(base).skipped == (Skipped(path=".gitmodules", why="refused"),)


def test_a_tracked_name_that_git_refuses_as_a_link_stays_as_it_was(
    repo: Repo, work: Workspace
) -> None:
    base = repo.commit_files({".gitmodules": "", "other.py": "z = 1\n"})
    work.restore(base)
    (work.path / ".gitmodules").unlink()
    (work.path / ".gitmodules").symlink_to("app.py")
    (work.path / "other.py").unlink()
    write(work, "new.py")
    assert frozen_files(work, base) == {"new.py": "A", "other.py": "D"}


def test_a_worktree_without_a_file_is_an_empty_tree(work: Workspace, base: str) -> None:
    for name in ("app.py", "pkg/mod.py", ".gitignore"):
        (work.path / name).unlink()
    assert frozen_files(work, base) == {".gitignore": "D", "app.py": "D", "pkg/mod.py": "D"}
    work.restore(base)
    assert (work.path / "pkg" / "mod.py").read_text() == "y = 1\n"


@pytest.mark.parametrize("where", ["vendored", "deep/er/vendored", "pkg"])
def test_a_nested_repository_is_reported(
    work: Workspace, base: str, repo: Repo, where: str
) -> None:
    (work.path / where).mkdir(parents=True, exist_ok=True)
    repo.git("init", "-q", where, cwd=work.path)
    write(work, "pkg/mod.py", "y = 2\n")
    frozen = work.freeze(base)
    assert frozen.nested == (where,)
    assert [change.path for change in work.changes(base, frozen.tree)] == ["pkg/mod.py"]


def test_a_nested_git_file_a_bare_repository_and_other_spellings_are_reported(
    work: Workspace, base: str, repo: Repo
) -> None:
    write(work, "linked/.git", "gitdir: /elsewhere\n")
    repo.git("init", "-q", "--bare", "bare", cwd=work.path)
    write(work, "loud/.GIT/config")
    write(work, "short/GIT~1/config")
    assert work.freeze(base).nested == ("bare", "linked", "loud", "short")


def test_a_nested_repository_below_an_ignored_directory_is_nobodys_business(
    work: Workspace, base: str, repo: Repo
) -> None:
    (work.path / "build").mkdir()
    repo.git("init", "-q", "build/dep", cwd=work.path)
    assert work.freeze(base).nested == ()


def test_a_submodule_of_the_base_stays_as_it_is(repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other").head()
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{other},libs/sub")
    repo.git("commit", "-q", "-m", "submodule")
    work, base = repo.started(), repo.head()
    repo.git("init", "-q", "libs/sub", cwd=work.path)
    write(work, "libs/sub/x.py")
    write(work, "libs/y.py")
    frozen = work.freeze(base)
    assert frozen.nested == ()
    assert [change.path for change in work.changes(base, frozen.tree)] == ["libs/y.py"]


def test_only_a_file_inside_the_worktree_counts_as_there(work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    (work.path / "out").symlink_to(tmp_path / "secret")
    (work.path / "in").symlink_to("pkg/mod.py")
    (work.path / "loop").symlink_to("loop")
    assert work.has_file("pkg/mod.py")
    assert work.has_file("./pkg/../in")
    odd = ("a\0b", "\ud800", "x" * 5000, "")
    for path in (*odd, "pkg", "missing", "out", "loop", str(tmp_path / "secret"), "../secret"):
        assert not work.has_file(path), path
