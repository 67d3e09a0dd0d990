"""The challenges of one proof: made once each, or taken from the record, and told in a report."""

from __future__ import annotations

import time
from collections.abc import Callable

from tilth.contract.suite_record import SuiteRecord
from tilth.gate.challenged import Challenged, Known
from tilth.gate.challenging import Challenger
from tilth.gate.findings import ValidatorReport
from tilth.gate.pytest_run import PytestEnd
from tilth.gate.seed_proof import Proof


class Challenges:
    """Challenge what passed, once each, and hold what came of it."""

    def __init__(self, challenger: Challenger, proof: Proof, known: Known | None) -> None:
        self._challenger = challenger
        self._proof = proof
        self._known = known
        self.found: list[Challenged] = []

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for each in self.found for note in each.notes())

    def of_seeds(self, report: ValidatorReport, end: PytestEnd) -> ValidatorReport:
        """Challenge this task's seed tests, if they passed."""
        if not self._proof.seeds.own:
            return report
        return self._made(report, lambda: self._challenger.seeds(self._proof, end))

    def of_suite(self, report: ValidatorReport, before: SuiteRecord) -> ValidatorReport:
        """Challenge what the change can touch of the project's own tests, if they passed."""
        return self._made(report, lambda: self._challenger.suite(self._proof, before))

    def _made(
        self, report: ValidatorReport, challenge: Callable[[], Challenged]
    ) -> ValidatorReport:
        if self._known is None or not report.passed:
            return report
        known = self._known(report.name)
        if known is None:
            started = time.monotonic()
            made = challenge()
            spent = round(1000 * (time.monotonic() - started))
            known = made.model_copy(update={"duration_ms": spent})
        if not known.tests and not known.left_out:
            return report
        self.found.append(known)
        output = f"{known.render()}\n\n{report.output}".strip()
        return report.model_copy(update={"passed": known.passed, "output": output})
