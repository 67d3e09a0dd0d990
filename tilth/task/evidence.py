"""Evidence: what is run on a case between its green validators and its evaluator.

Open probes first, since one that still fails sends the case back without a call; then mutants of
the change, which are only told of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tilth.contract.evidence import Mutated, Probed, bounded
from tilth.contract.probes import OpenProbe, may_refuse, open_probes
from tilth.contract.rules import Rules
from tilth.contract.verdict import LedgerEntry, RejectionCategory, harness_reject
from tilth.gate.findings import Validation
from tilth.log.events import MutantsTried, ProbeFailed, ProbeRun
from tilth.task.asking import check_stop
from tilth.task.attempt import Attempt, Submission
from tilth.task.bench import Bench
from tilth.task.review import Evidence, judged


@dataclass(frozen=True)
class ProbeCheck:
    """Hold what the open probes of a task did on a new case, in words and by outcome."""

    passing: tuple[OpenProbe, ...] = ()
    failing: tuple[OpenProbe, ...] = ()

    def render(self) -> str:
        """Tell the evaluator what its own probes say now."""
        lines = [
            f"- {probe.concern}: its probe failed before and passes on this change: settled by "
            "proof. Confirm it in `resolved`."
            for probe in self.passing
        ]
        lines += [
            f"- {probe.concern}: its probe still does not pass, and the case came back "
            "unaccepted for that as often as it may. Decide now: reject, if the concern stands; "
            "if the probe is at fault, withdraw it by naming the concern in `resolved`."
            for probe in self.failing
        ]
        return "\n".join(lines)


def gather(
    bench: Bench, attempt: Attempt, call_id: str, submission: Submission, validation: Validation
) -> Evidence | LedgerEntry:
    """Run what else there is to run on a case that passed; a probe that fails sends it back."""
    check = check_probes(bench, attempt, submission)
    refused = refusal(bench, attempt, call_id, submission, validation, check)
    if refused is not None:
        return refused
    return Evidence(validation, check.render(), mutants(bench, attempt, submission))


def run_probe(
    bench: Bench,
    attempt: Attempt,
    tree: str,
    text: str,
    *,
    phase: Literal["verdict", "case"],
    concern: str | None = None,
) -> Probed:
    """Run a probe on a tree, or say what it did there before."""
    known = bench.evidence.probed(tree, text)
    if known is not None:
        return known
    check_stop(bench)
    found = bench.gate.probe(attempt.task, bench.record.plan, attempt.base, tree, text)
    found = found.model_copy(update={"output": bench.mask.result(found.output)})
    attempt.emit(
        ProbeRun(phase=phase, concern=concern, probe=bounded(text), tree=tree, **dict(found))
    )
    bench.evidence.keep_probed(tree, text, found)
    return found


def check_probes(bench: Bench, attempt: Attempt, submission: Submission) -> ProbeCheck:
    """Run the open probes of a task on a new case."""
    passing: list[OpenProbe] = []
    failing: list[OpenProbe] = []
    for probe in open_probes(bench.record.read_ledger(attempt.task.id)):
        found = run_probe(
            bench, attempt, submission.tree, probe.text, phase="case", concern=probe.concern
        )
        # One that was collected once and is not any more is no better off than one that fails.
        (passing if found.passes else failing).append(probe)
    return ProbeCheck(tuple(passing), tuple(failing))


def refusal(
    bench: Bench,
    attempt: Attempt,
    call_id: str,
    submission: Submission,
    validation: Validation,
    check: ProbeCheck,
) -> LedgerEntry | None:
    """Send a case back on which a probe still fails, unless that was done often enough."""
    ledger = bench.record.read_ledger(attempt.task.id)
    if not check.failing or not may_refuse(ledger):
        return None
    first = check.failing[0]
    names = ", ".join(probe.concern for probe in check.failing)
    if call_id not in bench.evidence.refused:
        failed = tuple(probe.concern for probe in check.failing)
        attempt.emit(ProbeFailed(call_id=call_id, tree=submission.tree, concerns=failed))
        bench.evidence.refused.add(call_id)
    return harness_reject(
        judged(bench, attempt, submission, validation.summary),
        category=first.category or RejectionCategory.ACCEPTANCE_GAP,
        concern=f"{names} still stands: its test still does not pass. {first.about}",
        next_step=f"Settle {names}, so that its test passes.",
        probe=first.text,
    )


def mutants(bench: Bench, attempt: Attempt, submission: Submission) -> Mutated | None:
    """Plant faults in the change and see which its tests notice, as far as the time allows."""
    known = bench.evidence.mutated(attempt.task.id, submission.tree)
    seconds = bench.settings.mutation_seconds if bench.rules >= Rules.EVIDENCE else 0
    if known is not None or not seconds or bench.evidence.is_closed:
        return known
    started = bench.clock.monotonic()
    found = bench.gate.mutants(
        attempt.task,
        bench.record.plan,
        attempt.base,
        submission.tree,
        seconds=seconds,
        check=lambda: check_stop(bench),
    )
    duration = int((bench.clock.monotonic() - started) * 1000)
    attempt.emit(MutantsTried(tree=submission.tree, duration_ms=duration, **dict(found)))
    bench.evidence.keep_mutated(attempt.task.id, submission.tree, found)
    return found
