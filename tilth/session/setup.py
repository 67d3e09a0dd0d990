"""Setup: the project's own setup commands, run once before the first task.

They run in the worktree, in the same sandbox as the worker, with the network only if the user
allows it, and each is recorded. A command that fails stops the run; the next start runs all of them
again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.base.errors import ToolError, UserError
from tilth.config.secrets import Mask
from tilth.log.events import HookRan
from tilth.sandbox.confinement import Access, Command, Confinement, run

HOOK = "setup"

_TIMEOUT_S = 1800.0


@dataclass(frozen=True)
class Setup:
    """Hold the commands and where and how they run."""

    commands: tuple[str, ...]
    root: Path
    confinement: Confinement
    access: Access
    env: Mapping[str, str]
    timeout_s: float = _TIMEOUT_S

    def run(self, emit: Callable[[HookRan], object], mask: Mask) -> None:
        """Run all commands in order; UserError at the first that fails."""
        for line in self.commands:
            exit_code, output = self._run(line)
            said = mask.result(output)
            emit(HookRan(hook=HOOK, subject=line, exit_code=exit_code, output=said))
            if exit_code != 0:
                last = (said.strip().splitlines() or ["it printed nothing"])[-1]
                raise UserError(
                    f"setup command `{line}` failed ({_how(exit_code)}): {last[:200]}; "
                    f"{self._advice()}, then `tilth resume` runs setup again"
                )

    def _advice(self) -> str:
        if self.access.network:
            return "mend what it needs"
        return "mend what it needs, or allow it the network with TILTH_SANDBOX_NETWORK=true"

    def _run(self, line: str) -> tuple[int | None, str]:
        shell = shutil.which("bash", path=self.env.get("PATH")) or "/bin/sh"
        command = Command(
            argv=(shell, "-c", line), cwd=self.root, env=dict(self.env), timeout_s=self.timeout_s
        )
        try:
            finished = run(self.confinement.wrap(command, self.access))
        except ToolError as error:
            return None, str(error)
        return finished.exit_code, finished.output


def is_prepared(hooks: Iterable[HookRan], commands: tuple[str, ...]) -> bool:
    """Tell whether these commands were the last ones to run, all to a good end."""
    ran = [(each.subject, each.exit_code) for each in hooks if each.hook == HOOK]
    return not commands or ran[-len(commands) :] == [(line, 0) for line in commands]


def _how(exit_code: int | None) -> str:
    return "it did not finish" if exit_code is None else f"exit code {exit_code}"
