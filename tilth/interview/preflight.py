"""The preflight: a plan proven on its base before a model is paid, as `tilth check` proves it.

What it finds are the tasks' base runs, so that nothing is run twice. What no worker can mend stops
the run, said once with the fix; all else is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilth.base.errors import UserError
from tilth.config.project import SEED_RUN
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.findings import Baseline, ValidatorReport
from tilth.gate.overlay import Seeds
from tilth.gate.pytest_run import PytestEnd
from tilth.gate.seed_proof import base_report, baseline_of
from tilth.gate.staying import staying_nodes
from tilth.interview.proof import Prover, SeedProof, prove
from tilth.interview.prover import Ground, make_prover, open_ground
from tilth.log.events import Carried, Preflighted
from tilth.session.carry import missed_by
from tilth.session.parts import Parts
from tilth.show import figures
from tilth.show.project_lines import suite_words

_SKIP = "no model was asked and nothing was made; `--no-preflight` runs it all the same"


@dataclass(frozen=True)
class Flight:
    """Hold what a proof of a plan found, on all of its tests and on the project's own."""

    proof: SeedProof
    ends: Mapping[str, PytestEnd]
    ground: Baseline
    carries: Carried
    missed: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what the base is like, in one line each."""
        said = suite_words(self.ground.suite_report)
        lines = [f"the project's own tests on the base: {said}"] if said else []
        lines += [
            f"the project's tests miss {path}, which git ignores and your checkout has: "
            f"`--carry {path}` hands it on"
            for path in self.missed
        ]
        return tuple(lines)


def fly(
    parts: Parts, plan: Plan, tests: Mapping[str, str], prover: Prover, ground: Ground
) -> Flight:
    """Try a plan's tests and the project's own on the base."""
    proof = prove(prover, plan, tests)
    before = _project_on_base(parts, plan, ground)
    report = before.suite_report
    missed = missed_by(parts.source, ground.base, ground.carried, report.output if report else "")
    return Flight(proof, prover.ends, before, ground.carries, missed)


def preflight(parts: Parts, plan: Plan, tests: Mapping[str, bytes], base: str) -> Preflighted:
    """Prove a plan before a session is made; UserError where no worker could mend what is wrong."""
    parts.frontend.tell("proving the plan on its base, before a model is paid")
    limit = parts.settings.validator_timeout_seconds
    with open_ground(parts, base) as ground:
        prover = make_prover(ground, timeout_s=limit)
        flight = fly(parts, plan, texts_of(tests), prover, ground)
    causes = flight.proof.causes
    if causes and SEED_RUN not in parts.facts.defaults_left_out:
        raise UserError(_stopped(causes))
    return record_of_flight(flight, parts, plan, tests, limit)


def texts_of(tests: Mapping[str, bytes]) -> dict[str, str]:
    """Give tests as text; bytes that are no UTF-8 stay wrong, and the proof says so."""
    return {name: content.decode("utf-8", "surrogateescape") for name, content in tests.items()}


def _stopped(causes: Mapping[str, tuple[str, ...]]) -> str:
    lines = [f"{cause} ({', '.join(tasks)})" for cause, tasks in causes.items()]
    said = "; ".join(lines)
    return f"this plan cannot be worked on: {said}; {_SKIP}"


def _project_on_base(parts: Parts, plan: Plan, ground: Ground) -> Baseline:
    """Find what ruff says of the base and what the project's own tests do there."""
    no_tests = parts.scratch / "no-seed-tests"
    no_tests.mkdir(exist_ok=True)
    gate = parts.gate_at(ground.places, ground.trees, no_tests, ground.carried)
    return gate.baseline(plan.tasks[0], plan, ground.base)


def record_of_flight(
    flight: Flight, parts: Parts, plan: Plan, tests: Mapping[str, bytes], timeout_s: float
) -> Preflighted:
    """Give the record of a proof; the tree it holds for is named when the seed is committed."""
    tasks = plan.with_status(Status.PENDING)
    found = {task.id: _baseline(flight, parts, task, tests, timeout_s) for task in tasks}
    report = flight.ground.suite_report
    masked = None if report is None else _masked(parts, report)
    return Preflighted(
        tree="",
        carried=flight.carries.sha256,
        baselines={} if plan.with_status(Status.DONE) else {k: v for k, v in found.items() if v},
        violations=flight.ground.violations,
        suite_report=masked,
        notes=(_seeds_line(flight), *flight.notes),
    )


def _baseline(
    flight: Flight, parts: Parts, task: Task, tests: Mapping[str, bytes], timeout_s: float
) -> Baseline | None:
    """Give what the gate would find of a task's own tests; None where it has to run them itself."""
    own = {f"tests/{name}": text for name, text in tests.items() if task.owns_test(name)}
    seeds = Seeds(own=own, done={}, open_prefixes=(), all_prefixes=())
    if SEED_RUN in parts.facts.defaults_left_out or not own:
        left_out = {"seeds_left_out": bool(own)}
        return baseline_of(seeds, None, None, (), {}).model_copy(update=left_out)
    end = flight.ends.get(next(iter(own)))
    if len(own) > 1 or end is None:
        return None
    report = base_report(end, seeds, timeout_s)
    support = tuple(sorted(end.run.support)) if end.run else ()
    found = baseline_of(seeds, report and _masked(parts, report), end.run, (), {})
    return found.model_copy(update={"support": support})


def _masked(parts: Parts, report: ValidatorReport) -> ValidatorReport:
    return report.model_copy(update={"output": parts.mask.result(report.output)})


def _seeds_line(flight: Flight) -> str:
    """Say how the plan's tests stand before the work."""
    runs = [end.run for end in flight.ends.values() if end.run]
    stays = sum(len(staying_nodes(run, run.seeds)) for run in runs)
    red = sum(result.is_red for run in runs for result in run.results)
    are = "is red, as it should be" if red == 1 else "are red, as they should be"
    said = f"{figures.counted(red, 'test')} of the plan {are} before the work"
    kept = f", {stays} green, to stay so" if stays else ""
    doubts = len(flight.proof.problems)
    more = f"; {figures.counted(doubts, 'doubt')}, see `tilth check`" if doubts else ""
    return f"{said}{kept}{more}"
