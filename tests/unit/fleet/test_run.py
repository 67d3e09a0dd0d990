"""The flow of a fleet: how many at once, what is run again, how it ends as a whole."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyte
import pytest
from support.narrow_stream import NarrowStream

from tilth.base.errors import UserError
from tilth.base.interrupt import Interrupt
from tilth.contract.outcomes import ExitCode
from tilth.fleet import dask_engine
from tilth.fleet.job import Job, UnitReport, lost
from tilth.fleet.process import UnitProcess
from tilth.fleet.register import Register
from tilth.fleet.run import (
    MOST_TRIES,
    EngineChoice,
    Fleet,
    FleetOptions,
    Phase,
    UnitRun,
    check_fleet,
    engine_named,
    open_engine,
    run_fleet,
)
from tilth.fleet.units import Unit
from tilth.show.fleet import Board


class FakeEngine:
    """End every job by a script, one after another, and remember how many ran at once."""

    def __init__(self, width: int, ends: Callable[[str, int], UnitReport]) -> None:
        self.width = width
        self.remark = ""
        self.begun: Counter[str] = Counter()
        self.most = 0
        self._ends = ends
        self._running: list[Job] = []

    def start(self, job: Job) -> None:
        self.begun[job.unit.name] += 1
        self._running.append(job)
        self.most = max(self.most, len(self._running))

    def ended(self, wait_s: float) -> Iterator[UnitReport]:
        name = self._running.pop(0).unit.name
        yield self._ends(name, self.begun[name])

    def withdraw(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Have nothing to close."""


class Tape:
    """Remember what a person would have been shown."""

    def __init__(self) -> None:
        self.ends: list[tuple[str, Phase]] = []

    def began(self, unit_run: UnitRun) -> None: ...

    def ended(self, unit_run: UnitRun) -> None:
        self.ends.append((unit_run.unit.name, unit_run.phase))

    def look(self, unit_runs: Iterable[UnitRun]) -> None: ...


def fleet_of(root: Path, *names: str) -> Fleet:
    units = [Unit(name=name, bundle=f"/plans/{name}", repo="/repo") for name in names]
    return Fleet(tuple(map(UnitRun, units)), root, Register(root))


def code(value: int) -> Callable[[str, int], UnitReport]:
    return lambda name, tried: UnitReport(name=name, exit_code=ExitCode(value))


def test_as_many_run_at_once_as_the_engine_takes(tmp_path: Path) -> None:
    fleet, engine = fleet_of(tmp_path, "a", "b", "c", "d", "e"), FakeEngine(2, code(0))
    run_fleet(fleet, engine, Tape(), Interrupt())
    assert engine.most == 2
    assert engine.begun == Counter("abcde")
    assert fleet.exit_code == ExitCode.DONE


@pytest.mark.parametrize(
    ("codes", "whole"),
    [
        ((0, 0), 0),
        ((0, 4), 4),
        ((4, 1), 1),
        ((1, 6), 6),
        ((6, 3), 3),
        ((3, 5), 5),
        ((5, 2), 2),
        ((2, 130), 130),
    ],
)
def test_the_exit_code_is_the_first_that_applies(
    tmp_path: Path, codes: tuple[int, int], whole: int
) -> None:
    fleet = fleet_of(tmp_path, "0", "1")
    ends = lambda name, tried: UnitReport(name=name, exit_code=ExitCode(codes[int(name)]))  # noqa: E731
    run_fleet(fleet, FakeEngine(1, ends), Tape(), Interrupt())
    assert fleet.exit_code == whole


def test_a_unit_whose_worker_is_lost_is_run_again(tmp_path: Path) -> None:
    def ends(name: str, tried: int) -> UnitReport:
        return lost(name, "killed") if (name, tried) == ("a", 1) else code(0)(name, tried)

    fleet, engine, tape = fleet_of(tmp_path, "a", "b"), FakeEngine(1, ends), Tape()
    run_fleet(fleet, engine, tape, Interrupt())
    assert tape.ends == [("a", Phase.WAITING), ("a", Phase.ENDED), ("b", Phase.ENDED)]
    assert fleet.exit_code == ExitCode.DONE


def test_a_unit_that_keeps_losing_workers_is_given_up(tmp_path: Path) -> None:
    fleet, engine = fleet_of(tmp_path, "a"), FakeEngine(1, lambda name, _: lost(name, "killed"))
    run_fleet(fleet, engine, Tape(), Interrupt())
    assert engine.begun["a"] == MOST_TRIES
    assert fleet.exit_code == ExitCode.USAGE


def test_after_a_wish_to_stop_no_unit_begins(tmp_path: Path) -> None:
    interrupt = Interrupt()

    def ends(name: str, tried: int) -> UnitReport:
        interrupt.wish()
        return code(130)(name, tried)

    fleet, engine = fleet_of(tmp_path, "a", "b", "c"), FakeEngine(1, ends)
    run_fleet(fleet, engine, Tape(), interrupt)
    assert engine.begun == Counter("a")
    assert [unit_run.phase for unit_run in fleet.unit_runs] == [
        Phase.ENDED,
        Phase.WAITING,
        Phase.WAITING,
    ]
    assert fleet.exit_code == ExitCode.INTERRUPTED


