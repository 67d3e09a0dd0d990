"""Choices: settings that are one word of a closed set."""

from __future__ import annotations

from enum import StrEnum

from tilth.contract.prd import Plan


class OnExhausted(StrEnum):
    """Say what becomes of a run when a task is exhausted."""

    AUTO = "auto"
    HALT = "halt"
    SKIP = "skip"
    ACCEPT = "accept"

    def effective(self, plan: Plan) -> OnExhausted:
        """Settle `auto`: a plan that declares no dependency has its order for one, and halts."""
        if self is not OnExhausted.AUTO:
            return self
        declared = any(task.depends_on for task in plan.tasks)
        return OnExhausted.SKIP if declared else OnExhausted.HALT


class SandboxChoice(StrEnum):
    """Say how commands are to be confined."""

    AUTO = "auto"
    BWRAP = "bwrap"
    LANDLOCK = "landlock"
    OFF = "off"
