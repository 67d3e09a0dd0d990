"""The lane's gate: the gate of one of several tasks at once, by the plan as that task sees it.

It knows of those tasks alone whose work is in its base, and proves nothing by itself. How many
commands the gates of a run have going at once is the business of the room they share.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilth.contract.prd import Plan, Task
from tilth.gate.challenged import Known, unknown
from tilth.gate.evidence import Mutated, Probed
from tilth.gate.findings import Baseline, Validation
from tilth.gate.gate import Gate


class LaneGate:
    """Prove trees like the gate behind it, by the plan as its task sees it."""

    def __init__(self, gate: Gate, seen: Callable[[Plan, Task], Plan]) -> None:
        self._gate = gate
        self._seen = seen

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        return self._gate.baseline(task, self._seen(plan, task), base)

    def baseline_onto(self, task: Task, plan: Plan, base: str, known: Baseline) -> Baseline:
        return self._gate.baseline_onto(task, self._seen(plan, task), base, known)

    def validate(
        self,
        task: Task,
        plan: Plan,
        base: str,
        tree: str,
        baseline: Baseline,
        challenged: Known | None = unknown,
    ) -> Validation:
        return self._gate.validate(task, self._seen(plan, task), base, tree, baseline, challenged)

    def prove_tip(self, plan: Plan, tip: str) -> Validation:
        return self._gate.prove_tip(plan, tip)

    def files_of(self, tree: str) -> Path:
        return self._gate.files_of(tree)

    def probe(self, task: Task, plan: Plan, base: str, tree: str, text: str) -> Probed:
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
        seen = self._seen(plan, task)
        return self._gate.mutants(task, seen, base, tree, seconds=seconds, check=check)
