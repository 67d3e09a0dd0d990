"""`tilth info ID`: one session in detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.contract.prd import Status, Task
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import SessionStart, Stop
from tilth.log.state import SessionState, TakenNote
from tilth.log.summary import summary
from tilth.show import figures
from tilth.show.foresight import outlook
from tilth.show.next_commands import next_commands
from tilth.show.note import Tone
from tilth.show.program import say_where_it_is
from tilth.show.session_list import document as row_document
from tilth.show.session_list import homely
from tilth.show.session_view import Cap, SessionView
from tilth.show.tables import Cell, Column, Page
from tilth.show.times import local_time
from tilth.task.budget import Spend

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


def print_detail(view: SessionView, page: Page, home: str) -> None:
    """Put one session on the page."""
    for request in view.open_requests:
        about = f" ({request.task_id})" if request.task_id else ""
        page.line(f"for you  {request.request}{about}: {one_line(request.text, 400)}", Tone.LOUD)
    if view.open_requests:
        page.line()
    page.facts(list(_facts(view, home)))
    page.line()
    if view.plan.tasks:
        page.table(_TASK_COLUMNS, [_task_row(task, view) for task in view.plan.tasks])
        page.line()
    ways = [(each, convergence(task.ledger)) for each, task in view.state.tasks.items()]
    if any(way for _, way in ways):
        page.facts(ways)
        page.line()
    if view.state.spend:
        page.table(_ROLE_COLUMNS, [_role_row(*pair) for pair in view.state.spend.items()])
        page.line()
    for task in view.plan.tasks:
        upstream = view.plan.builds_on_sent_back(task)
        if upstream:
            text = f"{task.id} is built on {', '.join(upstream)}, which was sent back"
            page.line(f"note     {text}", Tone.WARN)
    for command in commands(view):
        page.line(f"next     {command}", Tone.HEAD)
    say_where_it_is()


def commands(view: SessionView) -> tuple[str, ...]:
    """Give the commands that are useful next."""
    return next_commands(
        view.row,
        open_requests=[request.request for request in view.open_requests],
        last_stop=view.state.stop.reason if view.state.stop else None,
    )


def _facts(view: SessionView, home: str) -> Iterator[tuple[str, str]]:
    row, state, checkpoint = view.row, view.state, view.session.checkpoint
    start = state.start
    yield "session", row.session
    yield "status", row.status
    yield "feature", row.feature or ""
    yield "repo", homely(row.source, home)
    yield "branch", f"{row.branch} from {figures.short_sha(checkpoint.base_commit)}"
    yield "files", homely(str(view.session.directory), home)
    yield "worker", start.worker_model if start else ""
    yield "evaluator", _evaluator(view)
    yield "sandbox", _sandbox(start)
    starts = figures.counted(len(state.starts), "start")
    yield "created", f"{local_time(checkpoint.created)}, {starts}"
    yield "stopped", _stopped(view)
    yield "tasks", f"{row.done} of {row.total} done"
    for note in state.taken:
        yield "taken", _taken(note)
    for cap in view.caps:
        yield cap.name, _cap(cap, view)
    yield "forecast", outlook(state)
    if state.waiting is not None and not state.stopped:
        yield "quota", f"the {state.waiting.role} waits until {local_time(state.waiting.until)}"
    yield "iterations", str(state.iterations)
    yield "retries", str(state.retries)


def _evaluator(view: SessionView) -> str:
    start = view.state.start
    if start is None or start.evaluate is False:
        return "none: validators alone decided, the work is NOT EVALUATED" if start else ""
    same = " (the worker's own model: a weaker second look)" if start.same_model else ""
    return f"{start.evaluator_model}{same}" if start.evaluator_model else ""


def _sandbox(start: SessionStart | None) -> str:
    if start is None:
        return ""
    return "OFF: nothing was confined" if start.sandbox == "off" else start.sandbox


def _taken(note: TakenNote) -> str:
    pushed = f", pushed to {note.said.pushed}" if note.said.pushed else ""
    where = f"{note.said.branch} at {figures.short_sha(note.said.after)}"
    return f"{', '.join(note.said.tasks)} into {where}{pushed} ({local_time(note.ts)})"


def _taken_document(note: TakenNote) -> dict[str, Any]:
    said = note.said
    facts = {"branch": said.branch, "after": said.after, "tasks": list(said.tasks)}
    return {"ts": note.ts, **facts, "pushed": said.pushed}


def _stopped(view: SessionView) -> str:
    stop = view.state.stop
    # It went on since: how it stopped before says nothing of how it stands now.
    if stop is None or not view.state.stopped:
        return ""
    said = f"{stop.reason} (exit {stop.exit_code})"
    return f"{said}: {stop.detail}" if stop.detail else said


def _cap(cap: Cap, view: SessionView) -> str:
    if cap.name == "cost":
        used = figures.cost(view.state.spent)
        return used if cap.limit is None else f"{used} of ${cap.limit:g}"
    if cap.name == "tokens":
        used = figures.count(cap.used)
        return used if cap.limit is None else f"{used} of {figures.count(cap.limit)}"
    used = figures.clock(cap.used * 60)
    limit = "" if cap.limit is None else f" of {figures.clock(cap.limit * 60)}"
    return f"{used}{limit} in the last start"


def _task_row(task: Task, view: SessionView) -> list[Cell]:
    known = view.state.task(task.id)
    score = known.score if task.score is None else task.score
    spent = known.spent
    return [
        Cell(task.id),
        Cell(task_status(task, view), _tone(task)),
        Cell(_iterations(task, view)),
        Cell("" if score is None else str(score)),
        Cell(figures.count(spent.usage.counted) if spent.calls else ""),
        Cell(figures.cost(spent) if spent.calls else ""),
        Cell(task.title),
    ]


def task_status(task: Task, view: SessionView) -> str:
    """Name a task's status; what was taken below the bar or unseen is said plainly."""
    known = view.state.task(task.id)
    if task.quality_flag:
        return f"{task.status} BELOW BAR"
    if task.sent_back:
        return f"{task.status}, round {task.round}"
    if task.status is Status.DONE and known.by_person:
        return f"{task.status}, accepted by a person"
    if task.status is Status.DONE and known.evaluated is False:
        return f"{task.status}, not evaluated"
    if task.status is Status.FAILED and known.reason:
        return f"{task.status} ({known.reason})"
    return str(task.status)


