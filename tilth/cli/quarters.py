"""The quarters of one session: its tools, its gate and its setup, all behind the same wall.

The interpreter is settled when the tools or the gate are first used, which is after setup has run
and before the worker's first turn.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tilth.bench import Gate as GateProtocol
from tilth.bench import Tools
from tilth.confinement.reach import Premises, hidden_places, tool_places
from tilth.errors import UserError
from tilth.events import Emit
from tilth.findings import Baseline, Validation
from tilth.interpreter import find_python
from tilth.mask import Mask
from tilth.messages import ToolCall, ToolSpec
from tilth.prd import Plan, Task
from tilth.preparation import Preparation, is_prepared
from tilth.project import ProjectFacts
from tilth.repository.repo import SourceRepo
from tilth.sandbox import Confinement, Unconfined, environment
from tilth.session import Session
from tilth.settings import Settings
from tilth.store import make_private
from tilth.tooling import Blocked, Outcome
from tilth.tools import Toolbox, find_ruff
from tilth.validators import Gate
from tilth.workspace import Workspace

_GITCONFIG = "[safe]\n\tdirectory = *\n"


@dataclass(frozen=True)
class Quarters:
    """Hold what a session's commands run with."""

    settings: Settings
    source: SourceRepo
    facts: ProjectFacts
    confinement: Confinement
    scratch: Path
    session: Session
    workspace: Workspace

    def tools(self) -> Tools:
        """Give the worker's tools."""
        return _LateTools(self._toolbox)

    def gate(self) -> GateProtocol:
        """Give the validators."""
        return _LateGate(self._gate)

    def prepare(self, emit: Emit, mask: Mask, *, again: bool = False) -> None:
        """Run the project's setup commands, unless the log says that it was done."""
        commands = self.facts.setup
        if not commands or (not again and is_prepared(self.session.events(), commands)):
            return
        premises = self._premises()
        for folder in (premises.setup, premises.setup_home, premises.venv):
            make_private(folder)
        # Nothing of a virtual environment is for git to see, whoever makes it.
        (premises.venv / ".gitignore").write_text("*\n", encoding="utf-8")
        Preparation(
            commands=commands,
            root=self.workspace.path,
            confinement=self.confinement,
            access=premises.preparation(),
            env=environment(
                os.environ, home=premises.setup_home, path_first=premises.python.parent
            ),
        ).run(emit, mask)

    @property
    def _setup(self) -> Path:
        return self.session.directory / "setup"

    @property
    def _home(self) -> Path:
        return self.scratch / "home"

    def _python(self) -> Path:
        made = [self._setup / "venv"]
        if self.facts.setup and isinstance(self.confinement, Unconfined):
            # Without a wall nothing is bound elsewhere: setup's own stands in the worktree.
            made.append(self.workspace.path / ".venv")
        return find_python(self.settings.python, self.source.root, tuple(made))

    def _premises(self) -> Premises:
        settings = self.settings
        git = shutil.which("git")
        return Premises(
            hidden=hidden_places(os.environ, settings.home, settings.sessions_dir, self.scratch),
            source=self.source.root,
            git_dir=self.source.git_dir,
            workspace=self.workspace.path,
            setup=self._setup,
            home=self._home,
            python=self._python(),
            programs=tool_places(find_ruff(), Path(git) if git else None),
            network=settings.sandbox_network,
        )

    def _environment(self, python: Path) -> dict[str, str]:
        return environment(os.environ, home=self._home, path_first=python.parent)

    def _toolbox(self) -> Toolbox:
        premises = self._premises()
        return Toolbox(
            root=self.workspace.path,
            confinement=self.confinement,
            access=premises.worker(),
            env=self._environment(premises.python),
            bash_timeout_s=self.settings.tool_timeout_seconds,
            ruff=find_ruff(),
        )

    def _gate(self) -> Gate:
        premises = self._premises()
        return Gate(
            workspace=self.workspace,
            seed_tests=self.session.seed_tests,
            confinement=self.confinement,
            access=premises.gate(),
            env=self._environment(premises.python),
            python=premises.python,
            ruff=_ruff(),
            facts=self.facts,
            timeout_s=self.settings.validator_timeout_seconds,
            scratch=self.scratch,
            stands_for=(self.source.root, self.workspace.path),
        )


def make_home(scratch: Path) -> None:
    """Make the home that commands get instead of the user's own.

    The user's git configuration is hidden with the home it stands in, so what it allows must be
    allowed here: a repository that Tilth has opened may be looked at.
    """
    home = scratch / "home"
    home.mkdir(mode=0o700)
    (home / ".gitconfig").write_text(_GITCONFIG, encoding="utf-8")


class _LateTools:
    """Be the worker's tools, made at their first use."""

    def __init__(self, make: Callable[[], Toolbox]) -> None:
        self._made = functools.cache(make)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._made().specs

    def blocked(self, call: ToolCall) -> Blocked | None:
        return self._made().blocked(call)

    def run(self, call: ToolCall) -> Outcome:
        return self._made().run(call)


class _LateGate:
    """Be the validators, made at their first use."""

    def __init__(self, make: Callable[[], Gate]) -> None:
        self._made = functools.cache(make)

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        return self._made().baseline(task, plan, base)

    def validate(
        self, task: Task, plan: Plan, base: str, tree: str, baseline: Baseline
    ) -> Validation:
        return self._made().validate(task, plan, base, tree, baseline)


def _ruff() -> Path:
    found = find_ruff()
    if found is None:
        raise UserError("ruff is missing from Tilth's own installation; install Tilth again")
    return found
