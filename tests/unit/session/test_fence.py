"""The fence: of two runs of one session, the one that was superseded writes nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support.git_repo import NOW, SESSION, Repo, StoppedClock

from tilth.base.clock import SystemClock
from tilth.base.errors import Superseded
from tilth.config.secrets import Mask
from tilth.contract.operator_requests import OperatorRequest
from tilth.contract.outcomes import ExitCode, StopReason
from tilth.contract.prd import Plan, Status, Task
from tilth.git.commits import done_message
from tilth.git.lane_workspace import LaneWorkspace
from tilth.git.source import open_source
from tilth.git.workspace import Workspace
from tilth.log.events import Scope, Stop
from tilth.log.writer import EventLog
from tilth.session.fence import Fence, fence_file
from tilth.session.reset import remove
from tilth.session.session import Checkpoint, Session, SessionStatus, branch_of

ROOT = Path(__file__).parents[3]
STOP = Stop(reason=StopReason.ERROR, exit_code=ExitCode.USAGE, detail="too late")


def plan() -> Plan:
    about = {"title": "Title", "description": "…", "acceptance_criteria": ("it works",)}
    return Plan(tasks=(Task(id="T-001", **about),))


def make(root: Path, fence: Fence | None) -> Session:
    checkpoint = Checkpoint(
        session=SESSION,
        status=SessionStatus.RUNNING,
        source=str(root),
        branch=branch_of(SESSION),
        base_commit="0" * 40,
        created="2026-01-02T03:04:05.000Z",
        updated="2026-01-02T03:04:05.000Z",
    )
    how = {} if fence is None else {"guard": fence.passing}
    return Session.new(root, checkpoint, plan(), {}, clock=SystemClock(), mask=Mask(), **how)


def log_of(session: Session) -> EventLog:
    return EventLog(
        session.log_path,
        session=session.id,
        clock=StoppedClock(),
        mask=Mask(),
        guard=session.guard,
    )


def content(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_a_run_writes_until_another_takes_over(tmp_path: Path) -> None:
    first = Fence.take(tmp_path, SESSION)
    session = make(tmp_path, first)
    log = log_of(session)
    log.record(STOP, Scope())
    session.append_progress("T-001 begun")
    before = content(session.directory)
    second = Fence.take(tmp_path, SESSION)
    assert (first.token, second.token) == (1, 2)
    task = session.plan.tasks[0].model_copy(update={"status": Status.IN_PROGRESS})
    request = OperatorRequest(
        ts=str(NOW), request="R-1", task_id="T-001", kind="blocked", text="Which one?"
    )
    for write in (
        lambda: log.record(STOP, Scope()),
        lambda: session.save_checkpoint(SessionStatus.DONE),
        lambda: session.save_task(task),
        lambda: session.append_progress("T-001 done"),
        lambda: session.append_request(request),
        lambda: session.save_summary({}),
        lambda: session.save_report("# Report"),
        lambda: log_of(session),
    ):
        with pytest.raises(Superseded, match="taken over by another run"):
            write()
    assert content(session.directory) == before
    log.close()
    session.release()


def test_a_superseded_run_moves_no_branch(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    sessions = tmp_path / "sessions"
    fence = Fence.take(sessions, SESSION)
    place = sessions / SESSION / "workspace"
    source = open_source(repo.root)
    workspace = Workspace(source, place, SESSION, StoppedClock(), guard=fence.passing)
    workspace.create(repo.head())
    tip = workspace.tip()
    message = done_message("T-001", "Title", session=SESSION, verdict="accept")
    Fence.take(sessions, SESSION)
    tree = workspace.tree_of(repo.head())
    with pytest.raises(Superseded):
        workspace.commit(tree=tree, parent=repo.head(), message=message)
    with pytest.raises(Superseded):
        workspace.set_aside(f"refs/tilth/{SESSION}/T-001", repo.head(), repo.head())
    assert workspace.tip() == tip
    assert workspace.asides() == ()


def test_a_superseded_run_lands_nothing_from_a_lane(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    sessions = tmp_path / "sessions"
    fence = Fence.take(sessions, SESSION)
    place, source = sessions / SESSION / "workspaces" / "T-001", open_source(repo.root)
    lane = LaneWorkspace(source, place, SESSION, StoppedClock(), guard=fence.passing)
    repo.git("branch", lane.branch)
    message = done_message("T-001", "Title", session=SESSION, verdict="accept")
    tree = lane.tree_of(repo.head())
    landed = lane.commit(tree=tree, parent=repo.head(), message=message)
    Fence.take(sessions, SESSION)
    with pytest.raises(Superseded):
        lane.commit(tree=tree, parent=landed, message=message)
    assert lane.tip() == landed


def test_only_a_guarded_step_moves_a_sessions_refs() -> None:
    moving = [
        f"{path.name}: {line.strip()}"
        for path in (ROOT / "tilth" / "git").glob("*workspace.py")
        for line in path.read_text("utf-8").splitlines()
        if "move_refs(" in line or '"update-ref"' in line
    ]
    assert moving == [
        "workspace.py: self._git.move_refs(why, *moves)",
        'workspace.py: self._git.run("update-ref", "-d", ref)',
    ]


def test_a_superseded_run_makes_no_session(tmp_path: Path) -> None:
    fence = Fence.take(tmp_path, SESSION)
    Fence.take(tmp_path, SESSION)
    with pytest.raises(Superseded):
        make(tmp_path, fence)
    assert [path.name for path in tmp_path.iterdir()] == ["fences"]


def test_nobody_takes_over_in_the_middle_of_a_write(tmp_path: Path) -> None:
    fence = Fence.take(tmp_path, SESSION)
    order: list[str] = []

    def take_over() -> None:
        Fence.take(tmp_path, SESSION)
        order.append("taken")

    with fence.passing():
        other = threading.Thread(target=take_over)
        other.start()
        # A nested write, as of a record that another one causes, does not open the door.
        with fence.passing():
            pass
        other.join(0.1)
        order.append("written")
    other.join()
    assert order == ["written", "taken"]
    assert fence.is_superseded


def test_a_session_that_was_shared_stays_fenced_for_whoever_opens_it(tmp_path: Path) -> None:
    stale = Fence.take(tmp_path, SESSION)
    make(tmp_path, stale).release()
    opened = Session.open_locked(tmp_path, SESSION, clock=SystemClock(), mask=Mask())
    opened.save_summary({})
    assert stale.is_superseded
    opened.release()


def test_a_session_that_was_never_shared_has_no_fence(tmp_path: Path) -> None:
    make(tmp_path, None).release()
    Session.open_locked(tmp_path, SESSION, clock=SystemClock(), mask=Mask()).release()
    assert not fence_file(tmp_path, SESSION).exists()


def test_a_reset_takes_the_fence_away_and_lets_no_old_run_through(tmp_path: Path) -> None:
    fence = Fence.take(tmp_path, SESSION)
    make(tmp_path, fence).release()
    remove(tmp_path, SESSION)
    assert not fence_file(tmp_path, SESSION).exists()
    with pytest.raises(Superseded), fence.passing():
        pass
