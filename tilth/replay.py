"""The replay: a recorded session beside the same session played again, task by task.

Final trees are what counts. Tool results may differ for many reasons (times, paths, process ids),
so the first one that does is told as a hint, not as a fault. It reads two recordings and gives
values; the playing itself is set up at the edge.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from tilth.bench import Tools
from tilth.errors import ProviderError
from tilth.messages import ToolCall, ToolSpec
from tilth.recorded import THE_END, Script
from tilth.recording import Attempt, Landing, Recording
from tilth.tooling import Blocked, Outcome

_PASSING = (
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s|sec|seconds)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?"), "<moment>"),
)


class RecordedTools:
    """Run real tools, but nothing of which the recording cannot say that it ran to its end."""

    def __init__(self, tools: Tools, script: Script) -> None:
        self._tools = tools
        self._script = script

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    def blocked(self, call: ToolCall) -> Blocked | None:
        return self._tools.blocked(call)

    def run(self, call: ToolCall) -> Outcome:
        """Run a call, or give back what was recorded for one that was interrupted."""
        attempt = self._script.attempt
        seq = attempt.results.get(call.id) if attempt else None
        if attempt is None or seq is None:
            raise ProviderError(THE_END)
        if call.id in attempt.interrupted:
            return Outcome(content=self._script.recording.payload(seq)["content"], is_error=True)
        return self._tools.run(call)


class Standing(StrEnum):
    """Say how a task played again stands to its record."""

    EQUAL = "equal"
    DIFFERS = "differs"
    MISSING = "missing"
    UNFINISHED = "unfinished"


@dataclass(frozen=True)
class TaskReplay:
    """Hold how one task came out; `divergence` is the first step that went another way."""

    task_id: str
    standing: Standing
    recorded: Landing | None
    again: Landing | None
    divergence: str | None
    interrupted: int

    @property
    def holds(self) -> bool:
        return self.standing in (Standing.EQUAL, Standing.UNFINISHED)


@dataclass(frozen=True)
class ResultChange:
    """Hold one tool result that came out differently."""

    seq: int
    task_id: str
    name: str
    lines: tuple[str, ...]


def compare(recorded: Recording, again: Recording) -> tuple[TaskReplay, ...]:
    """Say for each task whether the play ended in the recorded tree."""
    return tuple(
        _compare_task(task_id, attempts, again.attempts.get(task_id, []))
        for task_id, attempts in recorded.attempts.items()
    )


def _compare_task(task_id: str, before: list[Attempt], after: list[Attempt]) -> TaskReplay:
    pairs = list(zip_longest(before, after[: len(before)]))
    divergence = next((said for old, new in pairs if (said := _divergence(old, new))), None)
    recorded, again = before[-1].landing, after[len(before) - 1].landing if pairs[-1][1] else None
    return TaskReplay(
        task_id=task_id,
        standing=_standing(recorded, again, divergence),
        recorded=recorded,
        again=again,
        divergence=divergence,
        interrupted=sum(len(attempt.interrupted) for attempt in before),
    )


def _standing(recorded: Landing | None, again: Landing | None, divergence: str | None) -> Standing:
    if recorded is None:
        # Nothing was committed: what can be compared are its cases and what became of them.
        return Standing.UNFINISHED if divergence is None else Standing.DIFFERS
    if again is None:
        return Standing.MISSING
    same = (recorded.tree, recorded.kind) == (again.tree, again.kind)
    return Standing.EQUAL if same else Standing.DIFFERS


def _divergence(old: Attempt, new: Attempt | None) -> str | None:
    """Name the first step that was taken otherwise; steps beyond the record are no matter."""
    steps = new.steps if new else []
    for number, step in enumerate(old.steps):
        came = steps[number].what if number < len(steps) else "nothing"
        if came != step.what:
            return f"event {step.seq}: recorded {step.what}, played again {came}"
    return None


def changed_results(
    recorded: Recording, again: Recording, places: tuple[str, str]
) -> Iterator[ResultChange]:
    """Give the tool results that differ in more than times, addresses and the worktree's place."""
    for task_id, attempts in recorded.attempts.items():
        for old, new in zip(attempts, again.attempts.get(task_id, []), strict=False):
            for call_id, seq in old.results.items():
                if call_id in new.results:
                    before, after = recorded.payload(seq), again.payload(new.results[call_id])
                    if _plain(before["content"], places) != _plain(after["content"], places):
                        lines = diff(before["content"], after["content"])
                        yield ResultChange(seq, task_id, before["name"], lines)


def diff(recorded: str, again: str) -> tuple[str, ...]:
    """Compare two texts line by line, with little around each change."""
    lines = difflib.unified_diff(
        recorded.splitlines(), again.splitlines(), "recorded", "played again", n=1, lineterm=""
    )
    return tuple(lines)


def _plain(text: str, places: tuple[str, str]) -> str:
    for place in places:
        text = text.replace(place, "<worktree>")
    for pattern, name in _PASSING:
        text = pattern.sub(name, text)
    return text
