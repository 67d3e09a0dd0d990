"""The proof of a seed: its tests run on the untouched base, and are red there for the right reason.

Every run is an export of its own behind the same wall and time limit as the gate's. It gives
findings; it writes nothing that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tilth.base.values import Value
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import NodeResult
from tilth.gate.overlay import Overlay
from tilth.gate.passing import PytestRun, run_faults
from tilth.gate.pristine import SeedReading, file_of, function_of
from tilth.gate.pytest_config import pytest_setup
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.seed_files import read_seeds
from tilth.gate.staying import staying_tests
from tilth.git.kept_trees import TreeSource
from tilth.interview import rules
from tilth.interview.known_names import read_names
from tilth.interview.red_reason import KnownNames, fault, unmendable
from tilth.interview.test_faults import find_slips

PROOF_TIMEOUT_S = 60.0
_TESTS = "tests"
_NOT_SEEN_TO_STAY = (
    "is marked `stays`, but its file cannot be loaded on the base: import what is new inside the "
    "tests that need it"
)
_DOES_NOT_STAY = "is marked `stays`, but is not green on the base: there is nothing to keep"


class FileProof(Value):
    """Hold what one test file did on the base; `causes` are problems that no worker can mend."""

    path: str
    tests: int
    collects: bool
    red: bool
    problems: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()


class TaskProof(Value):
    """Hold whether one task's tests prove anything, and what is wrong if they do not."""

    id: str
    title: str
    files: tuple[str, ...]
    tests: int
    collects: bool
    red: bool
    criteria: int
    covered: int
    problems: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()


class SeedProof(Value):
    """Hold the proof of every task of a plan that is still to be done."""

    tasks: tuple[TaskProof, ...]
    # What is wrong with the plan itself, whatever its tests do.
    of_the_plan: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.of_the_plan, *(line for task in self.tasks for line in task.problems))

    @property
    def holds(self) -> bool:
        return not self.problems

    @property
    def causes(self) -> dict[str, tuple[str, ...]]:
        """Give what no worker can mend, each with the tasks that it stops."""
        said = dict.fromkeys(cause for task in self.tasks for cause in task.causes)
        return {
            cause: tuple(task.id for task in self.tasks if cause in task.causes) for cause in said
        }


def unheard(doing: str) -> None:
    """Say nothing of what is being tried."""


@dataclass(frozen=True)
class Prover:
    """Try tests out on one commit; `at` is told what is being tried."""

    runtime: Runtime
    trees: TreeSource
    base: str
    timeout_s: float = PROOF_TIMEOUT_S
    at: Callable[[str], None] = unheard
    # What to do about a module of the project that git ignores and that is missing.
    ignored: Callable[[str], str | None] = lambda module: None
    # How each file went by itself, for whoever wants to know more of it.
    ends: dict[str, PytestEnd] = field(default_factory=dict)

    def try_out(self, tests: Mapping[str, str], plan: str) -> dict[str, FileProof]:
        """Run each file alone and then all of them together; `plan` is what the plan says."""
        files = {f"{_TESTS}/{name}": text.encode("utf-8") for name, text in tests.items()}
        if not files:
            return {}
        with open_export(self.runtime, self.base, Overlay(places=files)) as export:
            known = read_names(export.path, self.runtime.python, plan, files, self.ignored)
            text_faults = find_slips(export, tuple(files), self.timeout_s)
            alone = {path: self._run({path: content}) for path, content in files.items()}
            self.ends.update(alone)
            proofs = {
                path: self._judge(path, end, known, text_faults.get(path, []))
                for path, end in alone.items()
            }
        return self._together(files, alone, proofs)

    def read(self, tests: Mapping[str, str]) -> dict[str, SeedReading]:
        """Read test files as the interpreter that runs them does."""
        files = {name: text.encode("utf-8", "replace") for name, text in tests.items()}
        return read_seeds(self.runtime, files, self.timeout_s)

    def _run(self, files: Mapping[str, bytes]) -> PytestEnd:
        texts = [content.decode("utf-8") for content in files.values()]
        first, *more = files
        self.at(f"trying {'all tests together' if more else first} on {self.base[:7]}")
        setup = pytest_setup(lambda path: self.trees.read(self.base, path), texts)
        with open_export(self.runtime, self.base, Overlay(places=files)) as export:
            return run_pytest(export, tuple(files), setup, self.timeout_s, watched=True)

    def _judge(
        self, path: str, end: PytestEnd, known: KnownNames, text_faults: list[str]
    ) -> FileProof:
        tests = end.run.seeds[path].tests if end.run else ()
        found = _findings(path, tests, end, known, self.timeout_s)
        problems = (*text_faults, *found.problems)
        return found.model_copy(update={"tests": len(tests), "problems": problems})

    def _together(
        self,
        files: Mapping[str, bytes],
        alone: Mapping[str, PytestEnd],
        proofs: dict[str, FileProof],
    ) -> dict[str, FileProof]:
        """See whether a file changes things for the others when all are collected."""
        if len(files) < 2 or any(end.run is None for end in alone.values()):
            return proofs
        together = self._run(files)
        for path, end in alone.items():
            if end.run is None or _same(path, end.run, together.run):
                continue
            why = (
                f"{path}: behaves differently when the tests of all tasks are collected together: "
                "a test file must not change the interpreter, the environment or other modules "
                "when it is imported"
            )
            changed = {"collects": False, "problems": (*proofs[path].problems, why)}
            proofs[path] = proofs[path].model_copy(update=changed)
        return proofs


