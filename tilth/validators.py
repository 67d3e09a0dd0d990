"""The gate: it proves one frozen tree by ruff, pytest and the project's own commands.

Each tree is proven in an export, with the harness's copies of the seed tests and of the files that
steer the gate laid over it. The gate reports; it never changes the worktree, a ref or a status.
The validators run one after the other, so that an interrupt ends the one that runs at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.errors import ToolError, UserError
from tilth.findings import Baseline, Report, Validation
from tilth.gate.bay import Bay, Ground, TreeSource, open_bay
from tilth.gate.overlay import Overlay, Seeds, Trees, gather_seeds, place, plan_overlay
from tilth.gate.passing import HOOK, PytestRun, complaints, proves_nothing, run_faults, unforgiven
from tilth.gate.pristine import Pristine, read_pristine
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.pytest_setup import PytestSetup, pytest_setup
from tilth.gate.ruff_check import Violation, count, new_since, paths_of, run_ruff
from tilth.gate.steering import may_change, steers
from tilth.gate.tamper import shortened, suspicious_lines
from tilth.prd import Plan, Task
from tilth.project import NamedValidator, ProjectFacts
from tilth.sandbox import Access, Confinement, Finished

RUFF, PYTEST, CONFIGURATION = "ruff", "pytest", "configuration"
NO_TEST = "no test stands behind this task: only the evaluator does"

_MOST_LINES = 200
_REFERENCE = "tests/test_tilth_reference.py"


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
    ) -> None:
        self._trees = workspace
        self._seed_tests = seed_tests
        self._facts = facts
        self._timeout_s = timeout_s
        self._ground = Ground(
            trees=workspace,
            confinement=confinement,
            access=access,
            env=env,
            python=python,
            ruff=ruff,
            scratch=scratch,
            stands_for=tuple(path.resolve() for path in stands_for),
        )

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        """Find what is true of the untouched base, so that only the rest is laid to the worker."""
        proof = self._open(task, plan, base, base)
        violations: dict[str, int] = {}
        report, run = None, None
        with open_bay(self._ground, base, proof.overlay) as bay:
            if self._is_default(RUFF):
                violations = count(_on_base(*self._ruff(bay, proof)))
            if self._is_default(PYTEST) and proof.seeds.run:
                end = run_pytest(bay, tuple(proof.seeds.run), proof.setup(), self._timeout_s)
                report, run = _base_report(end, proof.seeds, self._timeout_s), end.run
        red = self._red_elsewhere(proof, run)
        known = run or self._reference(proof)
        return _baseline(proof.seeds, report, run, red, violations).model_copy(
            update={"replaced": known.interference, "hooks": known.hooks} if known else {}
        )

    def validate(
        self, task: Task, plan: Plan, base: str, tree: str, baseline: Baseline
    ) -> Validation:
        """Run every validator on the tree, and say what was tampered with."""
        proof = self._open(task, plan, base, tree)
        overlay = proof.overlay
        reports = [_broken(overlay)] if overlay.broken else []
        if self._is_default(RUFF) or self._is_default(PYTEST):
            with open_bay(self._ground, tree, overlay) as bay:
                # ruff runs none of the project's code, so what it reads is still untouched.
                if self._is_default(RUFF):
                    found = self._ruff(bay, proof)
                    reports.append(_ruff_report(*found, baseline, bay.export, self._timeout_s))
                if self._is_default(PYTEST):
                    reports.append(self._prove(bay, proof, baseline))
        reports += [self._named(named, proof) for named in self._facts.validators]
        return Validation(
            reports=tuple(reports),
            tampered=tuple(tampering.path for tampering in overlay.tampered),
            notes=self._notes(proof),
        )

    def _open(self, task: Task, plan: Plan, base: str, tree: str) -> _Proof:
        seeds = gather_seeds(self._seed_tests, task, plan)
        files = self._trees.files(base)
        trees = Trees(
            base_files=files,
            tree_files=files if tree == base else self._trees.files(tree),
            changes=() if tree == base else self._trees.changes(base, tree),
            read_base=lambda path: self._trees.read(base, path),
            read_tree=lambda path: self._trees.read(tree, path),
        )
        return _Proof(task, base, tree, seeds, trees, plan_overlay(trees, seeds, task.may_change))

    def _is_default(self, name: str) -> bool:
        named = {validator.name for validator in self._facts.validators}
        return not self._facts.replace_defaults and name not in named

    def _notes(self, proof: _Proof) -> tuple[str, ...]:
        untested = [] if proof.seeds.own else [f"{proof.task.id}: {NO_TEST}"]
        restored = [tampering.line() for tampering in proof.overlay.tampered]
        diff = self._trees.diff(proof.base, proof.tree) if proof.trees.changes else ""
        return (*untested, *shortened(restored), *suspicious_lines(diff))

    def _ruff(self, bay: Bay, proof: _Proof) -> tuple[Finished, tuple[Violation, ...] | None]:
        finished, found = run_ruff(bay, self._timeout_s)
        if found is None:
            return finished, None
        return finished, tuple(item for item in found if not proof.seeds.is_any(item.path))

    def _prove(self, bay: Bay, proof: _Proof, baseline: Baseline) -> Report:
        tests = tuple(proof.seeds.run)
        if not tests:
            return Report(name=PYTEST, passed=True, exit_code=None, output=NO_TEST, duration_ms=0)
        end = run_pytest(bay, tests, proof.setup(), self._timeout_s)
        before = _allowing_hooks(baseline, end.run) if proof.may_steer else baseline
        return _pytest_report(end, _Judgement.of(proof.seeds, before), self._timeout_s)

    def _reference(self, proof: _Proof) -> PytestRun | None:
        """See pytest on the base with a test of our own, where the seed tests took it down."""
        if not self._is_default(PYTEST) or not proof.seeds.run:
            return None
        with open_bay(self._ground, proof.base, proof.overlay) as bay:
            place(bay.export, _REFERENCE, b"def test_nothing():\n    pass\n")
            return run_pytest(bay, (_REFERENCE,), proof.setup(), self._timeout_s).run

    def _red_elsewhere(self, proof: _Proof, run: PytestRun | None) -> tuple[str, ...]:
        seeds = proof.seeds
        if not seeds.done or not self._is_default(PYTEST):
            return ()
        if run is None and seeds.own:
            # This task's tests took the whole run down with them: ask the others alone.
            with open_bay(self._ground, proof.base, proof.overlay) as bay:
                run = run_pytest(bay, tuple(seeds.done), proof.setup(), self._timeout_s).run
        files = _read_all(seeds.done)
        return tuple(complaints(run, files)) if run else tuple(file.path for file in files)

    def _named(self, named: NamedValidator, proof: _Proof) -> Report:
        timeout_s = named.timeout_s or self._timeout_s
        # An export of its own: other validators have run the project's code in theirs.
        with open_bay(self._ground, proof.tree, proof.overlay) as bay:
            try:
                finished = bay.run(named.command, timeout_s)
            except ToolError as error:
                raise UserError(f"validator {named.name}: {error}") from error
        output = finished.output or "(it printed nothing)"
        if finished.timed_out:
            output = f"{_too_slow(named.name, timeout_s)}\n{output}"
        return _report(named.name, finished.exit_code == 0, finished, output)


@dataclass(frozen=True)
class _Proof:
    """Hold what one tree is proven with."""

    task: Task
    base: str
    tree: str
    seeds: Seeds
    trees: Trees
    overlay: Overlay

    def setup(self) -> PytestSetup:
        """Take pytest's configuration from the base, or from the tree where the task may."""
        texts = [content.decode("utf-8", "replace") for content in self.seeds.run.values()]
        return pytest_setup(self._read, texts)

    @property
    def may_steer(self) -> bool:
        """Tell whether the task was allowed to change, and has changed, a file of the gate."""
        return any(
            may_change(change.path, self.task.may_change)
            and steers(change.path, self.trees.new_modules) is not None
            for change in self.trees.changes
        )

    def _read(self, path: str) -> bytes | None:
        allowed = may_change(path, self.task.may_change)
        present = self.trees.tree_files if allowed else self.trees.base_files
        if path not in present:
            return None
        return self.trees.read_tree(path) if allowed else self.trees.read_base(path)


