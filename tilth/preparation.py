"""Preparation: the project's own setup commands, run once before the first task.

They run in the worktree, behind the same wall as the worker but with the network, and each is
recorded. A command that fails stops the run; the next start runs them all again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilth.errors import ToolError, UserError
from tilth.events import Emit
from tilth.mask import Mask
from tilth.payloads import HookRan
from tilth.sandbox import Access, Command, Confinement, run

HOOK = "setup"

_TIMEOUT_S = 1800.0


@dataclass(frozen=True)
class Preparation:
    """Hold the commands and where and how they run."""

    commands: tuple[str, ...]
    root: Path
    confinement: Confinement
    access: Access
    env: Mapping[str, str]
    timeout_s: float = _TIMEOUT_S

    def run(self, emit: Emit, mask: Mask) -> None:
        """Run all commands in order; UserError at the first that fails."""
        for line in self.commands:
            exit_code, output = self._run(line)
            said = mask.result(output)
            emit(HookRan(hook=HOOK, subject=line, exit_code=exit_code, output=said))
            if exit_code != 0:
                last = (said.strip().splitlines() or ["it printed nothing"])[-1]
                raise UserError(
                    f"setup command `{line}` failed ({_how(exit_code)}): {last[:200]}; "
                    "mend what it needs, then `tilth resume` runs setup again"
                )

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


def is_prepared(events: Iterable[Mapping[str, Any]], commands: tuple[str, ...]) -> bool:
    """Tell from the log whether these commands were the last ones to run, all to a good end."""
    ran = [
        (event["payload"]["subject"], event["payload"]["exit_code"])
        for event in events
        if event["type"] == "hook_run" and event["payload"]["hook"] == HOOK
    ]
    return not commands or ran[-len(commands) :] == [(line, 0) for line in commands]


def _how(exit_code: int | None) -> str:
    return "it did not finish" if exit_code is None else f"exit code {exit_code}"
