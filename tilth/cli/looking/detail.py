"""`tilth info ID`: one session in detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilth.cli.looking.advice import next_commands
from tilth.cli.looking.listing import document as glance_document
from tilth.cli.looking.listing import homely
from tilth.cli.looking.page import Cell, Column, Page
from tilth.cli.looking.standing import Cap, Standing
from tilth.inert import one_line
from tilth.prd import Status, Task
from tilth.tally.rollup import Spent, VerdictNote
from tilth.telling import figures
from tilth.telling.note import Tone
from tilth.values import jsonable

_SHOWN_VERDICTS = 6
_TASK_COLUMNS = (
    Column("task", whole=True),
    Column("status", whole=True),
    Column("iter", right=True, wide=40),
    Column("score", right=True, wide=48),
    Column("tokens", right=True, wide=64),
    Column("cost", right=True, wide=56),
    Column("title"),
)
_ROLE_COLUMNS = (
    Column("role"),
    Column("calls", right=True),
    Column("tokens", right=True),
    Column("cache reads", right=True, wide=50),
    Column("cost", right=True),
)
_TONES = {Status.DONE: Tone.GOOD, Status.FAILED: Tone.BAD, Status.PENDING: Tone.QUIET}


def print_detail(standing: Standing, page: Page, home: str) -> None:
    """Put one session on the page."""
    page.facts(list(_facts(standing, home)))
    page.line()
    if standing.plan.tasks:
        page.table(_TASK_COLUMNS, [_task_row(task, standing) for task in standing.plan.tasks])
        page.line()
    ways = [(each, convergence(task.history)) for each, task in standing.summary.tasks.items()]
    if any(way for _, way in ways):
        page.facts(ways)
        page.line()
    if standing.summary.by_role:
        page.table(_ROLE_COLUMNS, [_role_row(*pair) for pair in standing.summary.by_role.items()])
        page.line()
    for request in standing.open_requests:
        about = f" ({request.task_id})" if request.task_id else ""
        page.line(f"for you  {request.request}{about}: {one_line(request.text, 400)}", Tone.LOUD)
    for command in commands(standing):
        page.line(f"next     {command}", Tone.HEAD)


def commands(standing: Standing) -> tuple[str, ...]:
    """Give the commands that are useful next."""
    return next_commands(
        standing.seen,
        open_requests=[request.request for request in standing.open_requests],
        last_stop=standing.stop.reason if standing.stop else None,
    )


def _facts(standing: Standing, home: str) -> Iterator[tuple[str, str]]:
    seen, whole, checkpoint = standing.seen, standing.summary, standing.session.checkpoint
    yield "session", seen.session
    yield "status", seen.status
    yield "feature", seen.feature or ""
    yield "repo", homely(seen.source, home)
    yield "branch", f"{seen.branch} from {figures.short_sha(checkpoint.base_commit)}"
    yield "files", homely(str(standing.session.directory), home)
    yield "worker", whole.worker_model or ""
    yield "evaluator", _evaluator(standing)
    yield "sandbox", "OFF: nothing was confined" if whole.sandbox == "off" else whole.sandbox or ""
    yield "created", f"{checkpoint.created}, {figures.counted(whole.starts, 'start')}"
    yield "stopped", _stopped(standing)
    yield "tasks", f"{seen.done} of {seen.total} done"
    for cap in standing.caps:
        yield cap.name, _cap(cap, standing)
    yield "iterations", str(whole.iterations)
    yield "retries", str(whole.retries)


def _evaluator(standing: Standing) -> str:
    whole = standing.summary
    if whole.evaluate is False:
        return "none: validators alone decided, the work is NOT EVALUATED"
    same = " (the worker's own model: a weaker second look)" if whole.same_model else ""
    return f"{whole.evaluator_model}{same}" if whole.evaluator_model else ""


def _stopped(standing: Standing) -> str:
    stop = standing.stop
    if stop is None:
        return ""
    code = "" if stop.exit_code is None else f" (exit {stop.exit_code})"
    return f"{stop.reason}{code}: {stop.detail}" if stop.detail else f"{stop.reason}{code}"


def _cap(cap: Cap, standing: Standing) -> str:
    if cap.name == "cost":
        used = figures.cost(standing.summary)
        return used if cap.limit is None else f"{used} of ${cap.limit:g}"
    if cap.name == "tokens":
        used = figures.count(cap.used)
        return used if cap.limit is None else f"{used} of {figures.count(cap.limit)}"
    used = figures.clock(cap.used * 60)
    limit = "" if cap.limit is None else f" of {figures.clock(cap.limit * 60)}"
    return f"{used}{limit} in the last start"


def _task_row(task: Task, standing: Standing) -> list[Cell]:
    spent = standing.summary.tasks.get(task.id)
    score = task.score if task.score is not None else (spent.score if spent else None)
    worked = spent is not None and spent.model_calls > 0
    return [
        Cell(task.id),
        Cell(task_status(task, standing), _tone(task)),
        Cell(_iterations(task, standing)),
        Cell("" if score is None else str(score)),
        Cell(figures.count(spent.tokens) if spent and worked else ""),
        Cell(figures.cost(spent) if spent and worked else ""),
        Cell(task.title),
    ]


def task_status(task: Task, standing: Standing) -> str:
    """Name a task's status; what was taken below the bar or unseen is said plainly."""
    spent = standing.summary.tasks.get(task.id)
    if task.quality_flag:
        return f"{task.status} BELOW BAR"
    if task.status is Status.DONE and spent and spent.evaluated is False:
        return f"{task.status}, not evaluated"
    if task.status is Status.FAILED and spent and spent.reason:
        return f"{task.status} ({spent.reason})"
    return str(task.status)


