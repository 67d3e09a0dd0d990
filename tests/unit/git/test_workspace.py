"""The session's branch and worktree: created, committed to, put back, rebuilt, removed."""

from __future__ import annotations

import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.git_repo import SESSION, Repo, StoppedClock, frozen_files

from tilth.base.errors import UserError, WorkspaceError
from tilth.git.commits import CommitMessage, done_message, failed_message, seed_message
from tilth.git.workspace import Removed, Workspace

ASIDE = f"refs/tilth/{SESSION}/T-001"
DONE = done_message("T-001", "Add a door", session=SESSION, verdict="accept")
FAILED = failed_message("iter_cap", "T-001", "Add a door", session=SESSION)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    files = {"app.py": "x = 1\n", "pkg/mod.py": "y = 1\n", ".gitignore": ".env\nbuild/\n"}
    return Repo(tmp_path / "repo", files)


@pytest.fixture
def base(repo: Repo) -> str:
    return repo.head()


@pytest.fixture
def work(repo: Repo) -> Workspace:
    return repo.started()


def status(repo: Repo, work: Workspace) -> str:
    return repo.git("status", "--porcelain", "-uall", cwd=work.path)


def land(work: Workspace, base: str, message: CommitMessage = DONE) -> str:
    return work.commit(tree=work.freeze(base).tree, parent=base, message=message)


def test_a_new_workspace_stands_on_its_own_branch(repo: Repo, base: str) -> None:
    before = repo.own_state()
    work = repo.workspace()
    assert work.tip() is None
    assert not work.attached()
    work.create(base)
    assert work.attached()
    assert work.tip() == base
    assert repo.git("symbolic-ref", "HEAD", cwd=work.path).strip() == f"refs/heads/{work.branch}"
    assert status(repo, work) == ""
    assert (work.path / "pkg" / "mod.py").read_text() == "y = 1\n"
    assert repo.own_state() == before


