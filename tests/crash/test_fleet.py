"""Fleets that are disturbed: every unit once, whatever was killed, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.commands import resume
from support.crash_stage import fork, reap
from support.dask_cluster import DaskCluster
from support.fleet_kills import Kills
from support.fleet_site import FleetSite, answer, is_alive, number_of
from support.flow_site import read_lines
from support.messages_api import Reply, Request, stall
from support.waiting import wait_for

from tilth.base.errors import UserError
from tilth.base.interrupt import Interrupt
from tilth.contract.outcomes import ExitCode
from tilth.fleet.dask_engine import open_dask
from tilth.fleet.job import Job
from tilth.fleet.register import Register
from tilth.fleet.run import Fleet, Phase, UnitRun, run_fleet
from tilth.fleet.units import Unit, read_units
from tilth.session.start import start


def test_a_killed_worker_takes_its_session_along_and_another_goes_on_with_it(
    tmp_path: Path,
) -> None:
    kills = Kills(tmp_path / "fleet", units=2, kills=1, seed=18)
    kills.run(workers=2)
    (orphan,) = kills.orphans
    wait_for(lambda: not is_alive(orphan), "the session's process to end with its worker")
    assert sorted(entry["token"] for entry in kills.site.register().values()) == [1, 2]


def test_a_scheduler_that_goes_away_is_said_in_one_line(tmp_path: Path) -> None:
    unit = Unit(name="a", bundle="/plans/a", repo="/repo")
    with DaskCluster(tmp_path / "dask", 0, {"PATH": os.environ["PATH"]}) as cluster:
        engine = open_dask(cluster.address, None)
        try:
            assert "no worker yet" in engine.remark
            engine.start(Job(unit=unit, sessions=str(tmp_path), fleet="fleet"))
            assert list(engine.ended(0.1)) == []
            cluster.kill_scheduler()
            with pytest.raises(UserError, match="does not answer any more") as said:
                wait_for(lambda: list(engine.ended(0.1)), "the engine to notice")
            assert "\n" not in str(said.value)
        finally:
            engine.close()


def test_a_fleet_on_a_cluster_without_workers_can_be_stopped(tmp_path: Path) -> None:
    unit = Unit(name="a", bundle="/plans/a", repo="/repo")
    fleet = Fleet((UnitRun(unit),), tmp_path, Register(tmp_path))
    interrupt = Interrupt()
    with DaskCluster(tmp_path / "dask", 0, {"PATH": os.environ["PATH"]}) as cluster:
        engine = open_dask(cluster.address, None)
        try:
            run_fleet(fleet, engine, StopsAtFirst(interrupt), interrupt)
        finally:
            engine.close()
    assert fleet.exit_code == ExitCode.INTERRUPTED
    assert [(unit_run.phase, unit_run.report) for unit_run in fleet.unit_runs] == [
        (Phase.WAITING, None)
    ]


class StopsAtFirst:
    """Wish for a stop, as a person at the keyboard would, once a unit was handed out."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt

    def began(self, unit_run: UnitRun) -> None:
        self._interrupt.wish()

    def ended(self, unit_run: UnitRun) -> None: ...

    def look(self, unit_runs: Iterable[UnitRun]) -> None: ...


class Halting:
    """Let a worker wait for its answer, as long as it is told to."""

    def __init__(self) -> None:
        self.on = True
        self.waiting = 0

    def answer(self, request: Request) -> Reply:
        if self.on and number_of(request) is not None:
            self.waiting += 1
            return stall()
        return answer(request)


def test_a_fleet_that_is_stopped_or_killed_leaves_nothing_running_and_goes_on(
    tmp_path: Path,
) -> None:
    halting = Halting()
    site = FleetSite(tmp_path / "fleet", 1, halting.answer)
    environ = site.environ(TILTH_STALL_SECONDS="1")
    with site.server:
        for end, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            halting.waiting = 0
            quiet = subprocess.DEVNULL
            with subprocess.Popen(site.command(), env=environ, stdout=quiet, stderr=quiet) as fleet:
                try:
                    wait_for(lambda: halting.waiting, "the unit to ask its model")
                    run = site.holder(1)
                    fleet.send_signal(end)
                    assert fleet.wait(timeout=120) == code
                finally:
                    fleet.kill()
            assert run is not None
            wait_for(lambda run=run: not is_alive(run), "the unit's process to end")
        halting.on = False
        assert site.run().returncode == 0
    site.check_all()
    stops = [
        e["payload"] for e in read_lines(site.session(1) / "events.jsonl") if e["type"] == "stop"
    ]
    assert [stop["reason"] for stop in stops] == ["interrupted", "all_done"]


def run_fenced(unit: Unit, sessions: Path, environ: dict[str, str]) -> int:
    """Do what a unit's process does, without its watchdog: nothing kills it but the fence."""
    claim = Register(sessions).claim(unit, "fleet")
    if (sessions / claim.entry.session).is_dir():
        guard = claim.fence.passing
        return resume(claim.entry.session, {}, fresh=False, environ=environ, guard=guard)
    how = {"new": True, "ping": False, "environ": environ, "fence": claim.fence}
    return start(unit.prd, Path(unit.repo), **how).exit_code


@pytest.mark.parametrize("at", [0, 1])
def test_a_run_that_was_cut_off_and_comes_back_writes_nothing(tmp_path: Path, at: int) -> None:
    """As on a machine that lost the network, and with it its lock, and does not know it."""
    asked: list[str] = []
    is_back = threading.Event()

    def script(request: Request) -> Reply:
        if number_of(request) is None or request.headers.get("x-run") != "first":
            return answer(request)
        asked.append("first")
        return answer(request) if len(asked) <= at or is_back.is_set() else stall()

    site = FleetSite(tmp_path / "fleet", 1, script)
    (unit,) = read_units(site.units, {})
    with site.server:
        cut_off = site.environ(TILTH_STALL_SECONDS="3", TILTH_EXTRA_HEADERS='{"x-run": "first"}')
        first = fork(lambda: run_fenced(unit, site.sessions, cut_off))
        try:
            wait_for(lambda: len(asked) > at, "the first run to hang")
            (site.session(1) / "lock").unlink()
            second = fork(lambda: run_fenced(unit, site.sessions, site.environ()))
            assert reap(second) == 0
            log = (site.session(1) / "events.jsonl").read_bytes()
            is_back.set()
            # Its next try would be answered, but it finds that its time is over.
            wait_for(lambda: not is_alive(first), "the first run to end")
        finally:
            if is_alive(first):
                os.kill(first, signal.SIGKILL)
            code = reap(first)
    assert code == 2
    assert (site.session(1) / "events.jsonl").read_bytes() == log
    site.check_all()
