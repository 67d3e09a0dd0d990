"""What one tool call came to, for the model and for the log."""

from __future__ import annotations

from tilth.base.values import Value


class HookRun(Value):
    """Tell of one check that ran after a tool; the exit code is None if it could not run."""

    hook: str
    path: str
    output: str
    exit_code: int | None


class ToolOutcome(Value):
    """Hold the text a tool gives back, and how it went."""

    content: str
    is_error: bool = False
    exit_code: int | None = None
    hooks: tuple[HookRun, ...] = ()


class Blocked(Value):
    """Name the rule that refused a call, and say what to do instead."""

    rule: str
    reason: str
