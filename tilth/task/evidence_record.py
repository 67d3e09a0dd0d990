"""What challenges, probes and mutants showed, by tree: nothing of it is run a second time.

A resume and a replay begin with what the log says. It runs nothing and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilth.base.values import digest
from tilth.contract.evidence import Mutated, Probed
from tilth.gate.challenged import Challenged
from tilth.gate.findings import ValidatorReport
from tilth.model.messages import ToolResult


@dataclass
class EvidenceRecord:
    """Hold results by the tree they are about.

    `is_closed` is true of a recording: it knows all the challenges and mutants there were. One from
    before there were challenges knows what the validators said, too.
    """

    is_closed: bool = False
    _probed: dict[tuple[str, str], Probed] = field(default_factory=dict)
    _mutated: dict[tuple[str, str], Mutated] = field(default_factory=dict)
    _challenged: dict[tuple[str, str], dict[str, Challenged]] = field(default_factory=dict)
    _validated: dict[tuple[str, str], tuple[ValidatorReport, ...]] = field(default_factory=dict)
    _told: dict[tuple[str, str], ToolResult] = field(default_factory=dict)
    # The calls whose case went back because a probe still failed.
    refused: set[str] = field(default_factory=set)

    def probed(self, tree: str, text: str) -> Probed | None:
        """Give what the harness saw a probe do."""
        return self._probed.get((tree, digest(text)))

    def keep_probed(self, tree: str, text: str, probed: Probed) -> None:
        self._probed[tree, digest(text)] = probed

    def mutated(self, task_id: str, tree: str) -> Mutated | None:
        """Give what came of a change's mutants."""
        return self._mutated.get((task_id, tree))

    def keep_mutated(self, task_id: str, tree: str, mutated: Mutated) -> None:
        self._mutated[task_id, tree] = mutated

    def challenged(self, task_id: str, tree: str, validator: str) -> Challenged | None:
        """Give what came of challenging the tests of a validator; None if that is not known."""
        known = self._challenged.get((task_id, tree), {}).get(validator)
        return Challenged(validator=validator) if known is None and self.is_closed else known

    def keep_challenged(self, task_id: str, tree: str, found: Challenged) -> None:
        self._challenged.setdefault((task_id, tree), {})[found.validator] = found

    def validated(self, task_id: str, tree: str) -> tuple[ValidatorReport, ...]:
        """Give what the validators said of a tree, where that is part of the record."""
        return self._validated.get((task_id, tree), ())

    def keep_validated(self, task_id: str, tree: str, reports: tuple[ValidatorReport, ...]) -> None:
        self._validated[task_id, tree] = reports

    def told(self, tree: str, text: str) -> ToolResult | None:
        """Give what an evaluator was told of a probe that it ran itself."""
        return self._told.get((tree, digest(text)))

    def keep_told(self, tree: str, text: str, result: ToolResult) -> None:
        self._told[tree, digest(text)] = result
