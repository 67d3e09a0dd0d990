"""To whom a person's note goes, as the plan stands."""

from __future__ import annotations

import pytest

from tilth.base.errors import UserError
from tilth.contract.operator_word import told_tasks
from tilth.contract.prd import Plan, Status, Task


def plan(*statuses: str) -> Plan:
    return Plan(
        tasks=tuple(
            Task(
                id=f"T-00{number}",
                title="Add it",
                description="It is needed.",
                acceptance_criteria=("it is there",),
                status=Status(status),
            )
            for number, status in enumerate(statuses, start=1)
        )
    )


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        (("done", "in_progress", "pending_eval", "pending"), ["T-002", "T-003"]),
        (("accepted", "pending", "pending"), ["T-002"]),
        (("accepted", "failed"), ["T-002"]),
    ],
)
def test_a_note_to_nobody_in_particular_goes_to_whoever_can_read_it(
    statuses: tuple[str, ...], told: list[str]
) -> None:
    assert [task.id for task in told_tasks(plan(*statuses), None)] == told


@pytest.mark.parametrize(
    ("statuses", "wanted", "why"),
    [
        (("done",), "T-001", "T-001 is done, so nobody would read it; send it back"),
        (("accepted",), "t-001", "T-001 is accepted and waits to land, so nobody would read it"),
        (("done", "done"), None, "every task is done, so nobody would read it"),
        (("done", "accepted"), None, "every task is done or accepted and waits to land, so nobody"),
    ],
)
def test_a_note_that_nobody_would_read_is_refused(
    statuses: tuple[str, ...], wanted: str | None, why: str
) -> None:
    with pytest.raises(UserError, match=why):
        told_tasks(plan(*statuses), wanted)
