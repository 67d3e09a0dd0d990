"""The events of evidence: what the evaluator looked at, and what probes and mutants did."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from tilth.contract.evidence import ProbeOutcome
from tilth.gate.challenged import Challenged, ChallengeRun
from tilth.log.envelope import Payload


class EvaluatorTool(Payload):
    """Hold one call of the evaluator and exactly what it was given back.

    `lacking` is what a verdict lacked that could be read, where that was asked for once more.
    """

    sparse: ClassVar[tuple[str, ...]] = ("lacking",)
    type: Literal["evaluator_tool"] = "evaluator_tool"
    conversation: str
    call_id: str
    name: str
    arguments: Any = None
    tree: str
    content: str
    is_error: bool
    duration_ms: int = 0
    sha256: str | None = None
    lacking: tuple[str, ...] = ()


class ProbeRun(Payload):
    """Tell what a probe did on a tree; `phase` is `verdict` where the evaluator gave it first."""

    type: Literal["probe_run"] = "probe_run"
    phase: Literal["verdict", "case"]
    concern: str | None
    probe: str
    tree: str
    outcome: ProbeOutcome
    output: str
    duration_ms: int


class ProbeFailed(Payload):
    """Tell that a case went back without an evaluator, because open probes still fail."""

    type: Literal["probe_failed"] = "probe_failed"
    call_id: str
    tree: str
    concerns: tuple[str, ...]


class MutantsTried(Payload):
    """Tell which planted faults no test noticed."""

    type: Literal["mutants"] = "mutants"
    tree: str
    tried: int
    killed: int
    not_run: int
    survived: tuple[str, ...]
    duration_ms: int = 0


class ChallengeMade(Payload):
    """Tell what became of tests whose expectations were made false, on one tree.

    The fields are those of `Challenged`; `validator` says whether they are the task's own tests
    (`pytest`) or the project's (`suite`).
    """

    type: Literal["challenge"] = "challenge"
    tree: str
    validator: str
    tests: tuple[str, ...] = ()
    nonce: str = ""
    tries: int = 0
    runs: tuple[ChallengeRun, ...] = ()
    noticed: tuple[str, ...] = ()
    unnoticed: tuple[str, ...] = ()
    coarse: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    duration_ms: int = 0

    @property
    def found(self) -> Challenged:
        """Give what the challenge showed."""
        return Challenged(**{name: getattr(self, name) for name in Challenged.model_fields})