def _findings(
    path: str, tests: tuple[str, ...], end: PytestEnd, known: KnownNames, timeout_s: float
) -> FileProof:
    bad = FileProof(path=path, tests=0, collects=False, red=False)
    if end.run is None:
        if end.finished.timed_out:
            why = (
                f"did not finish within {timeout_s:g} seconds: a test hangs or waits for something"
            )
        else:
            why = f"ended the test process (exit code {end.finished.exit_code}) before its report"
        return bad.model_copy(update={"problems": (f"{path}: {why}",)})
    faults = run_faults(end.run) if end.run.status not in (2, 5) else []
    results = [result for result in end.run.results if file_of(result.node) == path]
    stays = staying_tests(end.run.seeds.get(path, SeedReading()))
    problems = [line for result in results if (line := _result_problem(result, known, stays))]
    collected = not any(result.node == path for result in results)
    if collected:
        problems += _unheard(path, tests, results)
    else:
        problems += [f"{path}::{test}: {_NOT_SEEN_TO_STAY}" for test in sorted(stays)]
    if faults and not problems:
        problems = [f"{path}: {line}{_said(end)}" for line in faults]
    proven = all(result.is_red or function_of(result.node) in stays for result in results)
    red = bool(results) and proven and not problems
    collects = bool(results) and (collected or not problems)
    causes = dict.fromkeys(cause for each in results if (cause := unmendable(each, known)))
    said = {"problems": tuple(problems), "causes": tuple(causes)}
    return bad.model_copy(update={"collects": collects, "red": red, **said})


def _result_problem(result: NodeResult, known: KnownNames, stays: frozenset[str]) -> str | None:
    if function_of(result.node) in stays:
        return None if result.ending == "passed" else f"{result.node}: {_DOES_NOT_STAY}"
    if result.ending == "passed":
        return (
            f"{result.node}: passes on the base already, so it proves nothing; if it is to "
            "stay so, mark it `# AC-<n> stays`"
        )
    if not result.is_red:
        return f"{result.node}: is {result.ending} on the base: an acceptance test must always run"
    why = fault(result, known)
    place = f" ({result.place})" if result.place else ""
    return None if why is None else f"{result.node}: {why}{place}"


def _unheard(path: str, tests: tuple[str, ...], results: Iterable[NodeResult]) -> list[str]:
    heard = {function_of(result.node) for result in results}
    return [f"{path}::{test}: did not run" for test in tests if test not in heard]


def _said(end: PytestEnd) -> str:
    lines = [line for line in end.finished.output.strip().splitlines() if line.strip()]
    return f" ({lines[-1].strip()[:200]})" if lines else ""


def _same(path: str, alone: PytestRun, together: PytestRun | None) -> bool:
    if together is None:
        return False
    return _endings(path, alone) == _endings(path, together)


def _endings(path: str, run: PytestRun) -> dict[str, tuple[str, str | None]]:
    return {r.node: (r.ending, r.error) for r in run.results if file_of(r.node) == path}


def prove(
    prover: Prover, plan: Plan, tests: Mapping[str, str], *, most_files: int | None = None
) -> SeedProof:
    """Prove every task that is still to be done by its tests, and list all problems at once."""
    tasks = plan.with_status(Status.PENDING)
    own = {name: text for name, text in tests.items() if any(t.owns_test(name) for t in tasks)}
    readings = prover.read(own)
    read = {name: rules.text_problems(name, text, readings[name]) for name, text in own.items()}
    broken = {name: problems for name, problems in read.items() if problems}
    sound = {name: text for name, text in own.items() if name not in broken}
    tried = prover.try_out(sound, plan.model_dump_json())
    return SeedProof(
        tasks=tuple(_task_proof(task, own, broken, tried, readings, most_files) for task in tasks)
    )


def _task_proof(
    task: Task,
    tests: Mapping[str, str],
    broken: Mapping[str, list[str]],
    tried: Mapping[str, FileProof],
    readings: Mapping[str, SeedReading],
    most_files: int | None,
) -> TaskProof:
    own = [name for name in tests if task.owns_test(name)]
    sound = {name: tests[name] for name in own if name not in broken}
    proofs = [tried[f"{_TESTS}/{name}"] for name in sound]
    problems = [
        *rules.task_problems(task, own, most=most_files),
        *(line for name in own for line in broken.get(name, ())),
        *(line for proof in proofs for line in proof.problems),
        *(rules.criteria_problems(task, sound, readings) if sound else ()),
    ]
    causes = [
        *(line for name in own if _unread(name, readings) for line in broken[name]),
        *(cause for proof in proofs for cause in proof.causes),
    ]
    whole = bool(proofs) and len(proofs) == len(own)
    return TaskProof(
        id=task.id,
        title=task.title,
        files=tuple(own),
        tests=sum(proof.tests for proof in proofs),
        collects=whole and all(proof.collects for proof in proofs),
        red=whole and all(proof.red for proof in proofs),
        criteria=len(task.acceptance_criteria),
        covered=rules.covered(task, sound, readings),
        problems=tuple(problems),
        causes=tuple(dict.fromkeys(causes)),
    )


def _unread(name: str, readings: Mapping[str, SeedReading]) -> bool:
    return name in readings and readings[name].error is not None
