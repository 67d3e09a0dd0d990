"""The task's gate: the gate, with whose baseline every task begins in an empty home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilth.contract.prd import Plan, Task
from tilth.gate.findings import Baseline
from tilth.gate.gate import Gate
from tilth.sandbox.removal import remove_tree

# The user's git configuration is hidden with the home it stands in, so what it allows must be
# allowed here: a repository that Tilth has opened may be looked at.
_GITCONFIG = "[safe]\n\tdirectory = *\n"


def renew_home(home: Path) -> None:
    """Make a home anew: what one task leaves in it must not reach the next."""
    if home.exists():
        remove_tree(home)
    home.mkdir(mode=0o700)
    (home / ".gitconfig").write_text(_GITCONFIG, encoding="utf-8")


@dataclass(eq=False)
class TaskGate(Gate):
    """Be the gate, with whose baseline every task begins: the worker finds an empty home then."""

    worker_home: Path | None = None

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        if self.worker_home is not None:
            renew_home(self.worker_home)
        return super().baseline(task, plan, base)
