"""Cases on a tree that the gate has failed: the same tree is never proven twice."""

from __future__ import annotations

from tilth.contract.outcomes import FailReason, TaskEnd
from tilth.log.task_state import RedTree
from tilth.model.messages import ToolCall, ToolResult
from tilth.task.attempt import Attempt, Snapshot
from tilth.task.bench import Bench
from tilth.task.briefs import UNCHANGED
from tilth.task.tool_turns import give_result

SAME_TREE = 3


def keep_red(attempt: Attempt, seen: Snapshot, told: ToolResult | TaskEnd) -> ToolResult | TaskEnd:
    """Remember a case that failed."""
    if isinstance(told, ToolResult):
        attempt.red = RedTree(seen.tree, told.content)
    return told


def answer_again(
    bench: Bench, attempt: Attempt, call: ToolCall, red: RedTree
) -> ToolResult | TaskEnd:
    """Answer a case on a tree that has failed from the record; the third of them ends the task."""
    attempt.red = RedTree(red.tree, red.told, red.times + 1)
    if attempt.red.times >= SAME_TREE:
        return TaskEnd(FailReason.NO_PROGRESS, f"{SAME_TREE} cases in a row on one failed state")
    return give_result(bench, attempt, call, f"{UNCHANGED}\n\n{red.told}", is_error=True)
