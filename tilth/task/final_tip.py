"""The final tip: all of the work proven together, once, after the last task."""

from __future__ import annotations

from tilth.task.bench import Bench
from tilth.task.opening import validator_run


def prove_tip(bench: Bench) -> tuple[str, ...]:
    """Run all seed tests and the project's own on the tip; name the validators that are red."""
    tip = bench.tree.tip()
    if tip is None:
        return ()
    validation = bench.gate.prove_tip(bench.record.plan, tip)
    for report in validation.reports:
        bench.emit(validator_run(bench, report, phase="final", tree=tip))
    return tuple(report.name for report in validation.reports if not report.passed)
