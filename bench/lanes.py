"""Time lanes: eight independent tasks with four jobs against one, in one run.

The model answers after 300 ms and a gate takes a second; what is measured is what lanes make of it.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.endpoint import ROOT
from bench.lane_endpoint import lane_endpoint
from bench.quiet import quiet

sys.path.insert(0, str(ROOT / "tests"))

ANSWER_S = 0.3
GATE_S = 1.0
TASKS = 8
TURNS = 12
PROJECT = f"""
[tool.tilth]
defaults = false

[tool.tilth.validators.slow]
command = "sleep {GATE_S:g}"
"""


@dataclass(frozen=True)
class Lanes:
    """Hold what lanes cost and gain, against one job in the same run."""

    wall: float
    turn: float
    landing_ms: float
    gate_ms: float
    lane_mb: float


@dataclass(frozen=True)
class _Timed:
    wall_s: float
    gap_ms: float
    landings_ms: tuple[float, ...]
    gates_ms: tuple[float, ...]
    peak_mb: float


def lane_figures(jobs: int = 4) -> Lanes:
    """Run the plan with one job and with several."""
    one, several = _apart(1), _apart(jobs)
    return Lanes(
        wall=several.wall_s / one.wall_s,
        turn=several.gap_ms / one.gap_ms,
        landing_ms=statistics.median(several.landings_ms),
        gate_ms=statistics.median(several.gates_ms),
        lane_mb=(several.peak_mb - one.peak_mb) / (jobs - 1),
    )


def _apart(jobs: int) -> _Timed:
    """Run in a process of its own, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        timed: _Timed = pool.apply(_run, (jobs,))
        return timed


def _run(jobs: int) -> _Timed:
    from support.commands import start
    from support.flow_site import Run, Site
    from support.lane_stage import plain_tasks

    with tempfile.TemporaryDirectory() as folder, lane_endpoint(TASKS, TURNS, ANSWER_S) as url:
        site = Site.make(Path(folder), {"pyproject.toml": PROJECT})
        target = site.bundle(tasks=plain_tasks(*range(1, TASKS + 1)))
        environ = site.environ(url, TILTH_JOBS=str(jobs))
        with quiet():
            began = time.monotonic()
            code = start(target, site.repo, {}, new=True, environ=environ)
            wall_s = time.monotonic() - began
        if code != 0:
            raise RuntimeError(f"the run ended with {code}")
        return _timed(wall_s, Run(site, code, ()).events)


def _timed(wall_s: float, events: list[dict[str, Any]]) -> _Timed:
    landings, gates, free, room = [], [], 0.0, 0.0
    ready: dict[str, float] = {}
    began = 0.0
    for event in events:
        now, task, payload = _seconds(event), event["task_id"], event["payload"]
        if event["type"] == "evaluator_verdict":
            ready[task] = now
        elif event["type"] == "validator_run" and payload["phase"] == "landing":
            # It waits for the gates of others, of which only so many run at once.
            began = max(ready[task], free, room)
            gates.append(float(payload["duration_ms"]))
        elif event["type"] == "validator_run":
            room = now
        elif event["type"] == "commit" and len(gates) > len(landings):
            landings.append(1000 * (now - began))
        elif event["type"] == "task_done":
            free = now
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return _Timed(wall_s, _gap_ms(events), tuple(landings), tuple(gates), peak)


def _gap_ms(events: list[dict[str, Any]]) -> float:
    """Give the median time between two answers of one task's worker, without the model's own."""
    last: dict[str, float] = {}
    gaps = []
    for event in events:
        if event["type"] == "model_call" and event["payload"]["role"] == "worker":
            now, task = _seconds(event), event["task_id"]
            if task in last:
                gaps.append(1000 * (now - last[task]) - event["payload"]["latency_ms"])
            last[task] = now
    return statistics.median(gaps)


def _seconds(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["ts"]).timestamp()
