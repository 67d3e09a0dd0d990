"""The gate: it proves one frozen tree by ruff, pytest, the project's own tests and commands.

Each tree is proven in an export, with the harness's copies of the seed tests and of the files that
steer the gate laid over it. The gate reports; it never changes the worktree, a ref or a status.
The validators run one after the other, so that an interrupt ends the one that runs at once, and
each of the defaults only if those before it pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from tilth.base.errors import OF_THE_MACHINE, TilthError
from tilth.base.hidden_characters import escaped_line
from tilth.config.project import ProjectFacts
from tilth.config.secrets import Mask
from tilth.contract.prd import Plan, Task
from tilth.gate.challenged import Known, unknown
from tilth.gate.challenges import Challenges
from tilth.gate.challenging import Challenger
from tilth.gate.change_notes import NO_TEST, ChangeNotes
from tilth.gate.evidence import Mutated, Probed
from tilth.gate.export import Export, Runtime, TreeSource, open_export
from tilth.gate.findings import Baseline, SuiteRecord, Validation, ValidatorReport
from tilth.gate.kept_trees import KeptTrees
from tilth.gate.mutation import Allowed, try_mutants
from tilth.gate.named import run_named
from tilth.gate.overlay import Overlay, Trees, gather_seeds, lay_out, plan_overlay
from tilth.gate.passing import PytestRun, complaints
from tilth.gate.plain_sight import PLAIN_SIGHT, compared
from tilth.gate.probes import run_probe
from tilth.gate.pytest_config import gate_setups
from tilth.gate.pytest_run import run_pytest
from tilth.gate.room import WayIn
from tilth.gate.ruff import RUFF, Violation, count, on_base, ruff_report, run_ruff
from tilth.gate.seed_proof import (
    PYTEST,
    Judgement,
    Proof,
    base_report,
    baseline_of,
    read_all,
)
from tilth.gate.shadowing import read_names, shadows
from tilth.gate.suite import SUITE, Suite, kept_report
from tilth.sandbox.confinement import Access, Confinement, Finished

CONFIGURATION = "configuration"


class Gate:
    """Prove trees of one session."""

    def __init__(
        self,
        *,
        workspace: TreeSource,
        seed_tests: Path,
        confinement: Confinement,
        access: Access,
        env: Mapping[str, str],
        python: Path,
        ruff: Path,
        facts: ProjectFacts,
        timeout_s: float,
        scratch: Path,
        stands_for: Iterable[Path] = (),
        suites: Iterable[SuiteRecord] | dict[str, SuiteRecord] = (),
        cores: int = 1,
        room: WayIn | None = None,
        mask: Mask | None = None,
        start: str | None = None,
        challenge_seconds: float = 60,
        carried: Path | None = None,
    ) -> None:
        self._trees = workspace
        self._kept = KeptTrees(workspace, scratch)
        self._seed_tests = seed_tests
        self._facts = facts
        self._timeout_s = timeout_s
        self._cores = cores
        # Several gates of one run may share what they know.
        self._suites = suites if isinstance(suites, dict) else {one.tree: one for one in suites}
        self._room = room
        self._told = ChangeNotes(workspace, self._kept, facts, mask or Mask(), start)
        self._runtime = Runtime(
            export=self._kept.export,
            confinement=confinement,
            access=access,
            env=env,
            python=python,
            ruff=ruff,
            scratch=scratch,
            stands_for=tuple(path.resolve() for path in stands_for),
            place=room.taken if room else nullcontext,
            carried=carried,
        )
        self._names = cache(partial(read_names, self._runtime, timeout_s))
        self._challenger = Challenger(self._runtime, timeout_s, challenge_seconds, cores)

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        """Find what is true of the untouched base, so that only the rest is laid to the worker."""
        proof = self._open(task, plan, base, base)
        violations: dict[str, int] = {}
        report, run = None, None
        with open_export(self._runtime, base, proof.overlay) as export:
            if self._is_default(RUFF):
                violations = count(on_base(*self._ruff(export, proof)))
            if self._is_default(PYTEST) and proof.seeds.run:
                tests, setup = tuple(proof.seeds.run), proof.setup()
                end = run_pytest(export, tests, setup, self._timeout_s, watched=True)
                report, run = base_report(end, proof.seeds, self._timeout_s), end.run
        red = self._red_elsewhere(proof, run)
        left_out = bool(proof.seeds.own) and not self._is_default(PYTEST)
        before = self._suite_before(proof)
        suite = before.get("suite")
        known = suite.support if isinstance(suite, SuiteRecord) else ()
        support = tuple(sorted({*known, *(run.support if run else ())}))
        return baseline_of(proof.seeds, report, run, red, violations).model_copy(
            update={**before, "support": support, "seeds_left_out": left_out}
        )

    def baseline_onto(self, task: Task, plan: Plan, base: str, known: Baseline) -> Baseline:
        """Give what is known of a task's own base, with what the project's tests do on another."""
        if self._suite() is None:
            return known
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
            return self._validate(task, plan, base, tree, baseline, challenged)
        except TilthError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
                raise
            # What a case holds may bring down whoever reads it: that is the case's own fault.
            return Validation(reports=(_fault(error),))

    def _validate(
        self,
        task: Task,
        plan: Plan,
        base: str,
        tree: str,
        baseline: Baseline,
        challenged: Known | None,
    ) -> Validation:
        self._kept.keep(tree)
        proof = self._open(task, plan, base, tree, baseline.support)
        overlay = proof.overlay
        reports = [_said(CONFIGURATION, "\n".join(overlay.broken))] if overlay.broken else []
        hidden, known = self._compared(proof)
        if hidden and challenged is not None:
            reports.append(_said(PLAIN_SIGHT, "\n".join(hidden)))
        tested: tuple[str, ...] = ()
        made = Challenges(self._challenger, proof, challenged)
        if self._is_default(RUFF) or self._is_default(PYTEST):
            reports += self._default_reports(proof, baseline, made)
        reports += [
            run_named(self._runtime, named, tree, overlay, self._timeout_s)
            for named in self._facts.validators
        ]
        if all(report.passed for report in reports):
            suite, tested = self._suite_after(proof, baseline, made)
            reports += suite
        steering = self._told.steering(proof, plan)
        notes = (*made.notes, *steering.notes, *self._told.of(proof), *known, *tested)
        return Validation(
            reports=tuple(reports),
            tampered=tuple(tampering.path for tampering in overlay.tampered),
            # A path or a line that is quoted in a note hides nothing there either.
            notes=tuple(map(escaped_line, notes)),
            steering=steering,
            challenges=tuple(made.found),
        )

    def prove_tip(self, plan: Plan, tip: str) -> Validation:
        """Run all seed tests and the project's own once on what the session leaves."""
        proof = self._open(plan.tasks[-1], plan, tip, tip)
        reports = []
        if self._is_default(PYTEST) and proof.seeds.run:
            with open_export(self._runtime, tip, proof.overlay) as export:
                end = run_pytest(export, tuple(proof.seeds.run), proof.setup(), self._timeout_s)
            judgement = Judgement((), tuple(proof.seeds.run), Baseline())
            reports.append(judgement.report(end, self._timeout_s))
        reports += self._suite_at_the_end(proof)
        return Validation(reports=tuple(reports))

    def files_of(self, tree: str) -> Path:
        """Give a directory that holds the files of a tree, to be read and never run in."""
        return self._kept.keep(tree)

    def probe(self, task: Task, plan: Plan, base: str, tree: str, text: str) -> Probed:
        """Run the text of one pytest file on a tree, as the validators are run."""
        self._kept.keep(tree)
        return run_probe(self._runtime, self._open(task, plan, base, tree), text, self._timeout_s)

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
        proof, allowed = self._open(task, plan, base, tree), Allowed(seconds, self._cores, check)
        # One place for all of them: what they may take of time is not spent on waiting.
        with self._runtime.place():
            runtime = replace(self._runtime, place=nullcontext)
            return try_mutants(runtime, proof, self._timeout_s, allowed)

    def _suite_at_the_end(self, proof: Proof) -> list[ValidatorReport]:
        suite, first = self._suite(), next(iter(self._suites.values()), None)
        if suite is None or first is None or first.not_run is not None:
            return []
        tree = self._trees.tree_of(proof.tree)
        known = self._suites.get(tree)
        return [suite.on_tip(proof, tree, first) if known is None else kept_report(known, first)]

    def _default_reports(
        self, proof: Proof, baseline: Baseline, made: Challenges
    ) -> list[ValidatorReport]:
        reports = []
        with open_export(self._runtime, proof.tree, proof.overlay) as export:
            # ruff runs none of the project's code, so what it reads is still untouched.
            if self._is_default(RUFF):
                found = self._ruff(export, proof)
                reports.append(ruff_report(*found, baseline, export.path, self._timeout_s))
            if self._is_default(PYTEST) and all(report.passed for report in reports):
                lay_out(Overlay(places=proof.overlay.support), export.path)
                reports.append(self._prove(export, proof, baseline, made))
        return reports

    def _open(
        self, task: Task, plan: Plan, base: str, tree: str, support: tuple[str, ...] = ()
    ) -> Proof:
        seeds = gather_seeds(self._seed_tests, task, plan)
        files = self._trees.files(base)
        found = files if tree == base else self._trees.files(tree)
        trees = Trees(
            base_files=files,
            tree_files=found,
            changes=() if tree == base else self._trees.changes(base, tree),
            read_base=lambda path: self._trees.read(base, path),
            read_tree=lambda path: self._trees.read(tree, path),
        )
        if tree != base:
            trees.shadows = self._shadows(trees, task.may_change)
        overlay = plan_overlay(trees, seeds, task.may_change, support)
        return Proof(task, base, tree, seeds, trees, overlay)

    def _shadows(self, trees: Trees, allowed: tuple[str, ...]) -> dict[str, str]:
        wanted = self._facts.suite
        arguments = wanted if isinstance(wanted, tuple) else ()
        setups = gate_setups(lambda path: trees.read_steering(path, allowed), arguments)
        return shadows(trees, setups, self._names)

    def _is_default(self, name: str) -> bool:
        return name not in self._facts.defaults_left_out

    def _compared(self, proof: Proof) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Compare the sources of a change, as Python reads them, with what is shown of them."""
        trees, read = proof.trees, partial(self._kept.read, proof.tree)
        links = (self._trees.links(tree) for tree in (proof.base, proof.tree))
        return compared(trees.changes, read, trees.read_base, *links)

    def _suite(self) -> Suite | None:
        """Give the run of the project's own tests, unless it is switched off."""
        wanted = self._facts.suite
        if wanted is False or not self._is_default(SUITE):
            return None
        arguments = wanted if isinstance(wanted, tuple) else ()
        return Suite(self._runtime, self._timeout_s, arguments)

    def _suite_before(self, proof: Proof) -> dict[str, ValidatorReport | SuiteRecord | None]:
        suite = self._suite()
        if suite is None:
            return {}
        tree = self._trees.tree_of(proof.base)
        with self._room.alone() if self._room else nullcontext():
            known = self._suites.get(tree)
            if known is not None:
                return {"suite": known}
            report = suite.on_base(proof, tree)
            if report.suite is not None:
                self._suites[tree] = report.suite
        return {"suite": report.suite, "suite_report": report}

    def _suite_after(
        self, proof: Proof, before: Baseline, made: Challenges
    ) -> tuple[list[ValidatorReport], tuple[str, ...]]:
        suite, known = self._suite(), before.suite
        if suite is None or known is None or known.not_run is not None:
            return self._done_tests(proof, made), ()
        report, notes = suite.on_tree(proof, known)
        if report.suite is not None:
            self._suites[proof.tree] = report.suite
        told = (*notes, *suite.edited(proof, known))
        return [made.of_suite(report, known)], told

    def _done_tests(self, proof: Proof, made: Challenges) -> list[ValidatorReport]:
        """Challenge the tests of done tasks where the project has none of its own."""
        if not proof.seeds.done or not self._is_default(PYTEST):
            return []
        nothing = SuiteRecord(tree=self._trees.tree_of(proof.base))
        report = made.of_suite(_said(SUITE, "", passed=True), nothing)
        return [] if report.passed else [report]

    def _ruff(self, export: Export, proof: Proof) -> tuple[Finished, tuple[Violation, ...] | None]:
        finished, found = run_ruff(export, self._timeout_s)
        if found is None:
            return finished, None
        return finished, tuple(item for item in found if not proof.seeds.is_any(item.path))

    def _prove(
        self, export: Export, proof: Proof, baseline: Baseline, made: Challenges
    ) -> ValidatorReport:
        tests = tuple(proof.seeds.run)
        if not tests:
            return _said(PYTEST, NO_TEST, passed=True)
        end = run_pytest(export, tests, proof.setup(), self._timeout_s)
        report = Judgement.of(proof.seeds, baseline).report(end, self._timeout_s)
        return made.of_seeds(report, end)

    def _red_elsewhere(self, proof: Proof, run: PytestRun | None) -> tuple[str, ...]:
        seeds = proof.seeds
        if not seeds.done or not self._is_default(PYTEST):
            return ()
        if run is None and seeds.own:
            # This task's tests took the whole run down with them: ask the others alone.
            with open_export(self._runtime, proof.base, proof.overlay) as export:
                run = run_pytest(export, tuple(seeds.done), proof.setup(), self._timeout_s).run
        return tuple(complaints(run, read_all(run, seeds.done)) if run else seeds.done)


def _fault(error: Exception) -> ValidatorReport:
    said = " ".join(str(error).split())[:300]
    return _said(
        "gate",
        f"this tree cannot be proven: {type(error).__name__}: {said}\n"
        "Something in the changed files is beyond what the gate can read: look at what is unusual "
        "in them (size, nesting, names), and make it plain.",
    )


def _said(name: str, output: str, *, passed: bool = False) -> ValidatorReport:
    return ValidatorReport(name=name, passed=passed, exit_code=None, output=output, duration_ms=0)
