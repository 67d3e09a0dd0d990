"""The task's gate: the gate, with whose baseline every task begins in an empty home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilth.contract.prd import Plan, Status, Task
from tilth.gate.findings import Baseline
from tilth.gate.gate import Gate
from tilth.log.events import Preflighted
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
    """Be the gate, with whose baseline every task begins: the worker finds an empty home then.

    What the preflight has seen on the very same tree is not run again.
    """

    worker_home: Path | None = None
    preflight: Preflighted | None = None

    def baseline(self, task: Task, plan: Plan, base: str) -> Baseline:
        if self.worker_home is not None:
            renew_home(self.worker_home)
        known = self._known(task, plan, base)
        return super().baseline(task, plan, base) if known is None else known

    def _known(self, task: Task, plan: Plan, base: str) -> Baseline | None:
        """Give what the preflight found; tests of done tasks are none of its business."""
        if self.preflight is None or plan.with_status(Status.DONE):
            return None
        tree = self.workspace.tree_of(base)
        known = self.preflight.baseline(task.id, tree)
        if known is None or known.suite is None:
            return known
        if tree in self.suites:
            return known.model_copy(update={"suite": self.suites[tree], "suite_report": None})
        self.suites[tree] = known.suite
        return known