def _tone(task: Task) -> Tone:
    return Tone.LOUD if task.quality_flag else _TONES.get(task.status, Tone.PLAIN)


def _iterations(task: Task, view: SessionView) -> str:
    known = view.state.task(task.id)
    if not known.spend:
        return ""
    allowance = view.allowance
    if allowance is None:
        return str(known.iterations)
    attempt = known.attempt
    total = allowance.after(attempt.rejections).total
    before = known.iterations - attempt.iterations
    return f"{attempt.iterations}/{total}" + (f" (+{before} before)" if before else "")


def convergence(ledger: tuple[LedgerEntry, ...]) -> str:
    """Show the way of a task's verdicts in one line, the first and the last of many."""
    steps = [_step(entry) for entry in ledger]
    if len(steps) > _SHOWN_VERDICTS:
        left_out = len(steps) - _SHOWN_VERDICTS + 1
        steps = [steps[0], f"… {left_out} more …", *steps[-_SHOWN_VERDICTS + 2 :]]
    return " → ".join(steps)


def _step(entry: LedgerEntry) -> str:
    name = entry.rejection_category or entry.verdict
    by = "" if entry.source == "evaluator" else f" ({entry.source})"
    return f"{name}{'' if entry.score is None else f' {entry.score}'}{by}"


def _role_row(role: str, spent: Spend) -> list[Cell]:
    return [
        Cell(role),
        Cell(str(spent.calls)),
        Cell(figures.count(spent.usage.counted)),
        Cell(figures.count(spent.usage.cache_read_tokens)),
        Cell(figures.cost(spent)),
    ]


def document(view: SessionView) -> dict[str, Any]:
    """Give one session in detail as JSON data."""
    whole = summary(view.state)
    rolled = whole.pop("tasks")
    checkpoint = view.session.checkpoint
    return {
        **row_document(view.row),
        "cost_usd": whole["cost_usd"],
        "cost_known": view.state.spent.cost_known,
        "cost_final": view.row.cost_final,
        "directory": str(view.session.directory),
        "base_commit": checkpoint.base_commit,
        "last_stop": _stop_document(view.state.stop),
        "caps": [jsonable(cap) for cap in view.caps],
        "summary": whole,
        "tasks": [_task_document(task, view, rolled.get(task.id)) for task in view.plan.tasks],
        "open_requests": [jsonable(request) for request in view.open_requests],
        "taken": [_taken_document(note) for note in view.state.taken],
        "until": view.state.starts[-1].until if view.state.starts else None,
        "quota_wait": _waiting_document(view.state),
        "forecast": _forecast_document(view.state),
        "flags": [jsonable(flag) for flag in view.flags],
        "next": list(commands(view)),
    }


def _waiting_document(state: SessionState) -> dict[str, Any] | None:
    waiting = state.waiting if not state.stopped else None
    return dict(waiting.to_data()) if waiting else None


def _forecast_document(state: SessionState) -> dict[str, Any] | None:
    return dict(state.forecasts[-1].said.to_data()) if state.forecasts else None


def _stop_document(stop: Stop | None) -> dict[str, Any] | None:
    if stop is None:
        return None
    return {"reason": str(stop.reason), "detail": stop.detail, "exit_code": stop.exit_code}


def _task_document(
    task: Task, view: SessionView, rolled: Mapping[str, Any] | None
) -> dict[str, Any]:
    built_on = list(view.plan.builds_on_sent_back(task))
    return {**jsonable(task), "spent": rolled, "built_on_sent_back": built_on}
