"""Readiness: what stands between the user and a good night, said before it begins.

The models and the Python for the tests are tried, and what weakens the night or may end it early is
said in one line. Nothing here stops a run but a model that can never answer and a name that is no
Python.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.config.project import SEED_RUN
from tilth.contract.prd import Plan
from tilth.log.events import Preflighted
from tilth.model.messages import Role
from tilth.model.reviewers import is_same_model
from tilth.session.measured import figures
from tilth.session.night import last_suite_s
from tilth.session.parts import Parts
from tilth.session.ping import needed, ping
from tilth.session.programs import require_python

LITTLE_DISK_BYTES = 10_000_000_000
SLOW_SUITE_S = 20.0
SHORT_NIGHT_S = 3600.0

# Proves a plan with its tests; UserError where no worker could mend what is wrong.
Preflight = Callable[[Parts, Plan, Mapping[str, bytes], str], Preflighted]


@dataclass(frozen=True)
class Ground:
    """Hold what is known before a night; what is not known is None."""

    evaluate: bool = True
    same_model: bool = False
    measured: bool = True
    untested: tuple[str, ...] = ()
    # Whether the gate itself runs the seed tests.
    runs_seeds: bool = True
    # How many tasks are worked on at once although none says what it depends on.
    undeclared: int = 0
    suite_s: float | None = None
    free_bytes: int | None = None
    seconds_left: float | None = None


def hindrances(ground: Ground) -> Iterator[str]:
    """Say what stands in the way, the gravest first."""
    if not ground.evaluate:
        yield "no evaluator: validators alone decide"
    elif ground.same_model:
        yield "the worker's own model judges its work"
    if ground.evaluate and not ground.measured:
        yield "the evaluator was never measured (`tilth eval-check`)"
    if ground.untested:
        what = "task has" if len(ground.untested) == 1 else "tasks have"
        yield f"{len(ground.untested)} {what} no seed test ({', '.join(ground.untested)})"
    if not ground.runs_seeds:
        yield "the project's configuration leaves out the gate's run of the seed tests"
    if ground.undeclared:
        yield (
            f"{ground.undeclared} jobs, but no task says what it depends on: all begin from the "
            "same commit (`depends_on`)"
        )
    if ground.suite_s is not None and ground.suite_s >= SLOW_SUITE_S:
        yield f"the suite takes {ground.suite_s:.0f} s a gate"
    if ground.free_bytes is not None and ground.free_bytes < LITTLE_DISK_BYTES:
        yield f"{ground.free_bytes / 1e9:.1f} GB of disk are free"
    if ground.seconds_left is not None and ground.seconds_left < SHORT_NIGHT_S:
        yield f"the deadline is in {ground.seconds_left / 60:.0f} minutes"


def look_ahead(
    parts: Parts,
    plan: Plan,
    tests: Mapping[str, bytes],
    base: str,
    *,
    pings: bool,
    preflight: Preflight | None = None,
) -> Preflighted | None:
    """Try the Python that was named, the plan and its models; say what stands in the way."""
    frontend, clock = parts.frontend, parts.schedule.clock
    if python := parts.settings.python:
        runs_seeds = SEED_RUN not in parts.facts.defaults_left_out
        require_python(python, parts.command_environ, pytest=runs_seeds)
    proven = preflight(parts, plan, tests, base) if preflight else None
    if pings:
        for each in needed(parts.settings, {**parts.panel.by_name, **parts.panel.others}):
            ping(each, frontend.interrupt, clock, frontend.tell)
    said = "; ".join(hindrances(_ground(parts, plan, tuple(tests))))
    if said:
        frontend.tell(f"before the night: {said}")
    return proven


def _ground(parts: Parts, plan: Plan, tests: tuple[str, ...]) -> Ground:
    settings, schedule = parts.settings, parts.schedule
    worker, evaluator = settings.endpoint(Role.WORKER), settings.endpoint(Role.EVALUATOR)
    deadline = schedule.deadline
    left = (deadline - schedule.clock.now()).total_seconds() if deadline else None
    return Ground(
        evaluate=settings.evaluate,
        same_model=bool(worker and evaluator and is_same_model(evaluator, worker)),
        measured=evaluator is None or _all_measured(parts, evaluator.model),
        untested=() if parts.facts.replace_defaults else plan.untested(tests),
        runs_seeds=SEED_RUN not in parts.facts.defaults_left_out,
        undeclared=_undeclared(plan, settings.jobs),
        suite_s=last_suite_s(settings, str(parts.source.root)),
        free_bytes=_free(settings.sessions_dir),
        seconds_left=left,
    )


def _undeclared(plan: Plan, jobs: int) -> int:
    several = jobs > 1 and len(plan.tasks) > 1
    return jobs if several and not any(task.depends_on for task in plan.tasks) else 0


def _all_measured(parts: Parts, evaluator: str) -> bool:
    """Tell whether every evaluator the plan needs was measured with the prompts of today."""
    needed = {evaluator, *(endpoint.model for endpoint in parts.panel.by_name.values())}
    return figures(parts.settings, needed).keys() >= needed


def _free(wanted: Path) -> int | None:
    place = next(path for path in (wanted, *wanted.parents) if os.path.lexists(path))
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None
