"""Plain lines: what an interview has to say to a person, without colour and without a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tilth.budget import Meter
from tilth.inert import inert, one_line
from tilth.seed.frontend import SeedSummary
from tilth.telling import figures

MAX_TURNS = 60


def spent_line(meter: Meter, turns: int) -> str:
    """Say what an interview has cost so far; a price nobody knows is said, never shown as $0."""
    cost = figures.money(meter.cost_usd)
    if meter.unpriced_calls:
        cost = f"{cost} + unknown" if meter.cost_usd else "cost unknown"
    tokens = f"{figures.count(meter.tokens)} tokens"
    return figures.joined((f"turn {turns} of {MAX_TURNS}", tokens, cost))


def summary_lines(summary: SeedSummary) -> Iterator[str]:
    """Tell of a finished seed, line by line."""
    yield f"prepared {summary.session}: {one_line(summary.tldr, 400)}"
    for task_id, title, criteria in summary.tasks:
        counted = figures.counted(criteria, "criterion", "criteria")
        yield f"  {task_id} {one_line(title)} ({counted})"
    tests = figures.counted(summary.tests, "test file")
    yield f"  {tests} on {summary.branch}, red for the right reason"
    yield from _listed("out of scope", [summary.scope_notes] if summary.scope_notes else [])
    yield from _listed("open questions", summary.open_questions)
    yield from _listed("blockers", summary.blockers)
    if summary.review:
        yield f"  contract review: {one_line(summary.review, 400)}"
    yield f"next: {summary.next_command}"


def _listed(heading: str, items: Iterable[str]) -> Iterator[str]:
    lines = [line for item in items for line in inert(item).splitlines() if line.strip()]
    if lines:
        yield f"  {heading}:"
        yield from (f"    - {one_line(line, 400)}" for line in lines)