@pytest.mark.parametrize("umask", [0, 0o022])
def test_nobody_else_may_look_into_a_worktree_whatever_the_umask(
    repo: Repo, base: str, umask: int
) -> None:
    work = repo.workspace()
    before = os.umask(umask)
    try:
        work.create(base)
        assert stat.S_IMODE(work.path.stat().st_mode) == 0o700
        work.path.chmod(0)
        work.rebuild()
        assert stat.S_IMODE(work.path.stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_a_branch_that_exists_is_not_taken_over(repo: Repo, base: str) -> None:
    repo.git("branch", f"session/{SESSION}")
    work = repo.workspace()
    with pytest.raises(UserError, match="exists already: resume or reset"):
        work.create(base)
    assert not work.path.exists()


def test_two_sessions_live_side_by_side(repo: Repo, work: Workspace, base: str) -> None:
    other = repo.started("20260102-030405-bbbbbb")
    (other.path / "app.py").write_text("x = 2\n")
    land(other, base)
    assert work.tip() == base
    assert other.remove().registration
    assert work.attached()
    assert status(repo, work) == ""


@pytest.mark.parametrize("session", ["", "..", "a/b", "-x", "a*", "a b"])
def test_a_session_id_that_could_reach_elsewhere_is_refused(repo: Repo, session: str) -> None:
    with pytest.raises(UserError, match="is not a session id"):
        repo.workspace(session)


def test_a_commit_holds_the_frozen_tree_and_leaves_a_clean_status(
    repo: Repo, work: Workspace, base: str
) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    (work.path / "new.py").write_text("new\n")
    frozen = work.freeze(base)
    (work.path / "late.py").write_text("late\n")
    commit = work.commit(tree=frozen.tree, parent=base, message=DONE)
    assert work.tip() == commit
    shown = repo.git("show", "-s", "--format=%an <%ae> %at|%cn <%ce> %ct|%P|%T|%B", commit)
    # In seconds: how git writes a date for people changes with its version.
    who = f"Tilth <tilth@localhost> {int(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp())}"
    assert shown.strip() == f"{who}|{who}|{base}|{frozen.tree}|{DONE.text()}".strip()
    assert status(repo, work) == "?? late.py\n"


def test_a_commit_without_a_change_can_be_made(work: Workspace, base: str) -> None:
    commit = land(work, base, FAILED)
    assert commit != base
    assert work.changes(base, commit) == ()


def test_a_commit_needs_no_identity_and_no_key(
    repo: Repo, work: Workspace, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "gpg.program", "/nonexistent")
    repo.git("config", "user.useConfigOnly", "true")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    land(work, base)
    assert repo.git("log", "-1", "--format=%an %cn", work.branch) == "Tilth Tilth\n"


def test_a_branch_that_somebody_else_moved_is_left_as_it_is(
    repo: Repo, work: Workspace, base: str
) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    repo.git("commit", "-q", "-a", "-m", "theirs", cwd=work.path)
    theirs = work.tip()
    with pytest.raises(WorkspaceError, match="was moved by somebody else"):
        land(work, base)
    with pytest.raises(WorkspaceError, match="was moved by somebody else"):
        work.set_aside(ASIDE, base, repo.head())
    assert work.tip() == theirs != base
    assert work.asides() == ()


def test_a_commit_overrules_what_the_worker_did_to_its_worktree(
    repo: Repo, work: Workspace, base: str
) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    repo.git("checkout", "-q", "-b", "elsewhere", cwd=work.path)
    repo.git("update-index", "--assume-unchanged", "app.py", cwd=work.path)
    [registration] = (repo.root / ".git" / "worktrees").iterdir()
    (registration / "index.lock").touch()
    commit = land(work, base)
    assert work.tip() == commit
    assert repo.git("rev-parse", f"{commit}^").strip() == base
    assert repo.git("symbolic-ref", "HEAD", cwd=work.path).strip() == f"refs/heads/{work.branch}"
    (work.path / "app.py").write_text("x = 3\n")
    assert status(repo, work) == " M app.py\n"


def test_a_broken_git_file_is_mended_by_the_next_commit(
    repo: Repo, work: Workspace, base: str
) -> None:
    (work.path / ".git").unlink()
    repo.git("init", "-q", cwd=work.path)
    land(work, base)
    assert status(repo, work) == ""


def test_a_commit_on_a_lost_branch_is_an_error(repo: Repo, work: Workspace, base: str) -> None:
    tree = work.freeze(base).tree
    repo.git("update-ref", "-d", f"refs/heads/{work.branch}")
    with pytest.raises(WorkspaceError, match=f"branch {work.branch} is gone"):
        work.commit(tree=tree, parent=base, message=DONE)


def test_the_sessions_own_commits_are_read_oldest_first(
    repo: Repo, work: Workspace, base: str
) -> None:
    repo.commit_files({"other.py": "1\n"})
    failed = land(work, base, FAILED)
    repo.git("commit", "-q", "--allow-empty", "-m", "by hand", cwd=work.path)
    by_hand = work.tip() or ""
    done = work.commit(tree=work.freeze(by_hand).tree, parent=by_hand, message=DONE)
    records = work.commits(base)
    assert [(record.id, record.failed, record.task) for record in records] == [
        (failed, True, "T-001"),
        (done, False, "T-001"),
    ]


def test_restoring_leaves_nothing_of_a_task_but_what_is_ignored(
    repo: Repo, work: Workspace, base: str
) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    shutil.rmtree(work.path / "pkg")
    (work.path / "pkg").symlink_to("/etc")
    (work.path / "left" / "over" / "__pycache__").mkdir(parents=True)
    (work.path / "left" / "over" / "x.py").touch()
    repo.git("init", "-q", "nested", cwd=work.path)
    os.mkfifo(work.path / "pipe")
    (work.path / ".gitignore").write_text("*\n")
    for name in (".env", "build/out", ".venv/pyvenv.cfg"):
        (work.path / name).parent.mkdir(exist_ok=True)
        (work.path / name).write_text("kept")
    work.restore(base)
    assert status(repo, work) == "?? .venv/pyvenv.cfg\n"
    kept = {".git", ".gitignore", "app.py", "pkg", ".env", "build", ".venv"}
    assert {entry.name for entry in work.path.iterdir()} == kept
    assert (work.path / "pkg" / "mod.py").read_text() == "y = 1\n"
    assert (work.path / "build" / "out").read_text() == "kept"


def test_restoring_removes_even_what_is_closed(work: Workspace, base: str) -> None:
    closed = work.path / "vendor"
    (closed / ".git").mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0o500)
    work.restore(base)
    assert not closed.exists()


