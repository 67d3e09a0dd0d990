"""Bringing accepted work home: what comes, what stays behind, and what is left as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, read_lines, solve, submit, task, write
from support.take_site import (
    bring,
    commit,
    copied,
    files,
    make,
    run_partly,
    run_whole,
    state,
    subjects,
    taken,
)

from tilth.base.errors import SessionBusy, UserError
from tilth.session.store import Lock
from tilth.show.info import info


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    """Run each kind of session once: every test takes from a copy of its own."""
    made = {}
    for name, run in (("whole", run_whole), ("partial", run_partly)):
        made[name] = make(tmp_path_factory.mktemp(name))
        run(made[name])
    return made


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Give a place that is made by whoever fills it."""
    return Site(tmp_path / "site")


@pytest.fixture
def whole(site: Site, originals: dict[str, Site]) -> Run:
    return copied(originals["whole"], site.root)


@pytest.fixture
def partial(site: Site, originals: dict[str, Site]) -> Run:
    return copied(originals["partial"], site.root)


def test_a_whole_session_comes_by_fast_forward_and_the_checkout_follows(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bring(site) == 0
    assert git(site.repo, "rev-parse", "main") == git(site.repo, "rev-parse", whole.branch)
    assert git(site.repo, "status", "--porcelain") == ""
    assert (site.repo / "feature2.py").exists()
    said = capsys.readouterr().out
    assert "by fast-forward" in said
    assert "3 commits, 4 files, +14 −0" in said
    (event,) = taken(whole)
    assert event["how"] == "fast_forward"
    assert event["tasks"] == ["T-001", "T-002"]
    assert event["branch"] == "main"


def test_of_a_partial_session_only_accepted_tasks_come_with_their_own_tests(
    site: Site, partial: Run
) -> None:
    assert bring(site) == 0
    assert subjects(site, "main") == ["first", "T-001: Add feature 1", "T-003: Add feature 3"]
    assert files(site) >= {"tests/test_t001_add.py", "tests/test_t003_add.py"}
    assert "tests/test_t002_add.py" not in files(site)
    assert "feature2.py" not in files(site)
    first = git(site.repo, "show", "--name-only", "--format=", "main~1").splitlines()
    assert sorted(first) == ["feature1.py", "tests/test_t001_add.py"]
    message = git(site.repo, "log", "-1", "--format=%B", "main")
    assert f"Tilth-Session: {partial.session.name}" in message
    assert "Tilth-Task: T-003" in message
    assert "Tilth-Verdict: accept" in message
    assert git(site.repo, "status", "--porcelain") == ""


def test_a_branch_that_moved_gets_each_task_anew_on_its_tip(site: Site, whole: Run) -> None:
    moved = commit(site, "other.py", "x = 1\n")
    assert bring(site) == 0
    assert subjects(site, f"{moved}..main") == ["T-001: Add feature 1", "T-002: Add feature 2"]
    assert git(site.repo, "rev-parse", "main~2") == moved
    assert taken(whole)[0]["how"] == "anew"


def test_a_dry_run_says_what_would_come_and_changes_nothing(
    site: Site, partial: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(site)
    capsys.readouterr()
    assert bring(site, dry_run=True) == 0
    assert state(site) == before
    assert taken(partial) == []
    said = capsys.readouterr().out
    assert "T-001: Add feature 1 (2 files, +7 −0)" in said
    assert "T-002 stays behind: it is not accepted" in said
    assert "2 commits, 4 files" in said


def test_json_is_one_document(site: Site, partial: Run, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert bring(site, as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "taken"
    assert [commit["tasks"] for commit in document["commits"]] == [["T-001"], ["T-003"]]
    assert document["left_behind"] == [{"task": "T-002", "why": "unfinished"}]
    assert document["after"] == git(site.repo, "rev-parse", "main")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_was_taken_is_taken_though_it_cannot_be_printed(
    site: Site, whole: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert bring(site, as_json=True) == 0
    assert git(site.repo, "rev-parse", "main") == git(site.repo, "rev-parse", whole.branch)
    assert "it is done, but could not be printed" in capsys.readouterr().err


def test_a_second_take_finds_nothing_new_and_one_after_a_resume_brings_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = make(tmp_path)
    run_partly(site)
    partial = Run(site, 1, ())
    assert bring(site) == 0
    tip = git(site.repo, "rev-parse", "main")
    assert bring(site) == 0
    assert "on main already" in capsys.readouterr().out
    assert git(site.repo, "rev-parse", "main") == tip
    assert len(taken(partial)) == 1
    site.resume(worker=[solve(2) + submit(2)], evaluator=[accept()])
    assert bring(site) == 0
    assert subjects(site, f"{tip}..main") == ["T-002: Add feature 2"]
    assert "tests/test_t002_add.py" in files(site)


def test_only_takes_what_it_names(site: Site, whole: Run) -> None:
    assert bring(site, only=("T-002",)) == 0
    assert subjects(site, "main") == ["first", "T-002: Add feature 2"]
    assert "tests/test_t001_add.py" not in files(site)


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (("T-009",), "there is no task 'T-009'"),
        (("T-002",), "depends on T-001: take --only T-001,T-002"),
        (("T-003",), "T-003 is not accepted"),
    ],
)
def test_only_is_refused_where_it_cannot_be_met(
    site: Site, only: tuple[str, ...], said: str
) -> None:
    tasks = [task(1), task(2, depends_on=["T-001"]), task(3)]
    make(site.root)
    site.run(
        site.bundle(1, 2, 3, tasks=tasks),
        worker=[solve(1) + submit(1), solve(2) + submit(2), solve(3)],
        evaluator=[accept(), accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
    )
    before = state(site)
    with pytest.raises(UserError, match=said):
        bring(site, only=only)
    assert state(site) == before


def test_clean_leaves_out_what_nobody_judged_and_what_is_built_on_it(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [task(1), task(2, depends_on=["T-001"]), task(3)]
    make(site.root)
    site.run(
        site.bundle(1, 2, 3, tasks=tasks),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        flags={"evaluate": False},
        TILTH_MAX_ITERATIONS_PER_TASK="1",
    )
    site.resume(worker=[solve(3) + submit(3)], evaluator=[accept()])
    assert bring(site, clean=True) == 0
    assert subjects(site, "main") == ["first", "T-003: Add feature 3"]
    said = capsys.readouterr().out
    assert "T-001 stays behind: it is in doubt" in said


def test_clean_refuses_when_nothing_is_free_of_doubt(site: Site) -> None:
    make(site.root)
    site.run(site.bundle(1), worker=[solve(1) + submit(1)], flags={"evaluate": False})
    with pytest.raises(UserError, match="without --clean"):
        bring(site, clean=True)


def test_squash_makes_one_commit_that_names_every_task(site: Site, whole: Run) -> None:
    assert bring(site, squash=True) == 0
    assert len(subjects(site, "main")) == 2
    message = git(site.repo, "log", "-1", "--format=%B", "main")
    assert "- T-001: Add feature 1" in message
    trailers = git(site.repo, "log", "-1", "--format=%(trailers:key=Tilth-Task,valueonly)", "main")
    assert trailers.split() == ["T-001", "T-002"]
    assert bring(site) == 0
    assert len(subjects(site, "main")) == 2


def test_a_conflict_leaves_everything_as_it_was_and_names_the_file(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(site, "feature2.py", "something else\n")
    before = state(site)
    assert bring(site) == 1
    assert state(site) == before
    assert taken(whole) == []
    said = capsys.readouterr().err
    assert "T-002 does not fit onto main: conflict in feature2.py" in said
    assert "git cherry-pick" in said


def test_a_red_result_leaves_everything_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path)
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    commit(site, "conftest.py", "import nothing_of_that_name\n")
    before = state(site)
    capsys.readouterr()
    assert bring(site) == 1
    assert state(site) == before
    assert taken(run) == []
    assert "the result would be red on main (pytest)" in capsys.readouterr().err


def test_two_changes_that_are_green_alone_and_red_together_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path, {"shared.py": "STEP = 1\n"})
    code = "from shared import STEP\n\n\ndef add1(x):\n    return x + STEP\n"
    run = site.run(
        site.bundle(1), worker=[write("feature1.py", code) + submit(1)], evaluator=[accept()]
    )
    assert run.code == 0
    commit(site, "shared.py", "STEP = 2\n")
    before = state(site)
    assert bring(site) == 1
    assert state(site) == before
    assert "test_t001_add.py" in capsys.readouterr().err


def test_seed_tests_of_all_that_was_taken_are_proven_for_real(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    run = site.run(
        site.bundle(1, 2),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        evaluator=[accept(), accept()],
    )
    commit(site, "other.py", "x = 1\n")
    assert bring(site) == 0
    assert taken(run)[0]["tasks"] == ["T-001", "T-002"]


def test_a_dirty_checkout_of_the_branch_is_refused(site: Site, whole: Run) -> None:
    (site.repo / "README.md").write_text("changed\n", encoding="utf-8")
    before = state(site)
    with pytest.raises(UserError, match="uncommitted changes"):
        bring(site)
    assert state(site) == before


def test_a_dirty_checkout_of_another_branch_is_no_matter_and_stays(site: Site, whole: Run) -> None:
    git(site.repo, "checkout", "--quiet", "-b", "elsewhere")
    (site.repo / "README.md").write_text("changed\n", encoding="utf-8")
    assert bring(site) == 0
    assert git(site.repo, "rev-parse", "main") == git(site.repo, "rev-parse", whole.branch)
    assert git(site.repo, "status", "--porcelain") == "M README.md"
    assert git(site.repo, "rev-parse", "--abbrev-ref", "HEAD") == "elsewhere"


def test_an_untracked_file_in_the_way_is_named_and_kept(site: Site, whole: Run) -> None:
    (site.repo / "feature1.py").write_text("mine\n", encoding="utf-8")
    before = state(site)
    with pytest.raises(UserError, match=r"feature1\.py in .* would be overwritten"):
        bring(site)
    assert state(site) == before
    assert (site.repo / "feature1.py").read_text(encoding="utf-8") == "mine\n"


def test_other_untracked_files_stay(site: Site, whole: Run) -> None:
    (site.repo / "notes.txt").write_text("mine\n", encoding="utf-8")
    assert bring(site) == 0
    assert git(site.repo, "status", "--porcelain") == "?? notes.txt"


def test_a_branch_that_is_checked_out_elsewhere_is_named(site: Site, whole: Run) -> None:
    place = site.root / "second"
    git(site.repo, "worktree", "add", "--quiet", "-b", "release", str(place))
    with pytest.raises(UserError, match=f"release is checked out at {place}"):
        bring(site, into="release")


@pytest.mark.parametrize("name", ["nowhere", "-x", "a..b", "", "session/20260101-000000-aaaaaa"])
def test_a_branch_that_cannot_take_work_is_refused(site: Site, whole: Run, name: str) -> None:
    before = state(site)
    if name:
        with pytest.raises(UserError, match="--into"):
            bring(site, into=name)
    else:
        # An empty name is none: the session's own start is meant.
        assert bring(site, into=name, dry_run=True) == 0
    assert state(site) == before


def test_the_default_is_the_branch_the_session_began_from(site: Site) -> None:
    make(site.root)
    git(site.repo, "checkout", "--quiet", "-b", "feature")
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    git(site.repo, "checkout", "--quiet", "main")
    assert run.checkpoint["base_branch"] == "feature"
    assert bring(site) == 0
    assert "feature1.py" in files(site, "feature")
    assert "feature1.py" not in files(site, "main")


def test_a_session_of_old_is_taken_where_the_repository_stands_and_that_is_said(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    path = whole.session / "checkpoint.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    del said["base_branch"]
    path.write_text(json.dumps(said), encoding="utf-8")
    git(site.repo, "checkout", "--quiet", "-b", "feature")
    capsys.readouterr()
    assert bring(site) == 0
    assert "it is taken into feature" in capsys.readouterr().err
    git(site.repo, "checkout", "--quiet", "--detach")
    with pytest.raises(UserError, match="--into"):
        bring(site)


def test_a_running_session_is_refused(site: Site, whole: Run) -> None:
    with Lock(whole.session / "lock"), pytest.raises(SessionBusy, match=r"process \d+"):
        bring(site)


def test_nothing_accepted_is_refused(site: Site) -> None:
    make(site.root)
    site.run(site.bundle(1), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    with pytest.raises(UserError, match="nothing is accepted"):
        bring(site)


def test_the_log_stays_whole_and_a_resume_goes_on_after_a_take(tmp_path: Path) -> None:
    site = make(tmp_path)
    run_partly(site)
    partial = Run(site, 1, ())
    assert bring(site) == 0
    events = read_lines(partial.session / "events.jsonl")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    later = site.resume(worker=[solve(2) + submit(2)], evaluator=[accept()])
    assert later.code == 0
    assert later.checkpoint["taken"] == ["T-001", "T-003"]


def test_info_shows_a_session_as_taken(
    site: Site, whole: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = site.environ("")
    assert info("latest", as_json=False, environ=environ) == 0
    assert f"tilth take {whole.session.name}" in capsys.readouterr().out
    assert bring(site, only=("T-001",)) == 0
    assert info(None, as_json=False, environ=environ) == 0
    assert "done, 1 taken" in capsys.readouterr().out
    assert bring(site) == 0
    capsys.readouterr()
    assert info(None, as_json=False, environ=environ) == 0
    assert "done, taken" in capsys.readouterr().out
    assert info("latest", as_json=True, environ=environ) == 0
    document = json.loads(capsys.readouterr().out)
    assert [note["tasks"] for note in document["taken"]] == [["T-001"], ["T-002"]]
    assert document["tasks_taken"] == ["T-001", "T-002"]
    assert not [command for command in document["next"] if "tilth take" in command]
