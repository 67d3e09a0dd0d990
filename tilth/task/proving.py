"""A tree put to the gate: what is known of it from the record is not run again."""

from __future__ import annotations

from functools import partial

from tilth.contract.prd import Plan, Task
from tilth.contract.rules import Rules
from tilth.gate.findings import Baseline, Validation
from tilth.log.events import ChallengeMade, Emit
from tilth.task.bench import Bench

_SAID = ("refused", "left_out")


def run_gate(
    bench: Bench, task: Task, plan: Plan, base: str, tree: str, baseline: Baseline, emit: Emit
) -> Validation:
    """Run the validators on a tree with their challenges, and record these."""
    recorded = bench.evidence.validated(task.id, tree)
    if recorded:
        return Validation(reports=recorded)
    challenged = None
    if bench.rules >= Rules.CHALLENGE:
        challenged = partial(bench.evidence.challenged, task.id, tree)
    validation = bench.gate.validate(task, plan, base, tree, baseline, challenged)
    for found in validation.challenges:
        if bench.evidence.challenged(task.id, tree, found.validator) != found:
            bench.evidence.keep_challenged(task.id, tree, found)
            masked = {name: tuple(map(bench.mask.result, getattr(found, name))) for name in _SAID}
            emit(ChallengeMade(tree=tree, **{**dict(found), **masked}))
    return validation
