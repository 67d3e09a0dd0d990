"""Freezing: what enters the tree, and what can neither hide nor slip in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.git_repo import Repo, frozen_files

from tilth.base.errors import WorkspaceError
from tilth.git.workspace import Workspace


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(
        tmp_path / "repo",
        {
            "app.py": "x = 1\n",
            "gone.py": "gone\n",
            "pkg/mod.py": "y = 1\n",
            ".gitignore": "build/\n*.log\n.env\n!keep.log\n",
            "pkg/.gitignore": "/generated.py\n",
        },
    )


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


def test_an_untouched_worktree_freezes_to_the_base(work: Workspace, base: str, repo: Repo) -> None:
    assert work.freeze(base).tree == repo.git("rev-parse", "HEAD^{tree}").strip()


def test_edits_additions_and_removals_are_frozen(work: Workspace, base: str) -> None:
    write(work, "app.py", "x = 2\n")
    write(work, "pkg/deep/er/new.py")
    (work.path / "gone.py").unlink()
    assert frozen_files(work, base) == {"app.py": "M", "gone.py": "D", "pkg/deep/er/new.py": "A"}


def test_a_same_size_edit_with_its_old_times_is_seen(work: Workspace, base: str) -> None:
    file = work.path / "app.py"
    before = file.stat()
    file.write_text("x = 7\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert frozen_files(work, base) == {"app.py": "M"}


def test_edits_made_after_the_freeze_are_not_in_it(work: Workspace, base: str) -> None:
    write(work, "app.py", "x = 2\n")
    tree = work.freeze(base).tree
    write(work, "app.py", "x = 3\n")
    assert work.read(tree, "app.py") == b"x = 2\n"


def test_what_the_base_ignores_stays_out(work: Workspace, base: str) -> None:
    for name in ("build/out.bin", "pkg/build/out.bin", "a.log", ".env", "pkg/generated.py"):
        write(work, name)
    write(work, "keep.log")
    write(work, "generated.py")
    assert frozen_files(work, base) == {"keep.log": "A", "generated.py": "A"}


def test_a_file_named_like_an_ignored_directory_is_frozen(work: Workspace, base: str) -> None:
    write(work, "build")
    assert frozen_files(work, base) == {"build": "A"}


def test_an_ignore_file_of_the_workers_hides_nothing(
    work: Workspace, base: str, repo: Repo
) -> None:
    write(work, ".gitignore", "*\n")
    write(work, "hidden.py")
    write(work, "sub/.gitignore", "*\n")
    write(work, "sub/hidden.py")
    exclude = repo.root / ".git" / "info" / "exclude"
    exclude.write_text("hidden.py\n")
    assert frozen_files(work, base) == {
        ".gitignore": "M",
        "hidden.py": "A",
        "sub/.gitignore": "A",
        "sub/hidden.py": "A",
    }


def test_a_deleted_ignore_file_lets_no_build_output_in(work: Workspace, base: str) -> None:
    (work.path / ".gitignore").unlink()
    write(work, "build/out.bin")
    assert frozen_files(work, base) == {".gitignore": "D"}


def test_a_tracked_file_is_frozen_though_a_pattern_ignores_it(repo: Repo) -> None:
    base = repo.commit_files({"build/kept.txt": "one\n"})
    work = repo.started()
    write(work, "build/kept.txt", "two\n")
    write(work, "build/other.txt")
    assert frozen_files(work, base) == {"build/kept.txt": "M"}


def test_flags_in_the_workers_index_hide_nothing(work: Workspace, base: str, repo: Repo) -> None:
    write(work, "app.py", "x = 2\n")
    write(work, "pkg/mod.py", "y = 2\n")
    repo.git("update-index", "--assume-unchanged", "app.py", cwd=work.path)
    repo.git("update-index", "--skip-worktree", "pkg/mod.py", cwd=work.path)
    assert frozen_files(work, base) == {"app.py": "M", "pkg/mod.py": "M"}


def test_the_workers_own_commits_make_no_difference(work: Workspace, base: str, repo: Repo) -> None:
    write(work, "committed.py")
    repo.git("add", "-A", cwd=work.path)
    repo.git("commit", "-q", "-m", "mine", cwd=work.path)
    write(work, "app.py", "x = 2\n")
    assert frozen_files(work, base) == {"committed.py": "A", "app.py": "M"}


def test_locks_and_a_broken_git_file_do_not_matter(work: Workspace, base: str, repo: Repo) -> None:
    [registration] = (repo.root / ".git" / "worktrees").iterdir()
    (registration / "index.lock").touch()
    (registration / "index").write_bytes(b"garbage")
    (repo.root / ".git" / "index.lock").touch()
    (work.path / ".git").write_text("gitdir: /nowhere\n")
    write(work, "app.py", "x = 2\n")
    assert frozen_files(work, base) == {"app.py": "M"}


def test_a_git_directory_in_place_of_the_git_file_does_not_matter(
    work: Workspace, base: str, repo: Repo
) -> None:
    (work.path / ".git").unlink()
    repo.git("init", "-q", cwd=work.path)
    write(work, "app.py", "x = 2\n")
    assert frozen_files(work, base) == {"app.py": "M"}


def test_caches_and_virtual_environments_never_enter(work: Workspace, base: str) -> None:
    for name in (
        "__pycache__/app.cpython-311.pyc",
        "pkg/__pycache__/x.txt",
        ".pytest_cache/v/x",
        ".ruff_cache/x",
        ".mypy_cache/x",
        "loose.pyc",
        ".venv/lib/x.py",
        "my-env/pyvenv.cfg",
        "my-env/lib/x.py",
        "web/node_modules/x/index.js",
        "web/index.js",
    ):
        write(work, name)
    assert frozen_files(work, base) == {"web/index.js": "A"}


def test_what_looks_like_a_cache_but_is_tracked_is_frozen(repo: Repo) -> None:
    base = repo.commit_files({"node_modules/own/index.js": "1\n", "env/pyvenv.cfg": "1\n"})
    work = repo.started()
    write(work, "node_modules/own/index.js", "2\n")
    write(work, "node_modules/own/more.js")
    write(work, "env/more.py")
    assert frozen_files(work, base) == {
        "node_modules/own/index.js": "M",
        "node_modules/own/more.js": "A",
        "env/more.py": "A",
    }


def test_a_missing_worktree_is_an_error_not_an_empty_tree(work: Workspace, base: str) -> None:
    shutil.rmtree(work.path)
    with pytest.raises(WorkspaceError, match="workspace: No such file"):
        work.freeze(base)


def test_bytes_are_kept_whatever_the_attributes_say(
    work: Workspace, base: str, repo: Repo, tmp_path: Path
) -> None:
    attributes = "*.txt text eol=lf\n*.id ident\n*.enc working-tree-encoding=UTF-16LE\n"
    write(work, ".gitattributes", attributes)
    contents = {
        "crlf.txt": b"one\r\ntwo\n",
        "x.id": b"$Id$ $Id: abc $\n",
        "x.enc": "text".encode("utf-16-le"),
        "bom.txt": b"\xef\xbb\xbfbom\r\n",
    }
    for name, content in contents.items():
        (work.path / name).write_bytes(content)
    tree = work.freeze(base).tree
    work.export(tree, tmp_path / "out")
    for name, content in contents.items():
        assert work.read(tree, name) == content
        assert (tmp_path / "out" / name).read_bytes() == content


def test_an_export_holds_files_that_attributes_would_hide(
    work: Workspace, base: str, tmp_path: Path
) -> None:
    write(work, ".gitattributes", "*.py export-ignore\n*.md export-subst\n")
    write(work, "hidden.py")
    write(work, "notes.md", "$Format:%H$\n")
    out = tmp_path / "out"
    work.export(work.freeze(base).tree, out)
    assert (out / "hidden.py").read_text() == "new\n"
    assert (out / "notes.md").read_text() == "$Format:%H$\n"
    assert (out / "pkg" / "mod.py").exists()
    assert not (out / ".git").exists()


def test_an_export_takes_the_place_of_what_stands_there(
    work: Workspace, base: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "app.py").mkdir(parents=True)
    (out / "app.py" / "inside").touch()
    (out / "own.txt").write_text("stays\n")
    work.export(base, out)
    assert (out / "app.py").read_text() == "x = 1\n"
    assert (out / "own.txt").read_text() == "stays\n"


@pytest.mark.parametrize("attributes", ["* -diff\n", "* binary\n", "*.py diff=nothing -text\n"])
def test_no_attribute_hides_a_change_from_the_diff(
    work: Workspace, base: str, attributes: str
) -> None:
    write(work, ".gitattributes", attributes)
    write(work, "app.py", "x = 2\n")
    diff = work.diff(base, work.freeze(base).tree)
    assert "-x = 1\n+x = 2\n" in diff


def test_a_diff_names_binary_files_and_plain_paths(work: Workspace, base: str) -> None:
    (work.path / "data.bin").write_bytes(b"\0binary")
    (work.path / "pkg" / "mod.py").rename(work.path / "moved é.py")
    (work.path / "latin.txt").write_bytes(b"caf\xe9\n")
    diff = work.diff(base, work.freeze(base).tree)
    assert "Binary files /dev/null and b/data.bin differ" in diff
    assert "--- a/pkg/mod.py\n+++ /dev/null" in diff
    assert "+++ b/moved é.py" in diff
    assert "+caf\\xe9\n" in diff


def test_reading_follows_links_inside_the_tree_only(work: Workspace, base: str) -> None:
    (work.path / "AGENTS.md").symlink_to("docs/rules.md")
    write(work, "docs/rules.md", "rules\n")
    (work.path / "docs" / "up.md").symlink_to("../AGENTS.md")
    (work.path / "out.md").symlink_to("../../secret")
    (work.path / "abs.md").symlink_to("/etc/passwd")
    (work.path / "loop.md").symlink_to("loop.md")
    tree = work.freeze(base).tree
    assert work.read(tree, "AGENTS.md") == work.read(tree, "docs/up.md") == b"rules\n"
    for name in (
        "out.md",
        "abs.md",
        "loop.md",
        "docs",
        "missing",
        "",
        "../x",
        "/etc/passwd",
        "a\0b",
        "\ud800",
    ):
        assert work.read(tree, name) is None