def test_work_set_aside_comes_back(repo: Repo, work: Workspace, base: str) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    (work.path / "data.bin").write_bytes(bytes(range(256)))
    failed = land(work, base, FAILED)
    work.set_aside(ASIDE, failed, base)
    work.set_aside(ASIDE, failed, base)
    assert (work.aside(ASIDE), work.tip(), status(repo, work)) == (failed, base, "")
    (work.path / "pkg" / "mod.py").write_text("y = 2\n")
    tip = land(work, base)
    assert work.apply_aside(ASIDE)
    assert work.tip() == tip
    assert frozen_files(work, tip) == {"app.py": "M", "data.bin": "A"}
    assert (work.path / "pkg" / "mod.py").read_text() == "y = 2\n"
    assert status(repo, work) == " M app.py\n?? data.bin\n"
    work.drop_aside(ASIDE)
    work.drop_aside(ASIDE)
    assert work.aside(ASIDE) is None


def test_work_that_no_longer_fits_leaves_the_worktree_clean(
    repo: Repo, work: Workspace, base: str
) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    work.set_aside(ASIDE, land(work, base, FAILED), base)
    (work.path / "app.py").write_text("x = 3\n")
    tip = land(work, base)
    (work.path / "stray.py").touch()
    assert not work.apply_aside(ASIDE)
    assert frozen_files(work, tip) == {}
    assert (work.path / "app.py").read_text() == "x = 3\n"
    assert status(repo, work) == ""


def test_an_empty_failure_set_aside_comes_back_as_nothing(work: Workspace, base: str) -> None:
    work.set_aside(ASIDE, land(work, base, FAILED), base)
    assert work.apply_aside(ASIDE)
    assert frozen_files(work, base) == {}


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/tilth/other/T-001"])
def test_a_ref_of_somebody_else_is_refused(work: Workspace, base: str, ref: str) -> None:
    with pytest.raises(WorkspaceError, match="is not below refs/tilth/"):
        work.set_aside(ref, base, base)
    with pytest.raises(WorkspaceError, match="nothing is set aside"):
        work.apply_aside(ASIDE)


def test_a_seed_commits_its_files_and_no_others(repo: Repo, work: Workspace, base: str) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    before = repo.own_state()
    files = {"tests/test_t001_door.py": b"one\r\n", "app_test.py": b"\xff"}
    commit = work.seed(files, seed_message(1, 2, session=SESSION))
    assert {change.path: change.status for change in work.changes(base, commit)} == {
        "tests/test_t001_door.py": "A",
        "app_test.py": "A",
    }
    assert (work.path / "tests" / "test_t001_door.py").read_bytes() == b"one\r\n"
    assert status(repo, work) == " M app.py\n"
    assert repo.own_state() == before


@pytest.mark.parametrize("path", ["../x", "/etc/x", ".git/config", "a/.GIT/x", "a//b", "", "."])
def test_a_seed_path_outside_the_worktree_is_refused(work: Workspace, base: str, path: str) -> None:
    with pytest.raises(WorkspaceError, match="not a path inside the worktree"):
        work.seed({path: b""}, seed_message(1, 1, session=SESSION))
    assert work.tip() == base


