"""Numbering: which ids are taken, and a plan under free ones."""

from __future__ import annotations

from tilth.contract.numbering import first_free_id, renumbered, taken_ids
from tilth.contract.prd import Plan, Status, Task


def plan(*ids: str, **changes: dict[str, object]) -> Plan:
    base = {"title": "A", "description": "B", "acceptance_criteria": ("C",)}
    entries = ({"id": name, **base, **changes.get(name.replace("-", ""), {})} for name in ids)
    return Plan(tasks=tuple(Task.model_validate(entry) for entry in entries))


def test_an_id_is_taken_by_what_landed_unless_the_task_arrives_done() -> None:
    two = plan("T-001", "T-002", T002={"status": Status.DONE})
    assert taken_ids(two, {"T-001", "T-002", "T-009"}) == ("T-001",)
    assert taken_ids(two, ()) == ()


def test_the_first_free_id_is_above_what_landed_and_every_test_that_stands() -> None:
    assert first_free_id([]) == "T-001"
    assert first_free_id(["tests/test_t012_a.py", "x.py"], ["T-003"]) == "T-013"
    assert first_free_id(["tests/test_t002_a.py"], ["T-1204"]) == "T-1205"


def test_ids_dependencies_and_names_of_tests_move_together() -> None:
    two = plan("T-001", "T-002", T002={"depends_on": ("T-001",)})
    new = renumbered(two, {"test_t001_a.py": b"1", "test_t002_b.py": b"2"}, (), {"T-001"})
    assert [(task.id, task.source_id) for task in new.plan.tasks] == [
        ("T-002", "T-001"),
        ("T-003", "T-002"),
    ]
    assert new.plan.tasks[1].depends_on == ("T-002",)
    assert new.tests == {"test_t002_a.py": b"1", "test_t003_b.py": b"2"}


def test_a_task_whose_tests_stand_in_the_repository_keeps_its_id() -> None:
    two = plan("T-001", "T-002", T001={"depends_on": ("T-002",)})
    new = renumbered(two, {}, ["tests/test_t002_mine.py", "tests/test_t005_x.py"], {"T-001"})
    assert [task.id for task in new.plan.tasks] == ["T-006", "T-002"]
    assert new.plan.tasks[0].depends_on == ("T-002",)
