"""A full disk, a read-only directory, a clock set back, a closed terminal."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.crash_stage import Stage, fork, reap
from support.flow_site import Site, accept, read_lines, solve, submit

from tilth.base.clock import Clock
from tilth.base.errors import DiskError
from tilth.config.secrets import Mask
from tilth.contract.outcomes import StopReason
from tilth.log.events import LedgerAppended, Scope, Stop
from tilth.log.writer import EventLog
from tilth.session.store import Reserve

FULL = "No space left on device|the disk is full|unable to write"


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of 1.2 MB."""
    place = tmp_path / "tiny"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {made.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path, after: int) -> Callable[[str], None]:
    """Make a hook that fills a file system to the last byte after some events."""
    left = [after]

    def hook(reached: str) -> None:
        left[0] -= reached == "after appending to events.jsonl"
        if left[0] == 0:
            left[0] = -1
            assert [*place.rglob(".reserve")], "nothing was set aside for the stop"
            filling = (place / ".filler").open("wb", buffering=0)
            with filling as filler, contextlib.suppress(OSError):
                while True:
                    filler.write(b"x" * 512)

    return hook


@pytest.mark.parametrize("after", [1, 6, 11, 17, 25])
def test_a_full_disk_stops_the_run_with_the_old_files_intact(
    tmp_path: Path, tiny: Path, after: int
) -> None:
    stage = Stage(tmp_path / "stage", tasks=1, TILTH_SESSIONS_DIR=str(tiny))
    stage.site.sessions_dir = tiny
    with stage.server:
        assert stage.begin(fill(tiny, after)) == 2
        # Often the last block of the log has room for one more line; the reserve is given all the
        # same, and nothing else says so.
        assert not (stage.site.session() / ".reserve").exists()
        before = stage.acknowledged()
        assert len(before) >= after
        stop = json.loads(before[-1])
        assert (stop["type"], stop["payload"]["reason"]) == ("stop", "error")
        assert re.search(FULL, stop["payload"]["detail"])
        (tiny / ".filler").unlink()
        assert stage.go_on() == 0
    assert stage.acknowledged()[: len(before)] == before
    stage.check()


def test_a_stop_is_recorded_where_nothing_else_can_be_any_more(tiny: Path) -> None:
    reserve = Reserve(tiny / ".reserve")
    log = EventLog(
        tiny / "events.jsonl", session="s", clock=BackwardClock(), mask=Mask(), reserve=reserve
    )
    with contextlib.closing(log):
        log.record(LedgerAppended(entries=1), Scope())
        fill(tiny, 1)("after appending to events.jsonl")
        # What is left in the last block of the log is used up too.
        with contextlib.suppress(DiskError):
            for _ in range(1000):
                log.record(LedgerAppended(entries=1), Scope())
        with pytest.raises(DiskError):
            log.record(LedgerAppended(entries=1), Scope())
        stop = Stop(reason=StopReason.ERROR, exit_code=2, detail="the disk is full; " * 20)
        log.record(stop, Scope())
    assert read_lines(tiny / "events.jsonl")[-1]["type"] == "stop"


@pytest.mark.parametrize("after", [12, 40])
def test_a_full_disk_stops_every_lane_and_each_goes_on(
    tmp_path: Path, tiny: Path, after: int
) -> None:
    lanes = {"TILTH_JOBS": "2", "TILTH_SESSIONS_DIR": str(tiny)}
    stage = Stage(tmp_path / "stage", tasks=2, **lanes)
    stage.site.sessions_dir = tiny
    with stage.server:
        assert stage.begin(fill(tiny, after)) == 2
        before = stage.acknowledged()
        stops = [json.loads(line) for line in before if b'"type":"stop"' in line]
        assert [stop["payload"]["reason"] for stop in stops] == ["error"]
        assert re.search(FULL, stops[0]["payload"]["detail"])
        (tiny / ".filler").unlink()
        assert stage.go_on() == 0
    assert stage.acknowledged()[: len(before)] == before
    stage.check()


def test_a_sessions_directory_that_cannot_be_written_is_one_clear_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stage" / "home").mkdir(parents=True)
    (tmp_path / "stage" / "home" / "sessions").write_text("not a directory", encoding="utf-8")
    stage = Stage(tmp_path / "stage", tasks=1)
    with stage.server:
        assert stage.begin() == 2
    err = capfd.readouterr().err
    assert "sessions" in err
    assert "Traceback" not in err


class BackwardClock:
    """A clock that is set back a day between two events."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def now(self) -> datetime:
        self._now -= timedelta(days=1)
        return self._now

    def monotonic(self) -> float:
        return 0.0


def test_a_clock_set_back_leaves_the_numbering_whole(tmp_path: Path) -> None:
    clock: Clock = BackwardClock()
    log = EventLog(tmp_path / "events.jsonl", session="s", clock=clock, mask=Mask())
    with contextlib.closing(log):
        for _ in range(3):
            log.record(LedgerAppended(entries=1), Scope())
    assert [line["seq"] for line in read_lines(tmp_path / "events.jsonl")] == [1, 2, 3]


def test_a_closed_terminal_does_not_stop_a_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, tasks=1)

    def body() -> int:
        os.close(1)
        os.close(2)
        return stage.running()()

    with stage.server:
        assert reap(fork(body)) == 0
    stage.check()


def test_a_stale_lock_of_a_killed_git_is_cleared(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    first = site.run(site.bundle(1), worker=[solve(1)])
    lock = site.repo / ".git" / "refs" / "heads" / f"{first.branch}.lock"
    lock.write_text("", encoding="utf-8")
    run = site.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    assert not lock.exists()