@dataclass(frozen=True)
class _Judgement:
    """Hold what a pytest run is measured by."""

    own: tuple[Pristine, ...]
    done: tuple[Pristine, ...]
    baseline: Baseline

    @classmethod
    def of(cls, seeds: Seeds, baseline: Baseline) -> _Judgement:
        return cls(_read_all(seeds.own), _read_all(seeds.done), baseline)

    def problems(self, run: PytestRun) -> list[str]:
        before = self.baseline
        own = complaints(run, self.own, before.skipped)
        done = unforgiven(complaints(run, self.done, before.skipped), before.red_elsewhere)
        lines = [*run_faults(run, before.replaced, before.hooks), *own.values()]
        lines += [f"{why} (it belongs to a task that is done)" for why in done.values()]
        if self.own and not own and proves_nothing(run, self.own):
            lines.append("not one test of this task passed: nothing is proven")
        return lines

    def forgiven(self, run: PytestRun) -> list[str]:
        found = complaints(run, self.done, self.baseline.skipped)
        kept = unforgiven(found, self.baseline.red_elsewhere)
        return [node for node in found if node not in kept]


def _read_all(tests: Mapping[str, bytes]) -> tuple[Pristine, ...]:
    return tuple(read_pristine(path, content) for path, content in tests.items())


