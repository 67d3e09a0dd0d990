"""The session on disk: it appears whole, wakes from its files alone, and trusts none blindly."""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import DiskError, SessionBusy, UnknownSession
from tilth.config.secrets import Mask, hidden
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Status, Task
from tilth.model.messages import Role, Usage
from tilth.session.catalog import find_session, list_sessions
from tilth.session.session import (
    Checkpoint,
    Session,
    SessionStatus,
    branch_of,
    checked_id,
    session_id,
)
from tilth.task.budget import Spend

ID = "20261116-221530-a1b2c3"
KEY = "sk-ant-0123456789abcdef"
NOW = "2026-11-16T22:15:30.000Z"


class FixedClock:
    """Stand still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 16, 23, 0, 0, 0, UTC)

    def monotonic(self) -> float:
        return 0.0


def checkpoint(session: str = ID, **changes: Any) -> Checkpoint:
    given: dict[str, Any] = {
        "session": session,
        "status": SessionStatus.RUNNING,
        "source": "some/repo",
        "branch": branch_of(session),
        "base_commit": "a" * 40,
        "created": NOW,
        "updated": NOW,
    }
    return Checkpoint(**(given | changes))


def task(number: int = 1, **changes: Any) -> Task:
    given: dict[str, Any] = {
        "id": f"T-{number:03d}",
        "title": "A title",
        "description": "…",
        "acceptance_criteria": ("it works",),
    }
    return Task(**(given | changes))


def new(root: Path, session: str = ID, *tasks: Task, tests: Any = None) -> Session:
    plan = Plan(tasks=tasks or (task(1), task(2)))
    return Session.new(
        root, checkpoint(session), plan, tests or {}, clock=FixedClock(), mask=Mask([KEY])
    )


def wake(root: Path, session: str = ID) -> Session:
    return Session.open_locked(root, session, clock=FixedClock(), mask=Mask([KEY]))


def look(root: Path, session: str = ID) -> Session:
    return Session.look(root, session, clock=FixedClock(), mask=Mask([KEY]))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "home" / "sessions"


def test_a_new_session_stands_complete_and_locked(root: Path) -> None:
    session = new(root, tests={"test_t001_a.py": b"def test_a(): ...\n"})
    assert sorted(os.listdir(root)) == [ID]
    assert sorted(os.listdir(root / ID)) == [
        "checkpoint.json",
        "events.jsonl",
        "ledger",
        "lock",
        "prd.json",
        "progress.txt",
        "seed-tests",
    ]
    assert (session.seed_tests / "test_t001_a.py").read_bytes() == b"def test_a(): ...\n"
    with pytest.raises(SessionBusy, match=str(os.getpid())):
        wake(root)
    session.release()
    wake(root).release()


def test_everything_is_for_its_owner_alone_even_the_home_it_made(root: Path) -> None:
    before = os.umask(0)
    try:
        session = new(root, tests={"test_t001_a.py": b""})
        session.save_task(session.plan.tasks[0].moved(Status.IN_PROGRESS))
        session.append_progress("x")
        session.save_summary({})
        session.release()
    finally:
        os.umask(before)
    paths = [root.parent, root, *root.rglob("*")]
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in paths}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_a_session_that_exists_is_never_replaced(root: Path) -> None:
    new(root).release()
    before = (root / ID / "prd.json").read_bytes()
    with pytest.raises(DiskError, match="cannot create a session"):
        new(root, ID, task(9))
    assert os.listdir(root) == [ID]
    assert (root / ID / "prd.json").read_bytes() == before


def test_a_session_that_cannot_be_finished_leaves_nothing(root: Path) -> None:
    too_long = "test_t001_" + "x" * 300 + ".py"
    with pytest.raises(DiskError):
        new(root, tests={"test_t001_a.py": b"", too_long: b""})
    assert os.listdir(root) == []


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="cannot create a session in"):
        new(tmp_path / "file" / "sessions")


def test_a_session_wakes_from_disk_alone(root: Path) -> None:
    made = new(root)
    moved = made.plan.tasks[1].moved(Status.IN_PROGRESS, agent="worker-1")
    made.save_task(moved)
    made.release()
    woken = wake(root)
    assert woken.plan == made.plan
    assert woken.plan.tasks[1] == moved
    assert woken.checkpoint == made.checkpoint
    woken.release()


def test_looking_takes_no_lock(root: Path) -> None:
    made = new(root)
    assert look(root).plan == made.plan
    made.release()


def test_a_discarded_session_is_gone_and_its_lock_free(root: Path) -> None:
    new(root).discard()
    assert os.listdir(root) == []


HOSTILE = [
    "",
    ".",
    "..",
    "../etc",
    f"../{ID}",
    f"{ID}/..",
    f"{ID}/",
    f"{ID}\n",
    f" {ID}",
    ID.upper(),
    ID[:-1],
    ID + "0",
    "20261116-221530-a1b2cg",
    "٢٠٢٦١١١٦-221530-a1b2c3",
    "latest",
    "a\0b",
]


@pytest.mark.parametrize("wrong", HOSTILE)
def test_only_a_well_formed_id_is_let_through(root: Path, wrong: str) -> None:
    with pytest.raises(UnknownSession, match="is not a session id"):
        checked_id(wrong)
    for opens in (wake, look):
        with pytest.raises(UnknownSession):
            opens(root, wrong)
    with pytest.raises(UnknownSession):
        Session.new(
            root,
            checkpoint(wrong),
            Plan(tasks=(task(),)),
            {},
            clock=FixedClock(),
            mask=Mask(),
        )
    assert not root.exists()


def test_an_id_is_made_of_a_moment_and_six_hex_digits() -> None:
    dice = random.Random(1)
    for _ in range(50):
        moment = datetime(2026, 1, dice.randrange(1, 32), dice.randrange(24), 5, 9, tzinfo=UTC)
        made = session_id(moment, f"{dice.getrandbits(64):016x}")
        assert checked_id(made) == made
        assert made.startswith(f"{moment:%Y%m%d-%H%M%S}-")


def test_a_well_formed_id_of_no_session_is_unknown(root: Path) -> None:
    with pytest.raises(UnknownSession, match=f"no session {ID} in"):
        wake(root)


def test_a_listing_is_in_order_of_time_and_passes_over_foreign_names(root: Path) -> None:
    assert list_sessions(root) == ()
    ids = ["20261231-000000-000000", "20260101-000000-ffffff", "20260101-000000-00000a"]
    for name in (*ids, ".new-20260101-000000-000000", "notes", "20260101", f"{ID}.bak", "x\ny"):
        (root / name).mkdir(parents=True)
    assert list_sessions(root) == tuple(sorted(ids))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("latest", "20270101-000000-abcdef"),
        (ID, ID),
        ("20261116-221530-a", ID),
        ("2027", "20270101-000000-abcdef"),
        ("20261116-221530-b1b2c3", "20261116-221530-b1b2c3"),
    ],
)
def test_a_session_is_found_by_its_id_a_prefix_or_as_the_latest(
    root: Path, wanted: str, found: str
) -> None:
    for name in (ID, "20261116-221530-b1b2c3", "20270101-000000-abcdef"):
        (root / name).mkdir(parents=True)
    assert find_session(root, wanted) == found


@pytest.mark.parametrize("wanted", ["20261116", "2026", "2"])
def test_a_prefix_of_several_is_refused_with_their_names(root: Path, wanted: str) -> None:
    for name in (ID, "20261116-221530-b1b2c3", "20260101-000000-abcdef"):
        (root / name).mkdir(parents=True)
    with pytest.raises(UnknownSession, match="could be") as caught:
        find_session(root, wanted)
    assert ID in str(caught.value)


@pytest.mark.parametrize("wanted", ["", "3", "../", "a1b2c3", "Latest", f"{ID}0", "*"])
def test_what_matches_nothing_is_unknown(root: Path, wanted: str) -> None:
    (root / ID).mkdir(parents=True)
    with pytest.raises(UnknownSession, match="no session starts with"):
        find_session(root, wanted)


def test_there_is_no_latest_before_the_first(root: Path) -> None:
    with pytest.raises(UnknownSession, match="there is no session in"):
        find_session(root, "latest")


def test_a_checkpoint_carries_status_and_spend_and_keeps_the_rest(root: Path) -> None:
    session = new(root)
    spend = {Role.WORKER: Spend(usage=Usage(input_tokens=7), calls=2, cost_usd=0.5)}
    session.save_checkpoint(SessionStatus.STOPPED, spend)
    session.save_checkpoint(SessionStatus.RUNNING)
    session.release()
    kept = look(root).checkpoint
    assert kept == checkpoint(updated="2026-11-16T23:00:00.000Z", usage=spend)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (StopReason.ALL_DONE, "done"),
        (StopReason.BLOCKED, "waiting"),
        (StopReason.ITER_CAP, "failed"),
        (StopReason.EVALUATOR_CAP, "failed"),
        (StopReason.NO_CASE, "failed"),
        (StopReason.WALL_CLOCK, "stopped"),
        (StopReason.TOKEN_CAP, "stopped"),
        (StopReason.COST_CAP, "stopped"),
        (StopReason.PROVIDER_FAILURE, "stopped"),
        (StopReason.INTERRUPTED, "stopped"),
        (StopReason.ERROR, "stopped"),
    ],
)
def test_a_stop_leaves_the_status_it_stands_for(
    root: Path, reason: StopReason, status: str
) -> None:
    session = new(root)
    session.close_out(reason, {})
    session.release()
    assert json.loads((root / ID / "checkpoint.json").read_bytes())["status"] == status


def test_a_task_that_cannot_be_saved_is_as_it_was_in_memory_too(root: Path) -> None:
    session = new(root)
    before, status = session.plan, session.checkpoint.status
    (root / ID).rename(root / "elsewhere")
    with pytest.raises(DiskError):
        session.save_task(before.tasks[0].moved(Status.IN_PROGRESS))
    with pytest.raises(DiskError):
        session.save_checkpoint(SessionStatus.DONE)
    assert session.plan == before
    (root / "elsewhere").rename(root / ID)
    assert session.plan == look(root).plan
    assert session.checkpoint.status is status
    session.release()


def test_a_key_in_a_prd_never_reaches_the_sessions_copy(root: Path) -> None:
    session = new(root, ID, task(1, description=f"Use {KEY}."))
    prd = root / ID / "prd.json"
    assert KEY not in prd.read_text()
    session.save_task(session.plan.tasks[0].moved(Status.IN_PROGRESS))
    assert KEY not in prd.read_text()
    assert f"Use {hidden(KEY)}." in prd.read_text()
    session.release()
