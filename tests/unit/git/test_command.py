"""The git wrapper: nothing in a repository or in the environment makes it run code."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.git_repo import SESSION, Repo

from tilth.base.errors import DiskError, UserError, WorkspaceError
from tilth.git.command import Git, scratch, shown, unshown, visible
from tilth.git.commits import done_message, failed_message
from tilth.git.source import open_source
from tilth.git.workspace import Workspace

HOOKS = (
    "post-checkout",
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
    "post-rewrite",
    "fsmonitor-watchman",
)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


class Trap:
    """A program that leaves a mark when anybody starts it."""

    def __init__(self, root: Path) -> None:
        self.mark = root / "mark"
        self.program = root / "trap"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{self.mark}"\ncat\n')
        self.program.chmod(0o755)

    def sprung(self) -> str:
        return self.mark.read_text() if self.mark.exists() else ""

    def clear(self) -> None:
        self.mark.unlink(missing_ok=True)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


def evil_settings(trap: Trap) -> dict[str, str]:
    program = str(trap.program)
    return {
        "core.fsmonitor": program,
        "core.pager": program,
        "core.editor": program,
        "core.sshCommand": program,
        "core.gitProxy": program,
        "core.alternateRefsCommand": program,
        "diff.external": program,
        "diff.evil.command": program,
        "diff.evil.textconv": program,
        "filter.evil.clean": program,
        "filter.evil.smudge": program,
        "filter.evil.required": "true",
        "filter.slow.process": program,
        "filter.slow.required": "true",
        "merge.evil.driver": program,
        "commit.gpgSign": "true",
        "tag.gpgSign": "true",
        "log.showSignature": "true",
        "gpg.program": program,
        "credential.helper": program,
        "alias.status": f"!{program}",
        "alias.freeze": f"!{program}",
    }


ATTRIBUTES = "*.py filter=evil diff=evil merge=evil\n*.txt filter=slow diff=evil\n"


def in_the_repository(repo: Repo, trap: Trap) -> None:
    for key, value in evil_settings(trap).items():
        repo.git("config", key, value)


def in_an_included_file(repo: Repo, trap: Trap) -> None:
    included = repo.root.parent / "included"
    for key, value in evil_settings(trap).items():
        repo.git("config", "--file", str(included), key, value)
    repo.git("config", "include.path", str(included))


def in_the_worktree_configuration(repo: Repo, trap: Trap) -> None:
    repo.git("config", "extensions.worktreeConfig", "true")
    for key, value in evil_settings(trap).items():
        repo.git("config", "--worktree", key, value)


def as_hooks(repo: Repo, trap: Trap) -> None:
    for hook in HOOKS:
        shutil.copy(trap.program, repo.root / ".git" / "hooks" / hook)


def as_hooks_elsewhere(repo: Repo, trap: Trap) -> None:
    elsewhere = repo.root.parent / "hooks"
    elsewhere.mkdir()
    for hook in HOOKS:
        shutil.copy(trap.program, elsewhere / hook)
    repo.git("config", "core.hooksPath", str(elsewhere))


def live_a_whole_life(repo: Repo, work: Workspace, base: str) -> None:
    """Do everything a session does with git."""
    (work.path / ".gitattributes").write_text(ATTRIBUTES)
    (work.path / "app.py").write_text("x = 2\n")
    (work.path / "new.txt").write_text("new\n")
    frozen = work.freeze(base)
    assert "+x = 2" in work.diff(base, frozen.tree)
    work.export(frozen.tree, repo.root.parent / "export")
    message = failed_message("iter_cap", "T-001", "title", session=SESSION)
    failed = work.commit(tree=frozen.tree, parent=base, message=message)
    ref = f"refs/tilth/{SESSION}/T-001"
    work.set_aside(ref, failed, base)
    assert work.apply_aside(ref)
    work.restore(base)
    message = done_message("T-001", "title", session=SESSION, verdict="accept")
    work.commit(tree=frozen.tree, parent=base, message=message)
    work.rebuild()
    assert work.read(work.tip() or "", "new.txt") == b"new\n"
    assert len(work.commits(base)) == 1
    assert work.remove().branch


@pytest.mark.parametrize(
    "plant",
    [
        in_the_repository,
        in_an_included_file,
        in_the_worktree_configuration,
        as_hooks,
        as_hooks_elsewhere,
    ],
)
def test_nothing_planted_in_the_repository_runs(
    repo: Repo, trap: Trap, plant: Callable[[Repo, Trap], None]
) -> None:
    base = repo.commit_files({".gitattributes": ATTRIBUTES, "data.txt": "data\n"})
    before = repo.own_state()
    plant(repo, trap)
    trap.clear()
    work = repo.workspace()
    work.create(base)
    live_a_whole_life(repo, work, base)
    assert trap.sprung() == ""
    index, head, branch, _ = before
    assert (repo.root / ".git" / "index").read_bytes() == index
    assert (repo.root / ".git" / "HEAD").read_text() == head
    assert (repo.root / ".git" / "refs" / "heads" / "main").read_text() == branch


@pytest.mark.parametrize("plant", [in_the_repository, in_an_included_file, as_hooks])
def test_the_trap_works_on_git_itself(
    repo: Repo, trap: Trap, plant: Callable[[Repo, Trap], None]
) -> None:
    repo.commit_files({".gitattributes": "*.py filter=evil\n"})
    plant(repo, trap)
    (repo.root / "app.py").write_text("x = 2\n")
    repo.git("add", "-A")
    repo.git("-c", "commit.gpgSign=false", "commit", "-q", "-m", "sprung")
    assert trap.sprung() != ""


def test_nothing_in_the_users_environment_reaches_git(
    repo: Repo, trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for key, value in evil_settings(trap).items():
        repo.git("config", "--file", str(home / ".gitconfig"), key, value)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap.program))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.program))
    base = repo.commit_files({".gitattributes": ATTRIBUTES})
    trap.clear()
    work = repo.workspace()
    work.create(base)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "garbage")
    live_a_whole_life(repo, work, base)
    assert trap.sprung() == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [("core.worktree", "/nonexistent"), ("core.bare", "true"), ("core.splitIndex", "true")],
)
def test_settings_that_point_elsewhere_are_disregarded(repo: Repo, key: str, value: str) -> None:
    work, base = repo.workspace(), repo.head()
    repo.git("config", key, value)
    work.create(base)
    live_a_whole_life(repo, work, base)


def test_a_program_called_git_in_the_worktree_is_not_run(
    repo: Repo, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, base = repo.started(), repo.head()
    shutil.copy(trap.program, work.path / "git")
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    monkeypatch.chdir(work.path)
    work.freeze(base)
    assert trap.sprung() == ""


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "wide", hashing="sha256")
    work, base = repo.started(), repo.head()
    live_a_whole_life(repo, work, base)
    assert len(base) == 64


def test_a_failure_names_the_command_the_code_and_what_git_said(repo: Repo) -> None:
    git = Git(repo.root / ".git", repo.root)
    with pytest.raises(WorkspaceError) as caught:
        git.run("rev-parse", "--verify", "no\x1b[31msuch")
    assert str(caught.value) == ("git rev-parse failed (exit 128): fatal: Needed a single revision")
    with pytest.raises(WorkspaceError) as caught:
        git.run("cat-file", "blob", "no\x1b[31m\nsuch")
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_object_is_an_error(repo: Repo) -> None:
    git = Git(repo.root / ".git", repo.root)
    with pytest.raises(WorkspaceError, match=f"object {'0' * 40} is missing"):
        git.read_objects([repo.head(), "0" * 40])


def test_two_repositories_share_no_content_that_is_kept(tmp_path: Path) -> None:
    one, other = Repo(tmp_path / "one", {"a.txt": "one\n"}), Repo(tmp_path / "other")
    name = one.git("rev-parse", "HEAD:a.txt").strip()
    holder, stranger = (Git(repo.root / ".git", repo.root) for repo in (one, other))
    assert holder.read_objects([name]) == [b"one\n"]
    with pytest.raises(WorkspaceError, match=f"object {name} is missing"):
        stranger.read_objects([name])
    # Once the first has lost it, what was kept is still the first's alone.
    (one.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    assert holder.read_objects([name]) == [b"one\n"]
    with pytest.raises(WorkspaceError, match=f"object {name} is missing"):
        stranger.read_objects([name])


def test_a_machine_without_git_is_told_to_install_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(UserError, match="git is not on PATH: install git"):
        open_source(repo.root)


def test_a_temporary_directory_that_is_gone_is_a_disk_error(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, base = repo.started(), repo.head()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(DiskError, match="gone"):
        work.freeze(base)


def test_a_scratch_leaves_nothing_behind(repo: Repo) -> None:
    with scratch(repo.root / ".git", repo.head()) as lent:
        root = lent.root
        assert root.is_dir()
    assert not root.exists()


def test_text_from_outside_is_made_visible() -> None:
    assert visible("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\nb\\u202e"
    assert shown(b"caf\xe9\xc3\xa9") == "caf\\xe9é"
    assert unshown(shown(b"caf\xe9\xc3\xa9")) == b"caf\xe9\xc3\xa9"


EXT, FILE, OTHER = "ext::{program}", "file://{root}/gone", "trap::anything"
SWITCH, WHITELIST = "GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL"


@pytest.mark.parametrize(
    ("scheme", "unknown"),
    [
        *((scheme, ()) for scheme in (EXT, FILE, OTHER)),
        # A git before 2.44, and before what was handed down from it, knows no such switch.
        *((scheme, (SWITCH,)) for scheme in (EXT, FILE, OTHER)),
        # What is forbidden by its name is so without the rest.
        *((scheme, (SWITCH, WHITELIST)) for scheme in (EXT, FILE)),
    ],
)
def test_a_missing_object_is_not_fetched_whatever_the_repository_allows(
    repo: Repo,
    trap: Trap,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    unknown: tuple[str, ...],
) -> None:
    # One that ends at once: whoever talks to it would wait for an answer for ever.
    trap.program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{trap.mark}"\n')
    helper = tmp_path / "bin" / "git-remote-trap"
    helper.parent.mkdir()
    shutil.copy(trap.program, helper)
    older = helper.with_name("git")
    forgets = " ".join(f"-u {name}" for name in unknown)
    older.write_text(f'#!/bin/sh\nexec env {forgets} {shutil.which("git")} "$@"\n')
    older.chmod(0o755)
    monkeypatch.setenv("PATH", f"{helper.parent}:{os.environ['PATH']}")
    base = repo.head()
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.partialClone", "origin")
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "remote.origin.url", scheme.format(program=trap.program, root=tmp_path))
    repo.git("config", "remote.origin.uploadpack", str(trap.program))
    for name in ("ext", "file", "trap"):
        repo.git("config", f"protocol.{name}.allow", "always")
    git_dir = repo.root / ".git"
    missing = repo.git("rev-parse", f"{base}:app.py").strip()
    (git_dir / "objects" / missing[:2] / missing[2:]).unlink()

    with pytest.raises(WorkspaceError):
        Git(git_dir, git_dir).run("cat-file", "-p", missing)
    assert trap.sprung() == ""

    if not scheme.startswith("file"):
        # The trap itself works: git as a user runs it steps into it.
        with pytest.raises(subprocess.CalledProcessError):
            repo.git("cat-file", "-p", missing)
        assert trap.sprung() != ""


def test_a_git_that_cannot_be_told_to_sync_has_its_refs_synced_for_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older" / "git"
    older.parent.mkdir()
    said = tmp_path / "said"
    older.write_text(
        '#!/bin/sh\nif [ "$1" = version ]; then echo git version 2.35.8; exit; fi\n'
        f'echo "$*" >> {said}\nexec {shutil.which("git")} "$@"\n'
    )
    older.chmod(0o755)
    synced: list[str] = []
    really = os.fsync

    def note(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        really(handle)

    monkeypatch.setattr(os, "fsync", note)
    repo.started("20260102-030405-aaaaaa")
    ref = f"{repo.root}/.git/refs/heads/session/20260102-030405-bbbbbb"
    assert not [path for path in synced if path.startswith(str(repo.root))]

    monkeypatch.setenv("PATH", f"{older.parent}:{os.environ['PATH']}")
    repo.started("20260102-030405-bbbbbb")

    assert {ref, os.path.dirname(ref)} <= set(synced)
    assert "core.fsyncObjectFiles=true" in said.read_text()
    assert "core.fsync=" not in said.read_text()