def test_an_engine_or_a_scheduler_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--engine must be local or dask, got 'spark'"):
        engine_named("spark")
    with pytest.raises(UserError, match="--scheduler is of --engine dask"):
        check_fleet(tmp_path / "units.toml", FleetOptions(scheduler="tcp://x"), {})


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense://x", " "])
def test_a_scheduler_that_cannot_be_reached_is_one_line(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "_REACH_S", 0.5)
    with pytest.raises(UserError, match="cannot be reached") as refused:
        dask_engine.open_dask(address, None)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("jobs", "workers"), [(1000, 3), (3, 3), (2, 2)])
def test_no_worker_is_made_that_has_no_unit(
    jobs: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str | None, int | None]] = []
    monkeypatch.setattr(dask_engine, "open_dask", lambda *how: asked.append(how))
    open_engine(FleetOptions(EngineChoice.DASK, jobs=jobs), units=3)
    open_engine(FleetOptions(EngineChoice.DASK, "tcp://x", jobs), units=3)
    assert asked == [(None, workers), ("tcp://x", workers)]
    assert open_engine(FleetOptions(jobs=jobs), units=3).width == workers


def test_without_jobs_a_cluster_that_is_there_is_asked_what_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str | None, int | None]] = []
    monkeypatch.setattr(dask_engine, "open_dask", lambda *how: asked.append(how))
    open_engine(FleetOptions(EngineChoice.DASK, "tcp://x"), units=3)
    assert asked == [("tcp://x", None)]


def test_dask_without_its_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UserError, match=r"install tilth\[fleet\]"):
        dask_engine.open_dask(None, 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Recorded(Board):
    """Keep what a person sees each time the table was drawn."""

    def __init__(self, fleet: Fleet, screen: Terminal) -> None:
        super().__init__(fleet, {"TERM": "xterm"}, out=screen, foot=screen)
        self._screen = screen
        self.seen: list[list[str]] = []

    def look(self, unit_runs: Iterable[UnitRun]) -> None:
        super().look(unit_runs)
        self.seen.append(displayed(self._screen))


def displayed(terminal: Terminal) -> list[str]:
    screen = pyte.Screen(80, 24)
    pyte.Stream(screen).feed(terminal.getvalue().replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display if line.strip()]


def test_a_terminal_gets_a_table_below_lines_that_stay(tmp_path: Path) -> None:
    fleet, screen = fleet_of(tmp_path, "alpha", "beta"), Terminal()
    with Recorded(fleet, screen) as board:
        run_fleet(fleet, FakeEngine(1, code(6)), board, Interrupt())
    first, second = board.seen
    assert [line.split(maxsplit=1)[1] for line in first[:2]] == [
        "alpha  started",
        "alpha  waits for you",
    ]
    assert [line.split() for line in first[2:]] == [
        ["unit", "state", "tasks", "cost", "session"],
        ["alpha", "waits", "for", "you"],
        ["beta", "waiting"],
    ]
    assert second[:2] == first[:2]
    # In the end the lines are all that is left.
    assert displayed(screen) == second[:4]
    assert [line.split(maxsplit=1)[1] for line in second[2:4]] == [
        "beta   started",
        "beta   waits for you",
    ]


def test_a_pipe_gets_lines_alone(tmp_path: Path) -> None:
    fleet, out, foot = fleet_of(tmp_path, "a"), io.StringIO(), io.StringIO()
    with Board(fleet, {}, out=out, foot=foot) as board:
        run_fleet(fleet, FakeEngine(1, code(0)), board, Interrupt())
    assert [line.split(maxsplit=1)[1] for line in out.getvalue().splitlines()] == [
        "a  started",
        "a  all done",
    ]
    assert foot.getvalue() == ""


def test_output_that_is_full_for_a_moment_costs_no_line_that_comes_later(tmp_path: Path) -> None:
    fleet = fleet_of(tmp_path, "a")
    with NarrowStream() as narrow, Board(fleet, {}, out=narrow.stream) as board:
        narrow.refuse(1)
        run_fleet(fleet, FakeEngine(1, code(0)), board, Interrupt())
        assert narrow.read().endswith("a  all done\n")


@pytest.mark.parametrize(
    ("start", "said", "is_lost"),
    [
        ("raise SystemExit('no such machine')", "exit code 1: SystemExit: no such machine", False),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "with signal 9", True),
    ],
)
def test_a_process_that_gives_no_report_is_lost_only_if_it_was_killed(
    tmp_path: Path, start: str, said: str, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(start)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    unit = Unit(name="a", bundle="/plans/a", repo="/repo")
    with UnitProcess(Job(unit=unit, sessions="/sessions", fleet="f")) as process:
        report = process.wait()
    assert (report.lost, report.exit_code) == (is_lost, ExitCode.USAGE)
    assert said in (report.error or "")
