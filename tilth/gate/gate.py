"""The gate: it proves one frozen tree by ruff, pytest, the project's own tests and commands.

Each tree is proven in an export, with the harness's copies of the seed tests and of the files that
steer the gate laid over it. The gate reports; it never changes the worktree, a ref or a status.
The validators run one after the other, so that an interrupt ends the one that runs at once, and
each of the defaults only if those before it pass.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from tilth.base.errors import OF_THE_MACHINE, TilthError
from tilth.base.hidden_characters import escaped_line
from tilth.config.project import ProjectFacts
from tilth.config.secrets import Mask
from tilth.contract.evidence import Mutated, Probed
from tilth.contract.prd import Plan, Task
from tilth.contract.suite_record import SuiteRecord
from tilth.gate.challenged import Known, unknown
from tilth.gate.challenging import Challenger, Challenges
from tilth.gate.change_notes import NO_TEST, ChangeNotes
from tilth.gate.evidence import Trial
from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import Baseline, Validation, ValidatorReport
from tilth.gate.named import run_named
from tilth.gate.overlay import Trees, gather_seeds, plan_overlay
from tilth.gate.passing import PytestRun, complaints
from tilth.gate.plain_sight import PLAIN_SIGHT, compared
from tilth.gate.pytest_config import gate_setups
from tilth.gate.pytest_run import NoPytest, PytestEnd, run_pytest
from tilth.gate.reports import report_of
from tilth.gate.ruff import RUFF, Found, count_of_base, lint_tree, ruff_report
from tilth.gate.run_notes import run_notes
from tilth.gate.seed_proof import PYTEST, Judgement, Proof, base_report, baseline_of
from tilth.gate.shadowing import read_names, shadows
from tilth.gate.suite import SUITE, Suite, kept_report
from tilth.git.kept_trees import KeptTrees, TreeSource

CONFIGURATION = "configuration"


def as_it_is(plan: Plan, task: Task) -> Plan:
    """Show a task the whole plan."""
    return plan


@dataclass(eq=False)
class Gate:
    """Prove trees of one session.

    Several gates of one run may share the `suites` they know, by tree; whoever is to find out about
    a base is `alone` meanwhile. `seen` gives the plan as one task sees it, `start` is the commit
    that the session began from.
    """

    workspace: TreeSource
    runtime: Runtime
    seed_tests: Path
    facts: ProjectFacts
    timeout_s: float
    suites: dict[str, SuiteRecord] = field(default_factory=dict)
    cores: int = 1
    alone: Callable[[], AbstractContextManager[None]] = nullcontext
    seen: Callable[[Plan, Task], Plan] = as_it_is
    mask: Mask = field(default_factory=Mask)
    start: str | None = None
    challenge_seconds: float = 60

    def __post_init__(self) -> None:
        self._kept = KeptTrees(self.workspace, self.runtime.scratch)
        self.runtime = replace(self.runtime, export=self._kept.export)
        self._notes = ChangeNotes(self.workspace, self._kept, self.facts, self.mask, self.start)
        self._names = cache(partial(read_names, self.runtime, self.timeout_s))
        self._challenger = Challenger(
            self.runtime, self.timeout_s, self.challenge_seconds, self.cores
        )
        self._defaults = {RUFF, PYTEST, SUITE} - {*self.facts.defaults_left_out}
        if self.facts.suite is False:
            self._defaults.discard(SUITE)

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        """Find what is true of the untouched base, so that only the rest is laid to the worker."""
        proof = self._open(task, plan, base, base)
        seeds, report, run = proof.seeds, None, None
        violations = count_of_base(*self._lint(proof)) if RUFF in self._defaults else {}
        if PYTEST in self._defaults and seeds.run:
            end = self._run(proof, tuple(seeds.run), watched=True)
            report, run = base_report(end, seeds, self.timeout_s), end.run
        red = self._red_elsewhere(proof, run)
        suite = self._suite_before(proof)
        support = {*(run.support if run else ()), *(suite["suite"].support if suite else ())}
        more = {
            **suite,
            "support": tuple(sorted(support)),
            "seeds_left_out": bool(seeds.own) and PYTEST not in self._defaults,
        }
        return baseline_of(seeds, report, run, red, violations).model_copy(update=more)

    def baseline_onto(self, task: Task, plan: Plan, base: str, known: Baseline) -> Baseline:
        """Give what is known of a task's own base, with what the project's tests do on another."""
        return known.model_copy(update=self._suite_before(self._open(task, plan, base, base)))

    def validate(
        self,
        task: Task,
        plan: Plan,
        base: str,
        tree: str,
        baseline: Baseline,
        challenged: Known | None = unknown,
    ) -> Validation:
        """Run the validators on the tree, and say what was tampered with.

        `challenged` gives what is known of a challenge; without it there is none.
        """
        try:
            self._kept.keep(tree)
            proof = self._open(task, plan, base, tree, baseline.support)
            return self._proven(proof, self.seen(plan, task), baseline, challenged)
        except NoPytest as error:
            # It was there on the base: the code under test has forged the answer.
            return Validation(reports=(_fault(error),))
        except TilthError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
                raise
            # What a case holds may bring down whoever reads it: that is the case's own fault.
            return Validation(reports=(_fault(error),))

    def prove_tip(self, plan: Plan, tip: str) -> Validation:
        """Run all seed tests and the project's own once on what the session leaves."""
        proof = self._open(plan.tasks[-1], plan, tip, tip)
        tests, reports = tuple(proof.seeds.run), list[ValidatorReport]()
        if PYTEST in self._defaults and tests:
            end = self._run(proof, tests)
            reports.append(Judgement((), tests, Baseline()).report(end, self.timeout_s))
        first = next(iter(self.suites.values()), None)
        if SUITE in self._defaults and first is not None and first.not_run is None:
            tree = self.workspace.tree_of(tip)
            known = self.suites.get(tree)
            reports.append(
                kept_report(known, first) if known else self._suite(proof).on_tree(first, tree)[0]
            )
        return Validation(reports=tuple(reports))

    def files_of(self, tree: str) -> Path:
        """Give a directory that holds the files of a tree, to be read and never run in."""
        return self._kept.keep(tree)

    def probe(self, task: Task, plan: Plan, base: str, tree: str, text: str) -> Probed:
        """Run the text of one pytest file on a tree, as the validators are run."""
        self._kept.keep(tree)
        return Trial(self.runtime, self._open(task, plan, base, tree), self.timeout_s).probe(text)

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
        """Plant faults in what a tree adds to its base, and see which a test notices.

        `check` is called between two of them and raises when a stop is wished for.
        """
        self._kept.keep(tree)
        proof = self._open(task, plan, base, tree)
        # One place for all of them: what they may take of time is not spent on waiting.
        with self.runtime.place():
            runtime = replace(self.runtime, place=nullcontext)
            return Trial(runtime, proof, self.timeout_s).mutants(seconds, self.cores, check)

    def _open(
        self, task: Task, plan: Plan, base: str, tree: str, support: tuple[str, ...] = ()
    ) -> Proof:
        workspace, is_base = self.workspace, tree == base
        seeds = gather_seeds(self.seed_tests, task, self.seen(plan, task))
        files = frozenset(workspace.files(base))
        trees = Trees(
            base_files=files,
            tree_files=files if is_base else frozenset(workspace.files(tree)),
            changes=() if is_base else workspace.changes(base, tree),
            read_base=partial(workspace.read, base),
            read_tree=partial(workspace.read, tree),
        )
        if not is_base:
            read = partial(trees.read_steering, allowed=task.may_change)
            trees.shadows = shadows(
                trees, gate_setups(read, self.facts.suite_arguments), self._names
            )
        overlay = plan_overlay(trees, seeds, task.may_change, support)
        return Proof(task, base, tree, seeds, trees, overlay)

    def _lint(self, proof: Proof) -> Found:
        with open_export(self.runtime, proof.tree, proof.overlay) as export:
            return lint_tree(export, self.timeout_s, proof.seeds.is_any)

    def _run(self, proof: Proof, tests: tuple[str, ...], *, watched: bool = False) -> PytestEnd:
        whole = proof.overlay
        overlay = whole.model_copy(update={"places": {**whole.places, **whole.support}})
        with open_export(self.runtime, proof.tree, overlay) as export:
            return run_pytest(export, tests, proof.setup(), self.timeout_s, watched=watched)

    def _proven(
        self, proof: Proof, plan: Plan, baseline: Baseline, challenged: Known | None
    ) -> Validation:
        tree, overlay = proof.tree, proof.overlay
        made = Challenges(self._challenger, proof, challenged)
        links = (self.workspace.links(each) for each in (proof.base, tree))
        read = partial(self._kept.read, tree)
        hidden, known = compared(proof.trees.changes, read, proof.trees.read_base, *links)
        reports = []
        if overlay.broken:
            reports.append(report_of(CONFIGURATION, False, output="\n".join(overlay.broken)))
        if hidden and challenged is not None:
            reports.append(report_of(PLAIN_SIGHT, False, output="\n".join(hidden)))
        found, seen = self._default_reports(proof, baseline, made)
        reports += found
        reports += [
            run_named(self.runtime, named, tree, overlay, self.timeout_s)
            for named in self.facts.validators
        ]
        tested: tuple[str, ...] = ()
        if all(report.passed for report in reports):
            suite, tested = self._suite_after(proof, baseline.suite, made)
            reports += suite
        steering = self._notes.steering(proof, plan)
        notes = (*made.notes, *seen, *steering.notes, *self._notes.of(proof), *known, *tested)
        return Validation(
            reports=tuple(reports),
            tampered=overlay.tampered,
            # A path or a line that is quoted in a note hides nothing there either.
            notes=tuple(map(escaped_line, notes)),
            steering=steering,
            challenges=tuple(made.found),
        )

    def _default_reports(
        self, proof: Proof, baseline: Baseline, made: Challenges
    ) -> tuple[list[ValidatorReport], tuple[str, ...]]:
        """Run ruff and the seed tests, and say what the tests were seen to do."""
        seeds, reports = proof.seeds, list[ValidatorReport]()
        if RUFF in self._defaults:
            found, stands = self._lint(proof), proof.trees.tree_files
            reports.append(ruff_report(found, baseline.violations, stands, self.timeout_s))
        if PYTEST not in self._defaults or not all(report.passed for report in reports):
            return reports, ()
        if not seeds.run:
            return [*reports, report_of(PYTEST, True, output=NO_TEST)], ()
        end = self._run(proof, tuple(seeds.run), watched=True)
        report = Judgement.of(seeds, baseline).report(end, self.timeout_s)
        return [*reports, made.of_seeds(report, end)], run_notes(proof, end.run)

    def _suite(self, proof: Proof) -> Suite:
        return Suite(self.runtime, proof, self.timeout_s, self.facts.suite_arguments)

    def _suite_before(self, proof: Proof) -> dict[str, Any]:
        """Give what the project's own tests do on a base, for its baseline."""
        if SUITE not in self._defaults:
            return {}
        tree = self.workspace.tree_of(proof.base)
        report = None
        with self.alone():
            if tree not in self.suites:
                report, self.suites[tree] = self._suite(proof).on_base(tree)
        return {"suite": self.suites[tree], "suite_report": report}

    def _suite_after(
        self, proof: Proof, before: SuiteRecord | None, made: Challenges
    ) -> tuple[list[ValidatorReport], tuple[str, ...]]:
        if SUITE in self._defaults and before is not None and before.not_run is None:
            report, notes = self._suite(proof).on_tree(before, proof.tree)
            if report.suite is not None:
                self.suites[proof.tree] = report.suite
            return [made.of_suite(report, before)], notes
        if not proof.seeds.done or PYTEST not in self._defaults:
            return [], ()
        # The tests of done tasks are challenged where the project has none of its own.
        nothing = SuiteRecord(tree=self.workspace.tree_of(proof.base))
        report = made.of_suite(report_of(SUITE, True), nothing)
        return [] if report.passed else [report], ()

    def _red_elsewhere(self, proof: Proof, run: PytestRun | None) -> tuple[str, ...]:
        seeds = proof.seeds
        if not seeds.done or PYTEST not in self._defaults:
            return ()
        if run is None and seeds.own:
            # This task's tests took the whole run down with them: ask the others alone.
            run = self._run(proof, tuple(seeds.done)).run
        return tuple(complaints(run, seeds.done) if run else seeds.done)


def _fault(error: Exception) -> ValidatorReport:
    said = " ".join(str(error).split())[:300]
    output = (
        f"this tree cannot be proven: {type(error).__name__}: {said}\n"
        "Something in the changed files is beyond what the gate can read: look at what is unusual "
        "in them (size, nesting, names), and make it plain."
    )
    return report_of("gate", False, output=output)
