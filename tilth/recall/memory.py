"""Memory: what the log of a session says about where it stands. One pass, nothing guessed.

It keeps the sums, the commits that were recorded, and every line of the task that was open last, so
that its exchange can be taken up again. A log is long and its lines are kept, so the garbage
collector is told to leave them alone: there is no cycle among them.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tilth.budget import Meter, Spend
from tilth.messages import Role, Usage
from tilth.summary import Tally


@dataclass
class OpenTask:
    """Hold the lines of one attempt at a task, from its `context_reset` on."""

    task_id: str
    base: str
    trace_id: str | None
    ledger_start: int
    lines: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)


@dataclass
class Memory:
    """Hold what one pass over a log found."""

    last_seq: int = 0
    last_stop: str | None = None
    start: Mapping[str, Any] | None = None
    started_at: str = ""
    seeded: bool = False
    tip: str | None = None
    parents: dict[str, str] = field(default_factory=dict)
    failed_commits: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    open: OpenTask | None = None
    tally: Tally = field(default_factory=Tally)
    _used: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        return self.start is not None

    def meter(self) -> Meter:
        """Sum up what every role has spent so far."""
        return Meter({Role(role): _spend(used) for role, used in self._used.items()})

    def read(self, line: Mapping[str, Any]) -> None:
        """Take in one line of the log."""
        self.tally.read(line)
        kind, payload = line["type"], line["payload"]
        self.last_seq = line["seq"]
        if kind == "context_reset":
            self._open(line, payload)
        elif self.open is not None and line["task_id"] == self.open.task_id:
            self.open.lines.append((kind, payload))
        note = _NOTES.get(kind)
        if note is not None:
            note(self, line, payload)

    def _open(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        task_id = line["task_id"]
        self.failed.discard(task_id)
        self.open = OpenTask(task_id, payload["base"], line["trace_id"], self.verdicts[task_id])

    def _model_call(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        # Plain sums: a long log holds thousands of calls, and a wake should be quick.
        used = self._used.setdefault(payload["role"], {})
        for name, count in payload["usage"].items():
            used[name] = used.get(name, 0) + count
        used["calls"] = used.get("calls", 0) + 1
        cost = payload["cost_usd"]
        priced = "unpriced_calls" if cost is None else "cost_usd"
        used[priced] = used.get(priced, 0) + (1 if cost is None else cost)

    def _start(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.start = payload
        self.started_at = line["ts"]
        self.last_stop = None

    def _seed(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.seeded = True
        self.tip = payload["commit"]

    def _commit(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.tip = payload["commit"]
        self.parents[payload["commit"]] = payload["parent"]
        if payload["kind"] == "failed":
            self.failed_commits.add(payload["commit"])

    def _verdict(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.verdicts[line["task_id"]] += 1

    def _done(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.done.add(line["task_id"])
        self.open = None

    def _failed(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.failed.add(line["task_id"])
        self.open = None

    def _stop(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.last_stop = payload["reason"]

    def _resume(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        self.last_stop = None
        unwound = payload.get("unwound_commit")
        if unwound is not None and unwound == self.tip:
            self.tip = self.parents.get(unwound, self.tip)


def _spend(used: Mapping[str, float]) -> Spend:
    return Spend(
        usage=Usage(**{name: int(used.get(name, 0)) for name in Usage.model_fields}),
        calls=int(used.get("calls", 0)),
        cost_usd=float(used.get("cost_usd", 0.0)),
        unpriced_calls=int(used.get("unpriced_calls", 0)),
    )


_NOTES = {
    "session_start": Memory._start,
    "seed_committed": Memory._seed,
    "model_call": Memory._model_call,
    "commit": Memory._commit,
    "evaluator_verdict": Memory._verdict,
    "task_done": Memory._done,
    "task_failed": Memory._failed,
    "stop": Memory._stop,
    "session_resume": Memory._resume,
}


def remember(lines: Iterable[Mapping[str, Any]]) -> Memory:
    """Read a whole log once."""
    memory = Memory()
    with _uncollected():
        for line in lines:
            memory.read(line)
    return memory


@contextmanager
def _uncollected() -> Iterator[None]:
    """Make objects that stay: without a search for garbage now, and left out of later ones."""
    searches = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if searches:
            gc.enable()
