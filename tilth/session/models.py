"""The models of a run: who answers, at which endpoint, and which evaluators a plan asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass

from tilth.base.clock import Clock
from tilth.config.secrets import conceal
from tilth.config.settings import SECRET_NAMES, Settings
from tilth.contract.prd import Plan, Task
from tilth.model.messages import Model, Role
from tilth.model.reviewers import Panel, read_reviewers
from tilth.session.endpoints import model_at
from tilth.session.frontend import Frontend


@dataclass(frozen=True)
class Models:
    """Hold who answers in a run."""

    worker: Model
    evaluator_for: Callable[[Task], Model]


@contextmanager
def open_endpoints(
    settings: Settings, panel: Panel, frontend: Frontend, clock: Clock
) -> Iterator[Models]:
    """Connect to the endpoints that the settings and the plan's reviewers name."""
    interrupt = frontend.interrupt
    worker = settings.require_endpoint(Role.WORKER)
    # Without an evaluator its place is never asked; the worker's endpoint fills it.
    named = {"": settings.endpoint(Role.EVALUATOR) or worker, **panel.by_name}
    heard = frontend.hear_model
    model = model_at(worker, interrupt, clock, heard)
    reviewers = {name: model_at(end, interrupt, clock, heard) for name, end in named.items()}
    try:
        yield Models(model, lambda task: reviewers.get(task.reviewer or "", reviewers[""]))
    finally:
        for one in (model, *reviewers.values()):
            one.close()


def choose_reviewers(
    settings: Settings, plan: Plan, environ: MutableMapping[str, str], frontend: Frontend
) -> Panel:
    """Find the evaluators a plan asks for; from here on no key stands in the environment."""
    reviewers = read_reviewers(settings, environ)
    conceal(environ, (*SECRET_NAMES, *reviewers.keys))
    for line in settings.unknown:
        frontend.tell(f"warning: {line}")
    return reviewers.choose(plan, settings)
