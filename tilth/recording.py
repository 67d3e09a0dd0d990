"""The recording: a session's log, read so that it can be played again and compared.

It keeps an index, not the log: where each answer and each result stands, and what came of each
attempt. It writes nothing.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilth.errors import CorruptSession, UserError
from tilth.eventlog import read_events, unreadable
from tilth.messages import Role

Line = Mapping[str, Any]
Payload = Mapping[str, Any]

_PLAYED = frozenset({Role.WORKER, Role.EVALUATOR})


@dataclass(frozen=True)
class Start:
    """Hold with what one start or resume of the session set out."""

    settings: Mapping[str, str]
    fresh: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """Hold one thing that came of an attempt, in words that can be compared."""

    seq: int
    what: str


@dataclass(frozen=True)
class Landing:
    """Hold the commit an attempt ended in."""

    seq: int
    kind: str
    commit: str
    tree: str


@dataclass
class Attempt:
    """Hold where everything stands that belongs to one conversation of the worker."""

    task_id: str
    start: int
    # The start it was given in, and the number of its line.
    answers: dict[Role, list[tuple[int, int]]] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=dict)
    interrupted: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    landing: Landing | None = None
    _case: tuple[str, int] = ("", 0)

    def submitted(self, seq: int, payload: Payload) -> None:
        """Note a case; one that is heard again after an interruption takes the first's place."""
        call_id, at = self._case
        if payload["call_id"] == call_id:
            del self.steps[at:]
        self._case = (payload["call_id"], len(self.steps))
        self.steps.append(Step(seq, f"case on tree {payload['tree']}"))


class Recording:
    """Read one log into its index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session_start: Payload | None = None
        self.starts: list[Start] = []
        self.attempts: dict[str, list[Attempt]] = {}
        self._worked = False
        self._places = _line_places(path)
        for line in read_events(path):
            try:
                self._read(line)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise unreadable(str(path), line, error) from None

    @property
    def opening(self) -> Payload:
        """Give the session's first event, without which nothing can be played."""
        if self.session_start is None:
            raise UserError(f"{self.path}: no session_start in it: there is nothing to play")
        return self.session_start

    def payload(self, seq: int) -> dict[str, Any]:
        """Read one event's payload from the log."""
        with self.path.open("rb") as file:
            file.seek(self._places[seq - 1])
            payload = json.loads(file.readline())["payload"]
        if not isinstance(payload, dict):
            raise CorruptSession(f"{self.path}: line {seq} has no payload")
        return payload

    def _read(self, line: Line) -> None:
        kind, payload, task_id = line["type"], line["payload"], line["task_id"]
        self._worked = self._worked or kind in ("context_reset", "model_call")
        if kind == "session_start":
            self.session_start = payload
            self._begin(Start(payload["settings"], fresh=False))
        elif kind == "session_resume":
            settings = payload.get("settings") or (self.starts[-1].settings if self.starts else {})
            fresh = payload.get("reattached") is None
            self._begin(Start(settings, fresh, tuple(payload.get("notes") or ())))
        elif kind == "prompt_assembled" and payload["role"] == Role.WORKER:
            self.attempts.setdefault(task_id, []).append(Attempt(task_id, len(self.starts) - 1))
        elif task_id in self.attempts:
            _take(self.attempts[task_id][-1], line, payload, len(self.starts) - 1)

    def _begin(self, start: Start) -> None:
        # A start in which no task was begun left nothing to play.
        if self.starts and not self._worked:
            lost = self.starts.pop().notes
            start = Start(start.settings, start.fresh, (*lost, *start.notes))
        self.starts.append(start)
        self._worked = False


def _take(attempt: Attempt, line: Line, payload: Payload, start: int) -> None:
    seq = line["seq"]
    match line["type"]:
        case "model_call" if payload["role"] in _PLAYED:
            attempt.answers.setdefault(Role(payload["role"]), []).append((start, seq))
        case "tool_result":
            attempt.results[payload["call_id"]] = seq
            if payload.get("interrupted"):
                attempt.interrupted.add(payload["call_id"])
        case "case_submitted":
            attempt.submitted(seq, payload)
        case "commit":
            attempt.landing = Landing(seq, payload["kind"], payload["commit"], payload["tree"])
        case kind if (what := _what(kind, payload)) is not None:
            attempt.steps.append(Step(seq, what))


def _what(kind: str, payload: Payload) -> str | None:
    match kind:
        case "validator_run" if payload["phase"] == "case":
            return f"{payload['name']} {'passed' if payload['passed'] else 'failed'}"
        case "evaluator_verdict":
            category = payload["rejection_category"]
            return f"verdict {payload['verdict']}{f' ({category})' if category else ''}"
        case "blocker_raised":
            return "blocker upheld" if payload["contract_at_fault"] else "blocker refused"
        case "task_failed":
            return f"failed: {payload['reason']}"
    return None


def _line_places(path: Path) -> array[int]:
    places = array("Q")
    try:
        with path.open("rb") as file:
            place = 0
            for raw in file:
                places.append(place)
                place += len(raw)
    except OSError as error:
        raise UserError(f"{path}: the recording cannot be read: {error.strerror}") from None
    return places