def _tone(task: Task) -> Tone:
    return Tone.LOUD if task.quality_flag else _TONES.get(task.status, Tone.PLAIN)


def _iterations(task: Task, standing: Standing) -> str:
    spent = standing.summary.tasks.get(task.id)
    if spent is None or not spent.model_calls:
        return ""
    allowance = standing.allowance
    if allowance is None:
        return str(spent.iterations)
    total = allowance.model_copy(update={"rejections": spent.attempt_rejections}).total
    before = spent.iterations - spent.attempt_iterations
    return f"{spent.attempt_iterations}/{total}" + (f" +{before}" if before else "")


def convergence(history: tuple[VerdictNote, ...]) -> str:
    """Show the way of a task's verdicts in one line, the first and the last of many."""
    steps = [_step(note) for note in history]
    if len(steps) > _SHOWN_VERDICTS:
        left_out = len(steps) - _SHOWN_VERDICTS + 1
        steps = [steps[0], f"… {left_out} more …", *steps[-_SHOWN_VERDICTS + 2 :]]
    return " → ".join(steps)


def _step(note: VerdictNote) -> str:
    name = note.category or note.verdict
    by = " (harness)" if note.source == "harness" else ""
    return f"{name}{'' if note.score is None else f' {note.score}'}{by}"


def _role_row(role: str, spent: Spent) -> list[Cell]:
    return [
        Cell(role),
        Cell(str(spent.model_calls)),
        Cell(figures.count(spent.tokens)),
        Cell(figures.count(spent.usage.cache_read_tokens)),
        Cell(figures.cost(spent)),
    ]


def document(standing: Standing) -> dict[str, Any]:
    """Give one session in detail as JSON data."""
    whole = jsonable(standing.summary)
    rolled = whole.pop("tasks")
    checkpoint = standing.session.checkpoint
    return {
        **glance_document(standing.seen),
        "cost_usd": standing.summary.cost_usd,
        "cost_known": standing.summary.cost_known,
        "cost_final": standing.seen.cost_final,
        "directory": str(standing.session.directory),
        "base_commit": checkpoint.base_commit,
        "last_stop": jsonable(standing.stop) if standing.stop else None,
        "caps": [jsonable(cap) for cap in standing.caps],
        "summary": whole,
        "tasks": [_task_document(task, rolled.get(task.id)) for task in standing.plan.tasks],
        "open_requests": [jsonable(request) for request in standing.open_requests],
        "flags": [jsonable(flag) for flag in standing.flags],
        "next": list(commands(standing)),
    }


def _task_document(task: Task, rolled: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**jsonable(task), "spent": rolled}