def _base_report(end: PytestEnd, seeds: Seeds, timeout_s: float) -> Report | None:
    if not seeds.own:
        return None
    known = Baseline(replaced=end.run.interference) if end.run else Baseline()
    own_only = _Judgement(_read_all(seeds.own), (), known)
    return _pytest_report(end, own_only, timeout_s)


def _baseline(
    seeds: Seeds,
    report: Report | None,
    run: PytestRun | None,
    red_elsewhere: tuple[str, ...],
    violations: dict[str, int],
) -> Baseline:
    files = _read_all(seeds.own)
    results = run.results if run else ()
    own = tuple(r for r in results if any(file.owns(r.node) for file in files))
    return Baseline(
        report=report,
        results=own,
        already_green=tuple(result.node for result in own if result.ending == "passed"),
        red_elsewhere=red_elsewhere,
        skipped=tuple(r.node for r in results if r.ending in ("skipped", "xfailed")),
        violations=violations,
    )


def _allowing_hooks(baseline: Baseline, run: PytestRun | None) -> Baseline:
    hooks = [name for name in run.interference if name.startswith(HOOK)] if run else []
    return baseline.model_copy(update={"replaced": (*baseline.replaced, *hooks), "hooks": ()})


def _pytest_report(end: PytestEnd, judgement: _Judgement, timeout_s: float) -> Report:
    finished, run = end.finished, end.run
    if run is None:
        return _report(
            PYTEST, False, finished, f"{_no_report(finished, timeout_s)}\n{finished.output}"
        )
    problems = judgement.problems(run)
    forgiven = judgement.forgiven(run)
    parts = [*problems[:_MOST_LINES], *_more(problems)]
    if forgiven:
        parts.append(f"not blamed on this task, already so before it: {', '.join(forgiven[:20])}")
    output = "\n".join([*parts, "", finished.output]) if parts else finished.output
    return _report(PYTEST, not problems, finished, output, run.counts())


def _no_report(finished: Finished, timeout_s: float) -> str:
    if finished.timed_out:
        return _too_slow(PYTEST, timeout_s)
    return (
        f"the test process ended (exit code {finished.exit_code}) before pytest could report: "
        "the code under test must not end the process or take its place"
    )


def _on_base(finished: Finished, found: tuple[Violation, ...] | None) -> tuple[Violation, ...]:
    if found is None:
        said = " ".join(finished.output.split())[:300] or f"exit code {finished.exit_code}"
        raise UserError(
            f"ruff cannot check the base ({said}): mend the repository's ruff configuration, or "
            "replace the validator under [tool.tilth.validators]"
        )
    return found


def _ruff_report(
    finished: Finished,
    found: tuple[Violation, ...] | None,
    baseline: Baseline,
    export: Path,
    timeout_s: float,
) -> Report:
    if found is None:
        said = _too_slow(RUFF, timeout_s) if finished.timed_out else "ruff could not check the tree"
        return _report(RUFF, False, finished, f"{said}\n{finished.output}")
    gone = {path for path in paths_of(baseline.violations) if not (export / path).exists()}
    lines = [violation.line() for violation in new_since(baseline.violations, found, gone)]
    output = "\n".join([*lines[:_MOST_LINES], *_more(lines)]) or "no new violation"
    return _report(RUFF, not lines, finished, output)


def _broken(overlay: Overlay) -> Report:
    return Report(
        name=CONFIGURATION,
        passed=False,
        exit_code=None,
        output="\n".join(overlay.broken),
        duration_ms=0,
    )


def _report(
    name: str,
    passed: bool,
    finished: Finished,
    output: str,
    tests: Mapping[str, int] | None = None,
) -> Report:
    return Report(
        name=name,
        passed=passed,
        exit_code=finished.exit_code,
        output=output.strip(),
        duration_ms=finished.duration_ms,
        tests=tests,
    )


def _too_slow(name: str, timeout_s: float) -> str:
    return f"{name} did not finish within {timeout_s:g} seconds and was stopped"


def _more(lines: list[str]) -> list[str]:
    return [f"… and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
