"""A small project with one seed test and a real gate, for tests of the validators."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from support.git_repo import Repo
from support.warm_start import warm_python
from tilth.config.project import ProjectFacts
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.export import Runtime
from tilth.gate.findings import Baseline, Validation, ValidatorReport
from tilth.gate.gate import Gate
from tilth.sandbox.confinement import Access, Unconfined, environment

RUFF = Path(shutil.which("ruff", path=str(Path(sys.executable).parent)) or "ruff")
SEED = "tests/test_t001_add.py"
ADD_TEST = """\
from calc import add


def test_add():  # AC-1
    assert add(2, 3) == 5


def test_add_of_negatives():
    assert add(-1, -1) == -2
"""
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 0\n"


def task(number: int = 1, status: Status = Status.IN_PROGRESS, **more: object) -> Task:
    """Make a task that asks for nothing in particular."""
    return Task.model_validate(
        {
            "id": f"T-{number:03d}",
            "title": "add",
            "description": "add numbers",
            "acceptance_criteria": ("it adds",),
            "status": status,
            **more,
        }
    )


class Project:
    """Hold a repository at its base, its seed tests, and a worktree to change."""

    def __init__(self, root: Path, files: Mapping[str, str], *tasks: Task) -> None:
        self.root = root
        self.repo = Repo(root / "repo", {"README.md": "a project\n", **files})
        self.workspace = self.repo.started()
        self.base = self.repo.head()
        self.tasks = tasks or (task(),)
        self.seed_tests = root / "seed-tests"
        self.seed_tests.mkdir()
        for path, text in files.items():
            if path.startswith("tests/test_t0"):
                (self.seed_tests / Path(path).name).write_text(text)

    def write(self, files: Mapping[str, str | None]) -> None:
        """Change the worktree; None deletes."""
        for name, text in files.items():
            file = self.workspace.path / name
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def gate(self, **more: object) -> Gate:
        """Give the gate of this project; what is not the gate's own is how validators run."""
        run = {
            "export": self.workspace.export,
            "confinement": Unconfined(),
            "access": Access(),
            "env": environment(os.environ, home=self.root, path_first=Path(sys.executable).parent),
            "python": self.python(),
            "ruff": RUFF,
            "scratch": self.root / "scratch",
            "stands_for": (self.repo.root.resolve(), self.workspace.path.resolve()),
            "place": nullcontext,
        }
        parts = {
            "workspace": self.workspace,
            "runtime": Runtime(**{name: more.pop(name, value) for name, value in run.items()}),
            "seed_tests": self.seed_tests,
            "facts": ProjectFacts(),
            "timeout_s": 30.0,
        }
        return Gate(**{**parts, **more})

    def python(self) -> Path:
        return Path(sys.executable)

    def baseline(self, **more: object) -> Baseline:
        return self.gate(**more).baseline(self.tasks[0], Plan(tasks=self.tasks), self.base)

    def validate(self, baseline: Baseline | None = None, **more: object) -> Validation:
        """Freeze the worktree and prove it."""
        tree = self.workspace.freeze(self.base).tree
        plan = Plan(tasks=self.tasks)
        before = baseline or Baseline()
        return self.gate(**more).validate(self.tasks[0], plan, self.base, tree, before)

    def tried(self, files: Mapping[str, str | None], **more: object) -> Validation:
        self.write(files)
        return self.validate(**more)


class WarmProject(Project):
    """Hold a project whose tests start warm, where many runs are wanted and none is hostile."""

    def python(self) -> Path:
        return warm_python()


def report(validation: Validation, name: str) -> ValidatorReport:
    """Give the report of one validator."""
    return next(report for report in validation.reports if report.name == name)
