"""The models of a run: who answers, at which endpoint, and which evaluators a plan asks for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tilth.base.clock import Clock
from tilth.config.settings import Endpoint, Settings
from tilth.contract.prd import Plan, Task
from tilth.model.messages import Model, Role
from tilth.model.provider import AnthropicModel
from tilth.model.reviewers import Panel, Reviewers, read_reviewers
from tilth.model.shared_limit import SharedLimit
from tilth.session.endpoints import model_at
from tilth.session.frontend import Frontend


@dataclass(frozen=True)
class Models:
    """Hold who answers in a run."""

    worker: Model
    evaluator_for: Callable[[Task], Model]
    # Who may give a second opinion; and in a recording, on which tasks they did, in their order.
    others: Mapping[str, Model] = field(default_factory=dict)
    seconded: tuple[str, ...] | None = None


def require_endpoints(settings: Settings) -> None:
    """Refuse settings that do not say how the models of a run are reached."""
    settings.require_endpoint(Role.WORKER)
    if settings.evaluate:
        settings.require_endpoint(Role.EVALUATOR)


@contextmanager
def open_endpoints(
    settings: Settings, panel: Panel, frontend: Frontend, clock: Clock
) -> Iterator[Models]:
    """Connect to the endpoints that the settings and the plan's reviewers name."""
    interrupt = frontend.interrupt
    worker = settings.require_endpoint(Role.WORKER)
    # Without an evaluator its place is never asked; the worker's endpoint fills it.
    named = {"": settings.endpoint(Role.EVALUATOR) or worker, **panel.by_name, **panel.others}
    heard = frontend.hear_model
    limits: dict[tuple[str | None, str], SharedLimit] = {}

    def connected(end: Endpoint) -> AnthropicModel:
        whose = (end.base_url, end.api_key.get_secret_value())
        limit = limits.setdefault(whose, SharedLimit(time.monotonic, interrupt.sleep))
        return model_at(end, interrupt, clock, heard, limit)

    model = connected(worker)
    reviewers = {name: connected(end) for name, end in named.items()}
    # Where a reviewer of its own has judged, the evaluator of all others is another, too.
    others = {name: reviewers[name] for name in panel.others} | {"default": reviewers[""]}

    def evaluator_for(task: Task) -> Model:
        known = task.reviewer if task.reviewer in panel.by_name else ""
        return reviewers[known or ""]

    try:
        yield Models(model, evaluator_for, others if settings.evaluate else {})
    finally:
        for one in (model, *reviewers.values()):
            one.close()


def choose_reviewers(
    settings: Settings,
    plan: Plan,
    environ: MutableMapping[str, str],
    frontend: Frontend,
    *,
    second_opinions: bool = False,
) -> Panel:
    """Find the evaluators a plan asks for; from here on no key stands in the environment."""
    reviewers = read_reviewers(settings, environ)
    reviewers.conceal(environ)
    for line in settings.unknown:
        frontend.tell(f"warning: {line}")
    panel = reviewers.choose(plan, settings, second_opinions=second_opinions)
    if second_opinions and not panel.others:
        frontend.tell(
            f"warning: --spend-leftovers buys nothing: {_why_nobody(settings, reviewers)}"
        )
    return panel


def _why_nobody(settings: Settings, reviewers: Reviewers) -> str:
    if not settings.evaluate:
        return "the evaluator is off (TILTH_EVALUATE), so there is no first opinion"
    return (
        "no reviewer but worker and evaluator is configured: define one in "
        f"{reviewers.source} (see docs/evaluation.md)"
    )
