"""The night's lines: what is said of a forecast, of a limit slept out, of a second opinion."""

from __future__ import annotations

from collections.abc import Iterator

from tilth.contract.verdict import Decision
from tilth.log.night_events import Forecasted, QuotaWait, SecondOpinion
from tilth.show import figures
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress
from tilth.show.times import clock_time, day, minute
from tilth.task.forecast import Range

# From here on the name of a day could be that of another week.
_WEEK_S = 6 * 86_400


def waited(wait: QuotaWait, now: Progress) -> Iterator[Note]:
    """Say until when a used-up limit is slept out."""
    again = "goes on waiting" if wait.resumed else "waits"
    text = f"the {wait.role} {again} until {clock_time(wait.until)}"
    took = figures.clock(wait.wait_s)
    yield Note("quota", f"{text}, {took} from now", Tone.WARN, "!", (wait.error,))


def foreseen(said: Forecasted, now: Progress) -> Iterator[Note]:
    """Say how far the run will likely get."""
    yield Note("forecast", forecast_words(said), Tone.QUIET)
    if not said.chance and not said.cap:
        yield Note("forecast", "no task has a chance to be done by then", Tone.WARN, "!")


def forecast_words(said: Forecasted) -> str:
    """Put a forecast in one line; with no history it says so."""
    if not said.basis:
        return "no task was done on this repository yet: nothing to foresee by"
    by = f" by {_end(said.by, said.seconds_left or 0)}" if said.by else ""
    done = f"{whole_range(said.done)} of {said.remaining}" if said.done else str(said.remaining)
    cost = f"{money_range(said.cost_usd)} for all of them" if said.cost_usd else "cost unknown"
    each = f"{_time_range(said.task_seconds)} each" if said.task_seconds else ""
    basis = f"from {figures.counted(said.basis, 'done task')}"
    tasks = "task" if said.remaining == 1 else "tasks"
    return figures.joined((f"{done} {tasks} likely done{by}", each, cost, basis))


def _end(by: str, seconds_left: float) -> str:
    return minute(by) if seconds_left < _WEEK_S else day(by)


def whole_range(span: Range) -> str:
    """Write a range of counts."""
    low, high = round(span.low), round(span.high)
    return str(low) if low == high else f"{low} to {high}"


def money_range(span: Range) -> str:
    """Write a range of dollars."""
    return f"{figures.money(span.low)} to {figures.money(span.high)}"


def _time_range(span: Range) -> str:
    return f"{figures.clock(span.low)} to {figures.clock(span.high)}"


def opined(said: SecondOpinion, now: Progress) -> Iterator[Note]:
    """Say whether another reviewer agrees."""
    if said.agrees is None:
        yield Note("second", opinion_words(said), Tone.WARN, "!")
        return
    score = "" if said.score is None else f"score {said.score}"
    text = figures.joined((opinion_words(said), score))
    tone, mark = (Tone.GOOD, "✓") if said.agrees else (Tone.WARN, "!")
    step = f"next step: {said.next_step}" if said.next_step else ""
    details = tuple(part for part in (said.concern, *said.evidence, step) if part)
    yield Note("second", text, tone, mark, details, (str(said.proof or ""),))


def opinion_words(said: SecondOpinion) -> str:
    """Say in a few words how another reviewer stands to the first verdict."""
    who = f"reviewer {said.reviewer} ({said.model})"
    if said.verdict is None:
        return f"{who} gave no readable verdict"
    if said.verdict is Decision.ACCEPT:
        return f"{who} {'agrees' if said.agrees else 'would accept it'}"
    why = f" ({said.rejection_category})" if said.rejection_category else ""
    return f"{who} {'would not accept it either' if said.agrees else 'would reject it'}{why}"


LINES = (waited, foreseen, opined)