def test_a_seed_replaces_a_link_instead_of_writing_through_it(
    work: Workspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (work.path / "tests").symlink_to(outside)
    work.seed({"tests/test_x.py": b"1\n"}, seed_message(1, 1, session=SESSION))
    assert (work.path / "tests" / "test_x.py").read_bytes() == b"1\n"
    assert list(outside.iterdir()) == []


def test_a_lost_worktree_is_rebuilt_from_the_branch(repo: Repo, work: Workspace, base: str) -> None:
    (work.path / "app.py").write_text("x = 2\n")
    commit = land(work, base)
    shutil.rmtree(work.path)
    assert not work.attached()
    work.rebuild()
    assert work.attached()
    assert work.tip() == commit
    assert (work.path / "app.py").read_text() == "x = 2\n"
    assert status(repo, work) == ""
    assert len(list((repo.root / ".git" / "worktrees").iterdir())) == 1


def test_a_link_in_the_worktrees_place_is_removed_and_never_where_it_leads(
    repo: Repo, work: Workspace
) -> None:
    other = repo.started("20260102-030405-bbbbbb")
    shutil.rmtree(work.path)
    work.path.symlink_to(other.path)
    assert not work.attached()
    work.rebuild()
    assert work.attached()
    assert not work.path.is_symlink()
    assert other.attached()
    assert status(repo, work) == status(repo, other) == ""
    assert work.remove().registration
    assert other.attached()


def test_a_lost_registration_is_rebuilt_too(repo: Repo, work: Workspace) -> None:
    shutil.rmtree(repo.root / ".git" / "worktrees")
    assert not work.attached()
    work.rebuild()
    assert status(repo, work) == ""


def test_a_branch_without_a_worktree_is_rebuilt(repo: Repo, base: str) -> None:
    work = repo.workspace()
    repo.git("branch", work.branch, base)
    work.rebuild()
    assert status(repo, work) == ""


def test_removal_takes_all_of_the_session_and_nothing_else(
    repo: Repo, work: Workspace, base: str
) -> None:
    before = repo.own_state()
    repo.git("branch", f"session/{SESSION}-not")
    repo.git("update-ref", f"refs/tilth/{SESSION}-not/T-001", base)
    work.set_aside(ASIDE, land(work, base, FAILED), base)
    found = work.remove()
    assert found == Removed(worktree=True, registration=True, branch=True, refs=(ASIDE,))
    gone = Removed(worktree=False, registration=False, branch=False, refs=())
    assert work.remove() == gone
    assert not work.path.exists()
    refs = repo.git("for-each-ref", "--format=%(refname)").split()
    others = [f"refs/heads/session/{SESSION}-not", f"refs/tilth/{SESSION}-not/T-001"]
    assert refs == ["refs/heads/main", *others]
    assert repo.own_state() == before


def test_removal_goes_on_from_wherever_it_stopped(repo: Repo, work: Workspace) -> None:
    shutil.rmtree(work.path)
    repo.git("update-ref", "-d", f"refs/heads/{work.branch}")
    assert work.remove() == Removed(worktree=False, registration=True, branch=False, refs=())


def test_removal_works_when_the_source_is_gone(repo: Repo, work: Workspace) -> None:
    shutil.rmtree(repo.root)
    assert work.remove() == Removed(worktree=True, registration=False, branch=False, refs=())


def test_a_branch_the_user_looks_at_is_not_removed(repo: Repo, work: Workspace) -> None:
    repo.git("checkout", "-q", "--ignore-other-worktrees", work.branch)
    with pytest.raises(UserError, match=f"is checked out at {repo.root}: switch branches there"):
        work.remove()
    assert work.attached()


def test_a_workspace_path_may_hold_blanks_and_letters(
    repo: Repo, tmp_path: Path, base: str
) -> None:
    path = tmp_path / "a b" / "é" / "work space"
    work = Workspace(repo.workspace().source, path, SESSION, StoppedClock())
    work.create(base)
    assert status(repo, work) == ""
    assert work.remove().registration
