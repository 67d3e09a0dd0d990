"""Time the wall and the gate: a confined command and a validation against the same thing bare.

The wall is the one a run would take here, and what it lets through is what a run's worker and
validators may reach: a hidden home with Tilth's home, the session and the source checkout in it.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.endpoint import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.git_repo import SESSION, Repo, StoppedClock  # tests/ is no package

from tilth.base.errors import UserError
from tilth.config.project import ProjectFacts
from tilth.config.settings import SandboxChoice
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.export import Runtime
from tilth.gate.gate import Gate
from tilth.git.repo_config import clean_configuration
from tilth.git.source import open_source
from tilth.git.workspace import Workspace
from tilth.model.messages import ToolCall
from tilth.sandbox.choose import open_wall
from tilth.sandbox.confinement import Command, Confinement, environment, run
from tilth.sandbox.policy import Policy, hidden_places, tool_places
from tilth.tools import Toolbox, find_ruff

TESTS = 6
_TEST = "import words\n\n\n" + "\n\n".join(
    f"def test_join_{n}():\n    assert words.join(['a'] * {n}) == '-'.join(['a'] * {n})\n"
    for n in range(TESTS)
)
_SEED = "tests/test_t001_words.py"
_FILES = {
    "README.md": "# Words\n",
    "pyproject.toml": '[project]\nname = "words"\nversion = "1"\n',
    **{f"part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(20)},
    _SEED: _TEST,
}


class NoWall(Exception):
    """No sandbox works here, so there is nothing to time; says why."""


@dataclass(frozen=True)
class Grounds:
    """Hold a session in a home of its own, and the wall around its commands."""

    wall: Confinement
    policy: Policy
    workspace: Workspace
    scratch: Path
    base: str

    @property
    def env(self) -> dict[str, str]:
        first = self.policy.python.parent
        return environment(os.environ, home=self.policy.home, path_first=first)


@contextmanager
def grounds() -> Iterator[Grounds]:
    """Lay out a session behind the wall that a run would take; NoWall if there is none."""
    with tempfile.TemporaryDirectory(prefix="tilth-bench-") as name:
        root = Path(name).resolve()
        home, scratch = root / "home", root / "scratch"
        repo = Repo(home / "code" / "words", _FILES)
        place = home / ".tilth" / "sessions" / SESSION
        workspace = Workspace(open_source(repo.root), place / "workspace", SESSION, StoppedClock())
        workspace.create(repo.head())
        (scratch / "home").mkdir(parents=True)
        config = clean_configuration(open_source(repo.root))
        (scratch / "repository-config").write_text(config, encoding="utf-8")
        policy = Policy(
            hidden=hidden_places({"HOME": str(home)}, home / ".tilth", place.parent, scratch),
            source=repo.root,
            git_dir=repo.root / ".git",
            workspace=workspace.path,
            setup=place / "setup",
            home=scratch / "home",
            python=Path(sys.executable),
            programs=tool_places(find_ruff()),
            registration=workspace.registration(),
            git_config=scratch / "repository-config",
        )
        with ExitStack() as stack:
            try:
                wall = stack.enter_context(open_wall(SandboxChoice.AUTO))
            except UserError as error:
                raise NoWall(str(error)) from error
            yield Grounds(wall, policy, workspace, scratch, repo.head())


def command_ratio(rounds: int = 60) -> tuple[float, float]:
    """Give how much longer `bash -c true` takes behind the wall than bare, and without a wall.

    Bare is `subprocess.run`; without a wall is the same runner, which ends what was left running.
    """
    with grounds() as place:
        access = place.policy.worker()
        command = Command(
            argv=("bash", "-c", "true"), cwd=place.workspace.path, env=place.env, timeout_s=60
        )
        bare, confined, unconfined = alternate(
            rounds,
            lambda: subprocess.run(["bash", "-c", "true"], check=True),
            lambda: run(place.wall.wrap(command, access)),
            lambda: run(command),
        )
    return confined / bare, unconfined / bare


def tool_ms(rounds: int = 60) -> tuple[float, float]:
    """Give the milliseconds of a worker's command, and of its edit with the note of ruff."""
    with grounds() as place:
        tools = Toolbox(
            root=place.workspace.path,
            confinement=place.wall,
            access=place.policy.worker(),
            env=place.env,
            bash_timeout_s=60,
            ruff=find_ruff(),
        )
        numbers = itertools.count()

        def edit() -> None:
            text = f"def part1():\n    return {next(numbers)}\n"
            call = {"path": "part1.py", "content": text}
            tools.run(ToolCall(id="edit", name="write_file", arguments=call))

        true = ToolCall(id="true", name="bash", arguments={"command": "true"})
        command, edited = alternate(rounds, lambda: tools.run(true), edit)
    return 1000 * command, 1000 * edited


def validation_ratio(rounds: int = 9) -> float:
    """Give how much longer freeze, export and validators take than a plain pytest of the tests."""
    with grounds() as place:
        gate = open_gate(place)
        task = the_task()
        plan = Plan(tasks=(task,))
        baseline = gate.baseline(task, plan, place.base)
        (place.workspace.path / "words.py").write_text(
            "def join(parts):\n    return '-'.join(parts)\n", encoding="utf-8"
        )

        def validate() -> None:
            tree = place.workspace.freeze(place.base).tree
            found = gate.validate(task, plan, place.base, tree, baseline)
            if not all(report.passed for report in found.reports):
                raise RuntimeError(f"the bench's own project does not pass: {found.reports}")

        bare, ours = alternate(rounds, lambda: plain_pytest(place.workspace.path), validate)
    return ours / bare


def alternate(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """Time actions in turn, so that a busy machine is as busy for each; give their medians."""
    taken: list[list[float]] = [[] for _ in actions]
    for number in range(rounds + 1):
        for action, seconds in zip(actions, taken, strict=True):
            began = time.perf_counter()
            action()
            # The first time warms up what each of them needs.
            if number:
                seconds.append(time.perf_counter() - began)
    return [statistics.median(seconds) for seconds in taken]


def open_gate(place: Grounds) -> Gate:
    """Give the gate of a session behind the wall."""
    seeds = place.scratch / "seed-tests"
    seeds.mkdir()
    (seeds / Path(_SEED).name).write_text(_TEST, encoding="utf-8")
    ruff = find_ruff()
    if ruff is None:
        raise RuntimeError("ruff is not installed beside Tilth")
    runtime = Runtime(
        export=place.workspace.export,
        confinement=place.wall,
        access=place.policy.gate(),
        env=place.env,
        python=place.policy.python,
        ruff=ruff,
        scratch=place.scratch,
        stands_for=(place.policy.source.resolve(), place.workspace.path.resolve()),
    )
    return Gate(place.workspace, runtime, seeds, ProjectFacts(), timeout_s=60.0)


def the_task() -> Task:
    """Give the one task of the bench's project."""
    return Task(
        id="T-001",
        title="join words",
        description="Words are joined by dashes.",
        acceptance_criteria=("join(['a', 'b']) gives 'a-b'",),
        status=Status.IN_PROGRESS,
    )


def plain_pytest(root: Path) -> None:
    """Run the task's tests with nothing around them."""
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", _SEED]
    subprocess.run(argv, cwd=root, check=True, stdout=subprocess.DEVNULL)
