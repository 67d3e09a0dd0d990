"""The bounded gate: a gate of one of several lanes, which takes its place among the others.

Together the gates of a run use no more than half the cores. A task's own gate knows of those tasks
alone whose work is in its base. It proves nothing by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tilth.base.interrupt import Interrupt
from tilth.contract.prd import Plan, Task
from tilth.gate.evidence import Mutated, Probed
from tilth.gate.findings import Baseline, Validation
from tilth.gate.gate import Gate

_LOOK_EVERY_S = 0.2


def gates_at_once(cores: int) -> int:
    """Say how many gates may run at the same time: half the cores' worth, at least one."""
    return max(1, cores // 2)


class Room:
    """Let in so many at a time; a wish to stop is heard while waiting."""

    def __init__(self, places: int, interrupt: Interrupt) -> None:
        self._places = threading.BoundedSemaphore(places)
        self._interrupt = interrupt

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take one of the places for a while."""
        while not self._places.acquire(timeout=_LOOK_EVERY_S):
            self._interrupt.check()
        try:
            yield
        finally:
            self._places.release()


class BoundedGate:
    """Prove trees like the gate behind it, when there is room, by the plan as its task sees it."""

    def __init__(self, gate: Gate, room: Room, seen: Callable[[Plan, Task], Plan]) -> None:
        self._gate = gate
        self._room = room
        self._seen = seen

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        with self._room.taken():
            return self._gate.baseline(task, self._seen(plan, task), base)

    def baseline_onto(self, task: Task, plan: Plan, base: str, known: Baseline) -> Baseline:
        with self._room.taken():
            return self._gate.baseline_onto(task, self._seen(plan, task), base, known)

    def validate(
        self, task: Task, plan: Plan, base: str, tree: str, baseline: Baseline
    ) -> Validation:
        with self._room.taken():
            return self._gate.validate(task, self._seen(plan, task), base, tree, baseline)

    def prove_tip(self, plan: Plan, tip: str) -> Validation:
        with self._room.taken():
            return self._gate.prove_tip(plan, tip)

    def files_of(self, tree: str) -> Path:
        return self._gate.files_of(tree)

    def probe(self, task: Task, plan: Plan, base: str, tree: str, text: str) -> Probed:
        with self._room.taken():
            return self._gate.probe(task, self._seen(plan, task), base, tree, text)

    def mutants(
        self,
        task: Task,
        plan: Plan,
        base: str,
        tree: str,
        *,
        seconds: float,
        check: Callable[[], None],
    ) -> Mutated:
        with self._room.taken():
            seen = self._seen(plan, task)
            return self._gate.mutants(task, seen, base, tree, seconds=seconds, check=check)
