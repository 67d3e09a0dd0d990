"""Causes: what several tasks failed of alike. Pure."""

from __future__ import annotations

from tilth.base.values import Value
from tilth.contract.outcomes import FailReason
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome
from tilth.show.figures import counted, what_failed
from tilth.task.obstacles import ObstacleKind

# One task's lint or the concerns of its evaluator are no cause of another's failure.
_SHARED = (ObstacleKind.MODULE, ObstacleKind.TEST, ObstacleKind.VALIDATOR)
# Somebody decided these.
_DECIDED = (FailReason.DROPPED, FailReason.BLOCKED)
_MOST = 3


class Cause(Value):
    """Hold what stood in the way of several tasks that failed."""

    what: str
    tasks: tuple[str, ...]

    @property
    def text(self) -> str:
        """Say it in one line."""
        return (
            f"{self.what}: behind {counted(len(self.tasks), 'failure')} ({', '.join(self.tasks)})"
        )


def causes(state: SessionState) -> tuple[Cause, ...]:
    """Give what several failed tasks met in the end, what most of them met first."""
    found: dict[tuple[ObstacleKind, str], list[str]] = {}
    for name, task in state.tasks.items():
        if task.outcome is TaskOutcome.FAILED and task.reason not in _DECIDED:
            obstacles = task.attempt.obstacles
            met = {(kind, subject): None for kind, subject, _ in obstacles.lately or obstacles.met}
            for one in met:
                found.setdefault(one, []).append(name)
    shared = [(one, names) for one, names in found.items() if one[0] in _SHARED and len(names) > 1]
    order = sorted(shared, key=lambda each: (_SHARED.index(each[0][0]), -len(each[1])))
    # A missing module makes the tests fail that are named after it.
    first = [each for each in order if each[0][0] is order[0][0][0]] if order else []
    return tuple(Cause(what=what_failed(*one), tasks=tuple(names)) for one, names in first[:_MOST])
