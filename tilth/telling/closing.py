"""The closing: the last screen of a run.

Says how each task ended, what it cost, what to look at first, why the run stopped, and what to type
next. The evidence in full is the report's.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from tilth.outcomes import ExitCode, StopReason
from tilth.payloads import Stop
from tilth.prd import Status
from tilth.summary import TaskSummary
from tilth.telling import figures
from tilth.telling.note import Note, Tone
from tilth.telling.scene import Scene

MANY_TASKS = 20
_MANY_REJECTIONS = 2
_SHOWN_FLAGS = 8


class Ending(StrEnum):
    """Say how a task stands when the run stops; clean and below the bar are told apart."""

    DONE = "done"
    BELOW_BAR = "below the bar"
    UNSEEN = "done, not evaluated"
    UNREAD = "done, verdict unread"
    FAILED = "failed"
    OPEN = "unfinished"
    WAITING = "not begun"


_MARKS = {
    Ending.DONE: ("✓", Tone.GOOD),
    Ending.BELOW_BAR: ("!", Tone.WARN),
    Ending.UNSEEN: ("!", Tone.WARN),
    Ending.UNREAD: ("!", Tone.WARN),
    Ending.FAILED: ("✗", Tone.BAD),
    Ending.OPEN: ("…", Tone.PLAIN),
    Ending.WAITING: ("·", Tone.QUIET),
}

_DONE = (Ending.DONE, Ending.BELOW_BAR, Ending.UNSEEN, Ending.UNREAD)

_WHY = {
    StopReason.ALL_DONE: "all tasks are done",
    StopReason.ITER_CAP: "a task used up its iterations",
    StopReason.EVALUATOR_CAP: "the evaluator kept rejecting a task",
    StopReason.NO_CASE: "the worker went quiet without handing in its task",
    StopReason.BLOCKED: "a task waits for your answer",
    StopReason.WALL_CLOCK: "the time for one start is used up",
    StopReason.TOKEN_CAP: "the session's tokens are used up",
    StopReason.COST_CAP: "the session's money is used up",
    StopReason.PROVIDER_FAILURE: "the model endpoint failed or refused us",
    StopReason.INTERRUPTED: "interrupted",
    StopReason.ERROR: "an error stopped the run",
}

_RAISE_FIRST = {
    StopReason.TOKEN_CAP: "TILTH_MAX_TOKENS",
    StopReason.COST_CAP: "TILTH_MAX_COST_USD",
}


def closing(stop: Stop, scene: Scene) -> Iterator[Note]:
    """Give the closing block."""
    endings = _endings(scene)
    tone = _tone(stop)
    numbers = Counter(endings.values())
    tally = ", ".join(f"{numbers[ending]} {ending}" for ending in Ending if numbers[ending])
    why = _WHY[stop.reason]
    if stop.exit_code == ExitCode.BELOW_BAR:
        why = f"{why}, but not all to the bar"
    detail = stop.detail if stop.detail.strip() != why else ""
    yield Note("stopped", why, tone, _mark(tone), (detail,), opens=True)
    if tally:
        yield Note("tasks", tally, Tone.HEAD)
    yield from _task_rows(endings, scene)
    yield Note("spent", _spent(endings, scene), Tone.HEAD)
    yield from _look_first(endings, scene)
    commands = next_commands(stop, scene) if scene.context.advises else ()
    for number, command in enumerate(commands):
        yield Note("" if number else "next", command, Tone.HEAD, whole=True)


def _tone(stop: Stop) -> Tone:
    if stop.exit_code == ExitCode.DONE:
        return Tone.GOOD
    return Tone.BAD if stop.exit_code in (ExitCode.TASK_FAILED, ExitCode.USAGE) else Tone.WARN


def _mark(tone: Tone) -> str:
    return {Tone.GOOD: "✓", Tone.BAD: "✗"}.get(tone, "!")


def _endings(scene: Scene) -> dict[str, Ending]:
    plan = scene.context.plan
    known = scene.tally.summary().tasks
    planned = {task.id: task.status for task in plan.tasks} if plan else {}
    ids = [*planned, *(task_id for task_id in known if task_id not in planned)]
    return {task_id: _ending(known.get(task_id), planned.get(task_id)) for task_id in ids}


def _ending(task: TaskSummary | None, status: Status | None) -> Ending:
    if task is None or (task.outcome == "open" and not task.model_calls):
        # Nothing happened to it here; the plan knows what happened before.
        before = {Status.DONE: Ending.DONE, Status.FAILED: Ending.FAILED}
        return before.get(status or Status.PENDING, Ending.WAITING)
    if task.outcome == "failed":
        return Ending.FAILED
    if task.outcome == "open":
        return Ending.OPEN
    if task.force_accepted:
        return Ending.BELOW_BAR
    if task.verdict == "unparsed":
        return Ending.UNREAD
    return Ending.UNSEEN if task.evaluated is False else Ending.DONE


def _task_rows(endings: dict[str, Ending], scene: Scene) -> Iterator[Note]:
    few = len(endings) <= MANY_TASKS
    for task_id, ending in endings.items():
        if few or ending not in (Ending.DONE, Ending.WAITING):
            mark, tone = _MARKS[ending]
            yield Note("", _row(task_id, ending, scene), tone, mark)


def _row(task_id: str, ending: Ending, scene: Scene) -> str:
    plan, task = scene.context.plan, scene.tally.task(task_id)
    planned = plan.task(task_id) if plan else None
    name = f"{task_id} {planned.title}" if planned else task_id
    parts = [name]
    if ending not in (Ending.DONE, Ending.WAITING):
        parts.append(f"{ending} ({task.reason})" if task.reason else str(ending))
    if task.model_calls:
        parts += [figures.counted(task.iterations, "iteration"), figures.cost(task)]
    if task.score is not None:
        parts.append(f"score {task.score}")
    return figures.joined(parts)


def _spent(endings: dict[str, Ending], scene: Scene) -> str:
    whole = scene.tally.whole
    done = sum(task.outcome == "done" for task in scene.tally.summary().tasks.values())
    each = ""
    if done and whole.cost_known:
        each = f"{figures.money(whole.cost_usd / done)} per accepted task"
    iterations = figures.counted(whole.iterations, "iteration")
    return figures.joined((scene.tokens, scene.cost, each, iterations))


def _look_first(endings: dict[str, Ending], scene: Scene) -> Iterator[Note]:
    flags = [
        f"{task_id}: {flag}"
        for task_id in endings
        for flag in _flags(scene.tally.task(task_id), endings[task_id])
    ]
    for number, flag in enumerate(flags[:_SHOWN_FLAGS]):
        yield Note("" if number else "look at", flag, Tone.WARN)
    if len(flags) > _SHOWN_FLAGS:
        yield Note("", f"and {len(flags) - _SHOWN_FLAGS} more, in report.md", Tone.QUIET)


def _flags(task: TaskSummary, ending: Ending) -> Iterator[str]:
    if ending is Ending.BELOW_BAR:
        score = "unknown" if task.score is None else task.score
        yield f"accepted below the bar, score {score}"
    if ending is Ending.UNSEEN:
        yield "no evaluator saw it"
    if ending is Ending.UNREAD:
        yield "the evaluator's answer could not be read, and the case was let pass"
    if task.tampered:
        yield f"gate files were tampered with: {', '.join(task.tampered)}"
    if task.already_green:
        yield "its tests passed before the work"
    for doubt in task.uncertainties:
        yield f"unsure: {doubt}"
    for short_cut in task.work_arounds:
        yield f"work-around: {short_cut}"
    rejections = sum(note.verdict == "reject" for note in task.history)
    if rejections >= _MANY_REJECTIONS and task.outcome == "done":
        yield f"accepted only after {rejections} rejections"


def next_commands(stop: Stop, scene: Scene) -> Iterator[str]:
    """Give the commands that are useful after this stop, the most useful first."""
    whole = scene.tally.whole
    session = whole.session or "latest"
    place = f"-C {shlex.quote(whole.source)} " if whole.source else ""
    log = f"git {place}log {whole.branch or f'session/{session}'}"
    endings = _endings(scene)
    if stop.reason is StopReason.PROVIDER_FAILURE:
        yield "tilth doctor --online"
    if stop.exit_code == ExitCode.WAITING:
        answered = {note.request for note in whole.requests if note.kind == "answer"}
        for note in whole.requests:
            is_moot = note.request in answered or endings.get(note.task_id or "") in _DONE
            if note.kind == "blocked" and not is_moot:
                yield f'tilth answer {session} {note.request} "…"'
    if stop.reason in _RAISE_FIRST:
        yield f"raise {_RAISE_FIRST[stop.reason]}, then: tilth resume {session}"
    elif stop.exit_code not in (ExitCode.DONE, ExitCode.BELOW_BAR):
        yield f"tilth resume {session}"
    for task_id, ending in endings.items():
        if ending in (Ending.FAILED, Ending.BELOW_BAR):
            yield f"tilth show {session} {task_id}"
    yield log
