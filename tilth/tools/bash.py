"""The bash tool: one command line in the worktree, confined and bounded."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from tilth.base.errors import ToolError
from tilth.base.values import Value
from tilth.sandbox.confinement import Access, Command, Confinement, Finished, run
from tilth.task.tool_outcome import ToolOutcome

BASH = (
    "Run a command line with bash in the worktree root. Gives stdout and stderr together, and the "
    "exit code if it is not 0. Each call is a fresh shell with empty input; nothing it leaves "
    "running survives. Long output keeps its first and last 16 KB."
)

_LONGEST = 5


class BashArguments(Value):
    """Give a command line and, if it needs longer, its time."""

    command: str
    timeout_seconds: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Stop it after this many seconds."
    )


@dataclass(frozen=True)
class BashTool:
    """Run command lines in one worktree."""

    root: Path
    confinement: Confinement
    access: Access
    env: Mapping[str, str]
    timeout_s: float

    def run(self, arguments: BashArguments) -> ToolOutcome:
        if not arguments.command.strip():
            raise ToolError("the command is empty")
        timeout_s = bounded(arguments.timeout_seconds, self.timeout_s)
        shell = shutil.which("bash", path=self.env.get("PATH")) or "/bin/sh"
        command = Command(
            argv=(shell, "-c", "--", arguments.command),
            cwd=self.root,
            env=dict(self.env),
            timeout_s=timeout_s,
        )
        finished = run(self.confinement.wrap(command, self.access))
        return ToolOutcome(
            content=_told(finished, timeout_s),
            is_error=finished.timed_out,
            exit_code=finished.exit_code,
        )


def bounded(asked_s: float | None, default_s: float) -> float:
    """Keep the time a call may ask for between a second and five times the default."""
    if asked_s is None:
        return default_s
    return min(max(asked_s, 1.0), default_s * _LONGEST)


def _told(finished: Finished, timeout_s: float) -> str:
    output = finished.output
    if finished.timed_out:
        note = f"[timed out after {timeout_s:g} s; the command and all it started were ended]"
    elif finished.exit_code is None:
        note = "[the command did not end and could not be stopped]"
    elif finished.exit_code:
        note = f"[exit code {finished.exit_code}]"
    else:
        return output or "(no output)"
    return f"{output}{'' if not output or output.endswith(chr(10)) else chr(10)}{note}"
