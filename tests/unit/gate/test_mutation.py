"""Mutants that really run: one that a test notices and one that none does, for every operator."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support.gate_project import Project, WarmProject, task

from tilth.base.errors import Interrupted
from tilth.contract.evidence import Mutated
from tilth.contract.prd import Plan
from tilth.gate.mutants import mutants_of

BASE = "def kept(x):\n    return x > 10\n"
# The change, what its test asks, and the mutant of this kind that it does not notice.
PLANTED = {
    "comparison": (
        (
            "def f(x):\n    if x == 1:\n        return 5\n    if x == 2:\n        return 6\n"
            "    return 7\n"
        ),
        "f(1) == 5",
        "calc.py:4 if x == 2: → if x != 2:",
    ),
    "boundary": (
        "def f(x):\n    return x > 3 and x > 0\n",
        "f(4) is True and f(3) is False",
        "calc.py:2 return x > 3 and x > 0 → return x > 3 and x >= 0",
    ),
    "constant": (
        "def f(x, y=4):\n    return x + 1\n",
        "f(1, 0) == 2",
        "calc.py:1 def f(x, y=4): → def f(x, y=5):",
    ),
    "boolean": (
        "def f(x, y):\n    return bool((x or x) and y)\n",
        "f(1, 1) is True and f(1, 0) is False and f(0, 1) is False",
        "calc.py:2 return bool((x or x) and y) → return bool((x and x) and y)",
    ),
    "return": (
        "def f(x):\n    if x < 0:\n        return 'low'\n    return 'fine'\n",
        "f(1) == 'fine'",
        "calc.py:3 return 'low' → return None",
    ),
    "statement": (
        "def f(x):\n    seen = []\n    seen.append(x)\n    seen.sort()\n    return seen\n",
        "f(2) == [2]",
        "calc.py:4 seen.sort() → pass",
    ),
}


def change(root: Path, code: str, asks: str, **files: str) -> tuple[Project, str]:
    seed = f"from calc import f\n\n\ndef test_f():\n    assert {asks}\n"
    project = WarmProject(root, {"calc.py": BASE, "tests/test_t001_f.py": seed}, task(1))
    project.write({"calc.py": BASE + "\n\n" + code if files else code, **files})
    return project, project.workspace.freeze(project.base).tree


def mutated(
    project: Project, tree: str, seconds: float = 300, cores: int = 2, check: object = None
) -> Mutated:
    gate, plan = project.gate(cores=cores), Plan(tasks=project.tasks)
    return gate.mutants(
        project.tasks[0],
        plan,
        project.base,
        tree,
        seconds=seconds,
        check=check or (lambda: None),
    )


@pytest.mark.parametrize("operator", PLANTED)
def test_a_fault_is_noticed_where_a_test_looks_and_survives_where_none_does(
    tmp_path: Path, operator: str
) -> None:
    code, asks, survivor = PLANTED[operator]
    project, tree = change(tmp_path, code, asks)
    found = mutated(project, tree)
    lines = frozenset(range(1, 10))
    planted = mutants_of("calc.py", code.encode(), lines)
    noticed = {f"{m.place} {m.before} → {m.after}" for m in planted} - {*found.survived}
    assert survivor in found.survived
    assert noticed
    assert found.tried == found.killed + len(found.survived)
    assert found.not_run == 0


def test_only_lines_that_the_change_adds_are_mutated(tmp_path: Path) -> None:
    project, tree = change(tmp_path, "def f(x):\n    return x\n", "f(1) == 1", **{"notes.md": "n"})
    found = mutated(project, tree)
    assert (found.tried, found.killed, found.survived) == (1, 1, ())


def test_tests_of_the_change_notice_too_and_are_not_mutated_themselves(tmp_path: Path) -> None:
    brought = "from calc import f\n\n\ndef test_low():\n    assert f(-1) == 'low'\n"
    code, asks, _ = PLANTED["return"]
    project, tree = change(tmp_path, code, asks, **{"tests/test_low.py": brought})
    found = mutated(project, tree)
    assert not [said for said in found.survived if "return None" in said]
    assert found.killed > 0
    assert not [said for said in found.survived if said.startswith("tests/")]


def test_a_mutant_that_never_ends_counts_as_noticed(tmp_path: Path) -> None:
    # One that waits rather than works: a core that is burnt proves no more.
    loop = "    while x > 0 and not sleep(0.01):\n        x -= 1\n"
    code = f"from time import sleep\n\n\ndef f(x):\n{loop}    return x\n"
    project, tree = change(tmp_path, code, "f(3) == 0")
    found = mutated(project, tree)
    assert not [said for said in found.survived if "pass" in said]


def test_without_time_nothing_is_tried_and_that_is_said(tmp_path: Path) -> None:
    code, asks, _ = PLANTED["statement"]
    project, tree = change(tmp_path, code, asks)
    found = mutated(project, tree, seconds=0)
    assert (found.tried, found.killed, found.survived) == (0, 0, ())
    assert found.not_run > 0


def test_without_a_test_nothing_is_tried(tmp_path: Path) -> None:
    project = WarmProject(tmp_path, {"calc.py": BASE}, task(1))
    project.write({"calc.py": BASE + "\n\ndef f(x):\n    return x + 1\n"})
    found = mutated(project, project.workspace.freeze(project.base).tree)
    assert (found.tried, found.not_run) == (0, 2)


def test_a_wish_to_stop_is_heard_between_two_mutants(tmp_path: Path) -> None:
    code, asks, _ = PLANTED["statement"]
    project, tree = change(tmp_path, code, asks)
    looks = iter(range(100))

    def check() -> None:
        if next(looks) == 2:
            raise Interrupted("stopped by the user")

    before = threading.active_count()
    with pytest.raises(Interrupted):
        mutated(project, tree, cores=1, check=check)
    assert threading.active_count() == before


def test_the_same_tree_gives_the_same_mutants_in_the_same_order(tmp_path: Path) -> None:
    code, asks, _ = PLANTED["boolean"]
    project, tree = change(tmp_path, code, asks)
    assert mutated(project, tree, cores=1) == mutated(project, tree, cores=2)
