"""The summary: what an interview has come to and has cost, as plain lines for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tilth.base.safe_text import folded, inert, one_line
from tilth.contract.prd import Task
from tilth.interview.approval import SeedView
from tilth.interview.bench import MAX_TURNS
from tilth.interview.frontend import SeedSummary
from tilth.show import figures
from tilth.task.budget import Meter


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
    yield from (f"  {line}" for line in summary.graph)
    tests = figures.counted(summary.tests, "test file")
    yield f"  {tests} on {summary.branch}, red for the right reason"
    yield from _listed("out of scope", [summary.scope_notes] if summary.scope_notes else [])
    yield from _listed("open questions", summary.open_questions)
    yield from _listed("blockers", summary.blockers)
    if summary.review:
        yield f"  contract review: {one_line(summary.review, 400)}"
    yield f"next: {summary.next_command}"


def approval_lines(seed: SeedView) -> Iterator[str]:
    """Show a seed that is not written yet: every criterion whole, and what is new in it."""
    yield one_line(seed.tldr, 400)
    for task in seed.tasks:
        yield ""
        yield f"  {task.id} {one_line(task.title)}"
        yield from _criteria(seed, task)
    now = {task.id for task in seed.tasks}
    gone = [task_id for task_id in seed.before or () if task_id not in now]
    yield ""
    yield from _listed("taken out", gone)
    yield from _listed("out of scope", [seed.scope_notes] if seed.scope_notes else [])
    yield from _listed("open questions", seed.open_questions)
    yield from _listed("blockers", seed.blockers)
    yield "  every test is red on the last commit, for the right reason"
    if seed.review:
        yield f"  contract review: {one_line(seed.review, 400)}"


def _criteria(seed: SeedView, task: Task) -> Iterator[str]:
    before = None if seed.before is None else seed.before.get(task.id, ())
    known = None if before is None else {folded(criterion) for criterion in before}
    for number, criterion in enumerate(task.acceptance_criteria, start=1):
        mark = "" if known is None or folded(criterion) in known else "  [changed]"
        first, *rest = inert(criterion).strip().splitlines() or [""]
        yield f"    {number}. {first}{'' if rest else mark}"
        yield from (f"       {line.strip()}" for line in rest[:-1])
        yield from (f"       {line.strip()}{mark}" for line in rest[-1:])
    now = {folded(criterion) for criterion in task.acceptance_criteria}
    for criterion in before or ():
        if folded(criterion) not in now:
            yield f"    -  {one_line(criterion, 400)}  [no longer]"


def _listed(heading: str, items: Iterable[str]) -> Iterator[str]:
    lines = [line for item in items for line in inert(item).splitlines() if line.strip()]
    if lines:
        yield f"  {heading}:"
        yield from (f"    - {one_line(line, 400)}" for line in lines)
