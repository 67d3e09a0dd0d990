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

from tilth.base.errors import RecordingOver
from tilth.contract.operator_word import OperatorWord
from tilth.contract.prd import Task
from tilth.log.events import ToolResulted
from tilth.log.state import SessionState
from tilth.model.messages import ToolCall, ToolSpec
from tilth.model.recorded import THE_END, Script
from tilth.replay.recording import Attempt, Landing, Recording
from tilth.task.bench import Tools
from tilth.task.tool_outcome import Blocked, ToolOutcome
from tilth.task.words import Words

_PASSING = (
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s|sec|seconds)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?"), "<moment>"),
    # earlier logs mark what was hidden without its length
    (re.compile(r"\[hidden(: \d+ characters)?\]"), "<hidden>"),
)


class RecordedTools:
    """Run real tools, but nothing of which the recording cannot say that it ran to its end."""

    def __init__(self, tools: Tools, script: Script, task_id: str | None = None) -> None:
        self._tools = tools
        self._script = script
        self._task_id = task_id

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    def blocked(self, call: ToolCall) -> Blocked | None:
        return self._tools.blocked(call)

    def run(self, call: ToolCall) -> ToolOutcome:
        """Run a call, or give back what was recorded for one that was interrupted."""
        attempt = self._script.attempt(self._task_id)
        seq = attempt.results.get(call.id) if attempt else None
        if attempt is None or seq is None:
            raise RecordingOver(THE_END)
        if call.id in attempt.interrupted:
            return ToolOutcome(
                content=self._script.recording.payload(seq, ToolResulted).content, is_error=True
            )
        return self._tools.run(call)


class RepeatedWords:
    """Give the words of the recording where the recorded run heard them."""

    def __init__(self, words: Words, script: Script) -> None:
        self._words = words
        self._script = script

    @property
    def state(self) -> SessionState:
        return self._words.state

    def waiting(self) -> tuple[OperatorWord, ...]:
        return self._script.words_due()

    def coming(self) -> tuple[OperatorWord, ...]:
        return self._script.words_coming()

    def come_before(self, task: Task) -> bool:
        return self._script.words_before(task)

    def tries_again(self, task: Task) -> bool:
        return self._script.tries_again(task)

    def answering(self, task_id: str, call_id: str) -> tuple[OperatorWord, ...]:
        return self._script.words_answering(task_id, call_id)

    def remove(self, word: OperatorWord) -> None:
        self._script.word_heard(word)


class Match(StrEnum):
    """Say how a task played again stands to its record."""

    EQUAL = "equal"
    DIFFERS = "differs"
    MISSING = "missing"
    UNFINISHED = "unfinished"


@dataclass(frozen=True)
class TaskReplay:
    """Hold how one task came out; `divergence` is the first step that went another way."""

    task_id: str
    match: Match
    recorded: Landing | None
    again: Landing | None
    divergence: str | None
    interrupted: int

    @property
    def holds(self) -> bool:
        return self.match in (Match.EQUAL, Match.UNFINISHED)


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
    recorded, again = _last_landing(pairs)
    return TaskReplay(
        task_id=task_id,
        match=_match(recorded, again, divergence),
        recorded=recorded,
        again=again,
        divergence=divergence,
        interrupted=sum(len(attempt.interrupted) for attempt in before),
    )


def _last_landing(
    pairs: list[tuple[Attempt, Attempt | None]],
) -> tuple[Landing | None, Landing | None]:
    """Give what to compare: the last landing, or of an earlier round the first that differs."""
    landings = [(old.landing, new.landing if new else None) for old, new in pairs]
    for old, new in landings[:-1]:
        if old is not None and old.kind == "done" and (new is None or new.tree != old.tree):
            return old, new
    return landings[-1]


def _match(recorded: Landing | None, again: Landing | None, divergence: str | None) -> Match:
    if recorded is None:
        # Nothing was committed: what can be compared are its cases and what became of them.
        return Match.UNFINISHED if divergence is None else Match.DIFFERS
    if again is None:
        return Match.MISSING
    same = (recorded.tree, recorded.kind) == (again.tree, again.kind)
    return Match.EQUAL if same else Match.DIFFERS


def _divergence(old: Attempt, new: Attempt | None) -> str | None:
    """Name the first step that was taken otherwise; steps beyond the record are no matter."""
    steps = new.steps if new else []
    for number, step in enumerate(old.steps):
        came = steps[number].what if number < len(steps) else "nothing"
        if came != step.what:
            return f"event {step.seq}: recorded {step.what}, played again {came}"
    return None


def changed_results(
    recorded: Recording, again: Recording, places: tuple[str, ...]
) -> Iterator[ResultChange]:
    """Give the tool results that differ in more than times, addresses and the worktree's place."""
    for task_id, attempts in recorded.attempts.items():
        for old, new in zip(attempts, again.attempts.get(task_id, []), strict=False):
            for call_id, seq in old.results.items():
                if call_id in new.results:
                    before = recorded.payload(seq, ToolResulted)
                    after = again.payload(new.results[call_id], ToolResulted)
                    if _plain(before.content, places) != _plain(after.content, places):
                        lines = diff(before.content, after.content)
                        yield ResultChange(seq, task_id, before.name, lines)


def diff(recorded: str, again: str) -> tuple[str, ...]:
    """Compare two texts line by line, with little around each change."""
    lines = difflib.unified_diff(
        recorded.splitlines(), again.splitlines(), "recorded", "played again", n=1, lineterm=""
    )
    return tuple(lines)


def _plain(text: str, places: tuple[str, ...]) -> str:
    for place in places:
        text = text.replace(place, "<worktree>")
    for pattern, name in _PASSING:
        text = pattern.sub(name, text)
    return text
