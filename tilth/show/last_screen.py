"""The last screen of a run.

Says how each task ended, what it cost, what to look at first, why the run stopped, and what to type
next. The evidence in full is the report's.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilth.contract.outcomes import ExitCode, StopReason
from tilth.log.events import Stop
from tilth.log.task_state import TaskOutcome, TaskState
from tilth.session.session import SessionStatus
from tilth.show import figures
from tilth.show.causes import causes
from tilth.show.doubt import Ground, recorded_reasons
from tilth.show.endings import DONE_ENDINGS, TaskEnding, tally, task_endings, why_stopped
from tilth.show.next_commands import next_commands
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress
from tilth.show.session_row import SessionRow

MANY_TASKS = 20
_MANY_REJECTIONS = 2
_SHOWN_FLAGS = 8

_MARKS = {
    TaskEnding.DONE: ("✓", Tone.GOOD),
    TaskEnding.BELOW_BAR: ("!", Tone.WARN),
    TaskEnding.UNSEEN: ("!", Tone.WARN),
    TaskEnding.UNREAD: ("!", Tone.WARN),
    TaskEnding.BY_PERSON: ("!", Tone.WARN),
    TaskEnding.FAILED: ("✗", Tone.BAD),
    TaskEnding.TO_LAND: ("…", Tone.PLAIN),
    TaskEnding.OPEN: ("…", Tone.PLAIN),
    TaskEnding.WAITING: ("·", Tone.QUIET),
}


def last_screen(stop: Stop, now: Progress) -> Iterator[Note]:
    """Give the last block of a run."""
    endings = task_endings(now.state, now.context.plan)
    tone = _tone(stop)
    counts = tally((ending, now.state.task(name).reason) for name, ending in endings.items())
    why = why_stopped(stop)
    detail = stop.detail if stop.detail.strip() != why else ""
    yield Note("stopped", why, tone, _mark(tone), (detail,), uncut=True, opens=True)
    for cause in causes(now.state):
        yield Note("cause", cause.text, Tone.BAD)
    if counts:
        yield Note("tasks", counts, Tone.HEAD)
    yield from _task_rows(endings, now)
    yield Note("spent", _spent(now), Tone.HEAD)
    yield from _look_first(endings, now)
    commands = _next(stop, endings, now) if now.context.advises else ()
    for number, command in enumerate(commands):
        yield Note("" if number else "next", command, Tone.HEAD, whole=True)


def _tone(stop: Stop) -> Tone:
    if stop.exit_code == ExitCode.DONE:
        return Tone.GOOD
    return Tone.BAD if stop.exit_code in (ExitCode.TASK_FAILED, ExitCode.USAGE) else Tone.WARN


def _mark(tone: Tone) -> str:
    return {Tone.GOOD: "✓", Tone.BAD: "✗"}.get(tone, "!")


def _task_rows(endings: dict[str, TaskEnding], now: Progress) -> Iterator[Note]:
    few = len(endings) <= MANY_TASKS
    for task_id, ending in endings.items():
        plain = ending in (TaskEnding.DONE, TaskEnding.WAITING)
        if few or not plain or now.state.task(task_id).tampered:
            mark, tone = _MARKS[ending]
            if tone is Tone.GOOD and now.state.task(task_id).tampered:
                mark, tone = _MARKS[TaskEnding.BELOW_BAR]
            yield Note("", _row(task_id, ending, now), tone, mark)


def _row(task_id: str, ending: TaskEnding, now: Progress) -> str:
    plan, task = now.context.plan, now.state.task(task_id)
    planned = plan.task(task_id) if plan else None
    parts = [f"{task_id} {planned.title}" if planned else task_id]
    if ending not in (TaskEnding.DONE, TaskEnding.WAITING):
        parts.append(f"{ending} ({task.reason})" if task.reason else str(ending))
    if task.spend:
        parts += [figures.counted(task.iterations, "iteration"), figures.cost(task.spent)]
    if task.score is not None:
        parts.append(f"score {task.score}")
    if task.tampered:
        parts.append("TAMPERED WITH THE GATE")
    return figures.joined(parts)


def _spent(now: Progress) -> str:
    spent = now.state.spent
    done = sum(task.outcome is TaskOutcome.DONE for task in now.state.tasks.values())
    each = ""
    if done and spent.cost_known:
        each = f"{figures.money(spent.cost_usd / done)} per accepted task"
    iterations = figures.counted(now.state.iterations, "iteration")
    return figures.joined((now.tokens, now.cost, each, iterations))


def _look_first(endings: dict[str, TaskEnding], now: Progress) -> Iterator[Note]:
    # As in the report: what two reviewers see differently before all else, then by doubt.
    def rank(task_id: str) -> tuple[bool, int]:
        task = now.state.task(task_id)
        doubt = sum(reason.points for reason in recorded_reasons(task))
        return task.disagreement is None, -doubt

    first = sorted(endings, key=rank)
    flags = [f"{task_id}: {flag}" for task_id in first for flag in _flags(now.state.task(task_id))]
    for number, flag in enumerate(flags[:_SHOWN_FLAGS]):
        yield Note("" if number else "look at", flag, Tone.WARN)
    if len(flags) > _SHOWN_FLAGS:
        yield Note("", f"and {len(flags) - _SHOWN_FLAGS} more, in report.md", Tone.QUIET)


def _flags(task: TaskState) -> Iterator[str]:
    for reason in recorded_reasons(task):
        if reason.ground is Ground.REJECTED:
            many = sum(not entry.accepted for entry in task.ledger) >= _MANY_REJECTIONS
            if not many or task.outcome is not TaskOutcome.DONE:
                continue
        if reason.ground is not Ground.FAILED:
            yield reason.text


def _next(stop: Stop, endings: dict[str, TaskEnding], now: Progress) -> tuple[str, ...]:
    """Give the commands that are useful after this stop."""
    state, start = now.state, now.state.start
    over = stop.exit_code in (ExitCode.DONE, ExitCode.BELOW_BAR)
    done = tuple(task_id for task_id, ending in endings.items() if ending in DONE_ENDINGS)
    row = SessionRow(
        session=state.session or "latest",
        status=SessionStatus.DONE if over else SessionStatus.STOPPED,
        done_tasks=done,
        total=len(endings),
        failed=tuple(each for each in endings if endings[each] is TaskEnding.FAILED),
        below_bar=tuple(each for each in endings if endings[each] is TaskEnding.BELOW_BAR),
        nothing_left=stop.reason is StopReason.DROPPED,
        source=start.source if start else ".",
        branch=start.branch if start else f"session/{state.session}",
        base_commit=start.base_commit if start else "",
        base_branch=start.base_branch if start else None,
    )
    asked = [request.said.request for request in state.open_requests if request.task_id not in done]
    return next_commands(row, open_requests=asked, last_stop=stop.reason)
