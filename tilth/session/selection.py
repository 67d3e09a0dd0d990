"""The selection: which accepted tasks a take brings along, and why the others stay behind.

Pure: from the plan and the commits on the session's branch. It reads nothing and runs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from tilth.base.errors import UserError
from tilth.base.values import Value
from tilth.contract.prd import Plan, Status, Task
from tilth.git.commits import CommitRecord

_NOT_EVALUATED = frozenset({"not-evaluated", "unparsed"})


class Doubt(StrEnum):
    """Say what speaks against work that was accepted."""

    BELOW_BAR = "below_bar"
    SENT_BACK = "sent_back"
    NOT_EVALUATED = "not_evaluated"


class Behind(StrEnum):
    """Say why a task stays behind."""

    UNFINISHED = "unfinished"
    NOT_ASKED_FOR = "not_asked_for"
    IN_DOUBT = "in_doubt"
    BUILT_ON_DOUBT = "built_on_doubt"
    ALREADY_THERE = "already_there"


class LeftBehind(Value):
    """Name a task that does not come along."""

    task: str
    why: Behind


class AcceptedWork(Value):
    """Hold what a session's branch says about its tasks."""

    plan: Plan
    # The commits of each task that was accepted, in the order of the branch.
    landed: Mapping[str, tuple[CommitRecord, ...]]
    # The tasks of which nothing is missing on the target.
    there: frozenset[str] = frozenset()

    def doubt(self, task_id: str) -> Doubt | None:
        """Say what speaks against a task, if anything does."""
        task = self.plan.task(task_id)
        if task is None or task_id not in self.landed:
            return None
        if task.quality_flag:
            return Doubt.BELOW_BAR
        if task.status is not Status.DONE:
            return Doubt.SENT_BACK
        verdict = self.landed[task_id][-1].verdict
        return Doubt.NOT_EVALUATED if verdict in _NOT_EVALUATED else None


class Selection(Value):
    """Hold the tasks that come, in the plan's order, and those that stay."""

    tasks: tuple[str, ...]
    behind: tuple[LeftBehind, ...]

    @property
    def there(self) -> tuple[str, ...]:
        """Name the tasks that stand on the branch already."""
        return tuple(left.task for left in self.behind if left.why is Behind.ALREADY_THERE)

    @property
    def is_whole(self) -> bool:
        """Tell whether nothing but what is there already stays behind."""
        return len(self.there) == len(self.behind)


def read_landed(
    plan: Plan, records: Iterable[CommitRecord], finished: Collection[str]
) -> dict[str, tuple[CommitRecord, ...]]:
    """Sort the branch's commits by accepted task; failed and unfinished work is none."""
    done = {task.id for task in plan.with_status(Status.DONE)} | set(finished)
    landed: dict[str, tuple[CommitRecord, ...]] = {}
    for record in records:
        if record.task in done and not record.failed:
            landed[record.task] = (*landed.get(record.task, ()), record)
    return landed


def select(accepted: AcceptedWork, *, only: Sequence[str] = (), clean: bool = False) -> Selection:
    """Choose what comes along; a wish that cannot be met is refused."""
    _check_wishes(accepted, only)
    doubtful = {task.id for task in accepted.plan.tasks if accepted.doubt(task.id)}
    on_doubt = _dependents(accepted.plan, doubtful) if clean else set()
    chosen, behind = [], []
    for task in accepted.plan.tasks:
        why = _why_behind(accepted, task, only, doubtful if clean else set(), on_doubt)
        if why is None and task.id in accepted.landed:
            chosen.append(task.id)
        elif why is not None:
            behind.append(LeftBehind(task=task.id, why=why))
    return Selection(tasks=tuple(chosen), behind=tuple(behind))


def _why_behind(
    accepted: AcceptedWork,
    task: Task,
    only: Collection[str],
    doubtful: Collection[str],
    on_doubt: Collection[str],
) -> Behind | None:
    if task.id not in accepted.landed:
        # A story that arrived done has no commit, and is missed by nobody.
        return None if task.status is Status.DONE else Behind.UNFINISHED
    if task.id in accepted.there:
        return Behind.ALREADY_THERE
    if only and task.id not in only:
        return Behind.NOT_ASKED_FOR
    if task.id in doubtful:
        return Behind.IN_DOUBT
    return Behind.BUILT_ON_DOUBT if task.id in on_doubt else None


def _check_wishes(accepted: AcceptedWork, only: Sequence[str]) -> None:
    known = [task.id for task in accepted.plan.tasks]
    unknown = [wish for wish in only if wish not in known]
    if unknown:
        raise UserError(f"there is no task {unknown[0]!r}: the session has {', '.join(known)}")
    open_ones = [wish for wish in only if wish not in accepted.landed]
    if open_ones:
        raise UserError(f"{open_ones[0]} is not accepted: leave it out of --only")
    missing = _missing(accepted, only)
    if missing:
        whole = ",".join(task for task in known if task in {*only, *missing})
        raise UserError(f"what --only names depends on {', '.join(missing)}: take --only {whole}")


def _missing(accepted: AcceptedWork, only: Sequence[str]) -> list[str]:
    plan, brought = accepted.plan, {*only, *accepted.there}
    wished = [task for task in plan.tasks if task.id in only]
    needed = {each.id for task in wished for each in plan.upstream_of(task)} - brought
    return [task.id for task in plan.tasks if task.id in needed and task.id in accepted.landed]


def _dependents(plan: Plan, tasks: Collection[str]) -> set[str]:
    above = {task.id: {each.id for each in plan.upstream_of(task)} for task in plan.tasks}
    return {name for name, below in above.items() if below & set(tasks)}
