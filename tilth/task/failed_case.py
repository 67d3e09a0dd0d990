"""Cases on a tree that the gate has failed: the same tree is never proven twice."""

from __future__ import annotations

from tilth.contract.outcomes import FailReason, TaskEnd
from tilth.contract.rules import Rules
from tilth.log.events import ChallengeMade
from tilth.log.task_state import RedTree
from tilth.model.messages import ToolCall, ToolResult
from tilth.task.attempt import Attempt, Snapshot
from tilth.task.bench import Bench
from tilth.task.briefs import UNCHANGED
from tilth.task.tool_turns import give_result

SAME_TREE = 3
FAILED_CHALLENGES = 3


def keep_red(attempt: Attempt, seen: Snapshot, told: ToolResult | TaskEnd) -> ToolResult | TaskEnd:
    """Remember a case that failed."""
    if isinstance(told, ToolResult):
        attempt.red = RedTree(seen.tree, told.content)
        attempt.verified.judge()
    return told


def same_red(bench: Bench, attempt: Attempt, seen: Snapshot) -> RedTree | None:
    """Give the failed case on this very tree, if there is one."""
    red = attempt.red if bench.rules >= Rules.PROGRESS else None
    return red if red is not None and red.tree == seen.tree else None


def answer_again(
    bench: Bench, attempt: Attempt, call: ToolCall, red: RedTree
) -> ToolResult | TaskEnd:
    """Answer a case on a tree that has failed from the record; the third of them ends the task."""
    attempt.red = RedTree(red.tree, red.told, red.times + 1)
    if attempt.red.times >= SAME_TREE:
        return TaskEnd(FailReason.NO_PROGRESS, f"{SAME_TREE} cases in a row on one failed state")
    return give_result(bench, attempt, call, f"{UNCHANGED}\n\n{red.told}", is_error=True)


def end_by_challenges(bench: Bench, attempt: Attempt) -> TaskEnd | None:
    """End a task whose cases have failed their challenge too often."""
    made = bench.words.state.task(attempt.task.id).attempt.all(ChallengeMade)
    failed = sum(bool(each.refused) for each in made)
    if failed < FAILED_CHALLENGES:
        return None
    said = f"{failed} cases whose tests did not notice that what they expect was made false"
    return TaskEnd(FailReason.NO_PROGRESS, said)
