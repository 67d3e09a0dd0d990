"""The sums: a roll-up while it still grows.

Events are many and each changes a few numbers, so the numbers stand in plain places and become a
frozen value only when one is asked for. What an event changes is not decided here.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from tilth.messages import Usage
from tilth.tally.rollup import Spent, Summary, TaskSummary

_Rollup = TypeVar("_Rollup", bound=Spent)


class Spending:
    """Add up model calls."""

    __slots__ = (
        "_cache_read",
        "_cache_write",
        "_calls",
        "_cost",
        "_in",
        "_out",
        "_own",
        "_unknown",
    )

    def __init__(self) -> None:
        self._calls = self._unknown = 0
        self._in = self._out = self._cache_read = self._cache_write = self._own = 0
        self._cost = 0.0

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Add one call; a call without a price is counted, never priced at 0."""
        self._calls += 1
        self._in += usage.input_tokens
        self._out += usage.output_tokens
        self._cache_read += usage.cache_read_tokens
        self._cache_write += usage.cache_write_tokens
        self._own += usage.reasoning_tokens
        if cost_usd is None:
            self._unknown += 1
        else:
            # Rounded so that a long sum shows no dust of binary fractions.
            self._cost = round(self._cost + cost_usd, 9)

    def fields(self) -> dict[str, Any]:
        """Give the sums as the fields of what was spent."""
        usage = Usage(
            input_tokens=self._in,
            output_tokens=self._out,
            cache_read_tokens=self._cache_read,
            cache_write_tokens=self._cache_write,
            reasoning_tokens=self._own,
        )
        return {
            "model_calls": self._calls,
            "tokens": usage.counted,
            "usage": usage,
            "cost_usd": self._cost,
            "cost_unknown_calls": self._unknown,
        }


class Draft(Generic[_Rollup]):
    """Be a roll-up whose fields still change; a value that was given does not change with it."""

    def __init__(self, empty: _Rollup) -> None:
        self._made: _Rollup | None = empty
        self._empty = empty
        self._fields: dict[str, Any] = dict(empty)
        self._spent = Spending()
        self._by_role: dict[str, Spending] = {}

    def __getitem__(self, field: str) -> Any:
        return self._fields[field]

    def set(self, **changes: Any) -> None:
        """Replace fields."""
        self._fields.update(changes)
        self._made = None

    def add(self, field: str, amount: int = 1) -> None:
        """Add to a counter."""
        self._fields[field] += amount
        self._made = None

    def add_in(self, field: str, key: str) -> None:
        """Add one to a counter among many."""
        counts = self._fields[field]
        self.set(**{field: {**counts, key: counts.get(key, 0) + 1}})

    def append(self, field: str, *items: object) -> None:
        """Add to a list."""
        self.set(**{field: (*self._fields[field], *items)})

    def spend(self, role: str, usage: Usage, cost_usd: float | None) -> None:
        """Add one model call of a role."""
        self._spent.add(usage, cost_usd)
        if role not in self._by_role:
            self._by_role[role] = Spending()
        self._by_role[role].add(usage, cost_usd)
        self._made = None

    def value(self) -> _Rollup:
        """Give the roll-up as it stands now."""
        if self._made is None:
            roles = {role: Spent(**spent.fields()) for role, spent in self._by_role.items()}
            changes = {**self._fields, **self._spent.fields(), "by_role": roles}
            self._made = self._empty.model_copy(update=changes)
        return self._made


class Sums:
    """Hold the session's sums and each task's."""

    def __init__(self) -> None:
        self.whole = Draft(Summary())
        self.tasks: dict[str, Draft[TaskSummary]] = {}

    def task(self, task_id: str | None) -> Draft[TaskSummary]:
        """Give one task's sums; what belongs to no task is added to none."""
        if task_id is None:
            return Draft(TaskSummary())
        if task_id not in self.tasks:
            self.tasks[task_id] = Draft(TaskSummary())
        return self.tasks[task_id]

    def summary(self) -> Summary:
        """Give the roll-up of the session with all its tasks."""
        tasks = {task_id: draft.value() for task_id, draft in self.tasks.items()}
        return self.whole.value().model_copy(update={"tasks": tasks})
