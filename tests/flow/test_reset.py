"""Taking a session away, whatever is left of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import start
from support.flow_site import Run, Site, accept, git, solve, submit
from support.kept_run import KeptRun
from support.take_site import bring

from tilth.base.errors import SessionBusy, UnknownSession, UserError
from tilth.session.store import Lock
from tilth.show.reset import reset


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptRun:
    """Run a session that failed under skip, so that it has a branch, a worktree and a ref."""
    place = tmp_path_factory.mktemp("reset")
    site = Site.make(place / "site")
    run = site.run(
        site.bundle(1, 2),
        worker=[solve(1), solve(2) + submit(2)],
        evaluator=[accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="skip",
    )
    return KeptRun.of(run, place / "kept")


@pytest.fixture
def run(kept: KeptRun) -> Run:
    return kept.lay_out()


@pytest.fixture
def site(run: Run) -> Site:
    return run.site


def take_away(site: Site, session: str | None, **flags: bool) -> int:
    said = {"yes": True, "discard": True, "dry_run": False, "everything": False, **flags}
    return reset(session, environ=site.environ("http://127.0.0.1:9"), **said)


def refs(site: Site) -> str:
    return git(site.repo, "for-each-ref", "--format=%(refname)")


def test_a_reset_removes_worktree_branch_refs_and_directory(site: Site, run: Run) -> None:
    assert "refs/tilth/" in refs(site)
    session = run.session
    assert take_away(site, session.name) == 0
    assert refs(site) == "refs/heads/main"
    assert not session.exists()
    assert str(session) not in git(site.repo, "worktree", "list")


def test_a_second_reset_says_what_was_already_gone(
    site: Site, run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = run.session.name
    take_away(site, name)
    capsys.readouterr()
    monkeypatch.chdir(site.root)
    assert take_away(site, name) == 0
    assert capsys.readouterr().err.count("already gone") >= 3


def test_a_dry_run_changes_nothing(
    site: Site, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    before = refs(site)
    assert take_away(site, run.session.name, yes=False, dry_run=True) == 0
    assert refs(site) == before
    assert run.session.exists()
    assert "will go" in capsys.readouterr().err


def test_without_a_terminal_and_without_yes_it_refuses(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        with pytest.raises(UserError, match="--yes"):
            take_away(site, run.session.name, yes=False)
    assert run.session.exists()


def test_a_live_session_is_refused_with_the_pid(site: Site, run: Run) -> None:
    with Lock(run.session / "lock"), pytest.raises(SessionBusy, match=r"process \d+"):
        take_away(site, run.session.name)
    assert run.session.exists()


def test_half_removed_state_is_survived(site: Site, run: Run) -> None:
    session = run.session
    shutil.rmtree(session / "workspace")
    git(site.repo, "update-ref", "-d", f"refs/heads/{run.branch}")
    assert take_away(site, session.name) == 0
    assert not session.exists()
    assert refs(site) == "refs/heads/main"


def test_a_session_without_a_readable_checkpoint_can_be_reset_from_its_repo(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = run.session
    (session / "checkpoint.json").write_text("not json", encoding="utf-8")
    monkeypatch.chdir(site.repo)
    assert take_away(site, session.name) == 0
    assert refs(site) == "refs/heads/main"


def test_what_a_checkpoint_says_cannot_widen_what_is_deleted(site: Site, run: Run) -> None:
    precious = site.root / "precious"
    precious.mkdir()
    path = run.session / "checkpoint.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said.update(branch="main", session="../../precious", workspace=str(precious))
    path.write_text(json.dumps(said), encoding="utf-8")
    assert take_away(site, run.session.name) == 0
    assert precious.exists()
    assert git(site.repo, "rev-parse", "main")


def test_all_resets_every_session(site: Site, run: Run) -> None:
    site.run(site.bundle(1, 2), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    assert len(list(site.sessions.iterdir())) == 2
    assert take_away(site, None, everything=True) == 0
    assert list(site.sessions.iterdir()) == []
    assert refs(site) == "refs/heads/main"


@pytest.mark.parametrize("wanted", ["../home", "nonsense", "2026*", ""])
def test_an_id_that_is_none_is_refused(site: Site, run: Run, wanted: str) -> None:
    with pytest.raises(UnknownSession):
        take_away(site, wanted)
    assert run.session.exists()


def test_json_is_one_document(site: Site, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    name = run.session.name
    capsys.readouterr()
    assert take_away(site, name, as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert {step["what"] for step in document[name]} == {
        "accepted",
        "worktree",
        "branch",
        "ref",
        "directory",
    }


def test_run_offers_a_session_of_the_same_prd_and_repo(site: Site, run: Run) -> None:
    environ = site.environ("http://127.0.0.1:9")
    with pytest.raises(UserError, match=f"tilth resume {run.session.name}"):
        start(site.root / "bundle", site.repo, {}, new=False, environ=environ)
    assert len(list(site.sessions.iterdir())) == 1


def test_run_refuses_a_prd_that_is_running_already(site: Site, run: Run) -> None:
    environ = site.environ("http://127.0.0.1:9")
    with Lock(run.session / "lock"), pytest.raises(UserError, match=r"running \(process \d+\)"):
        start(site.root / "bundle", site.repo, {}, new=False, environ=environ)
    assert len(list(site.sessions.iterdir())) == 1


def test_the_log_names_the_repository_when_the_checkpoint_cannot(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run.session / "checkpoint.json").write_text("{", encoding="utf-8")
    monkeypatch.chdir(site.root)
    assert take_away(site, run.session.name) == 0
    assert refs(site) == "refs/heads/main"


def test_accepted_work_that_stands_nowhere_else_is_named_first_and_kept(
    site: Site, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    before = refs(site)
    capsys.readouterr()
    with pytest.raises(UserError, match=f"tilth take {run.session.name}.*--discard"):
        take_away(site, run.session.name, discard=False)
    said = capsys.readouterr().err.splitlines()
    assert "T-002: Add feature 2" in said[1]
    assert said[1].split()[0] == "accepted"
    assert refs(site) == before
    assert run.session.exists()


@pytest.mark.parametrize("how", ["taken", "merged", "squashed"])
def test_work_that_stands_on_another_branch_is_safe(site: Site, run: Run, how: str) -> None:
    session = run.session
    if how == "merged":
        git(site.repo, "branch", "kept", run.branch)
    else:
        assert bring(site, squash=how == "squashed") == 0
    assert take_away(site, session.name, discard=False) == 0
    assert not session.exists()


def test_all_keeps_everything_while_one_session_holds_the_last_copy(site: Site, run: Run) -> None:
    site.run(site.bundle(1, 2), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    with pytest.raises(UserError, match="--discard"):
        take_away(site, None, everything=True, discard=False)
    assert len(list(site.sessions.iterdir())) == 2
