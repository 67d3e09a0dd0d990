"""The table of tricks: work that was not done is refused, named or documented, and honest work that
uses the same technique passes. Played on the real gate; `support/tricks.py` says how a row reads.

`refused` says what the gate tells the worker, `named` what a note tells the evaluator of work that
passes, `shown` how the change itself is shown, `documented` which sentence of docs/security.md says
that it passes unseen. `restored` is refused too: every file of the row but code is put right and
named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from support.gate_project import WarmProject, task
from support.tricks import CODE, Row, TrickClass, trick_classes

from tilth.contract.prd import Plan
from tilth.gate.findings import Validation
from tilth.task.shown_change import led_to, shown_change

CLASSES = {found.name: found for found in trick_classes()}
TRICKS = [(each.name, row) for each in CLASSES.values() for row in each.tricks]
TWINS = [(each.name, row) for each in CLASSES.values() for row in each.twins]
SECURITY = Path(__file__).parents[2] / "docs" / "security.md"
# Code that no file names as part of the gate, though a row plants it.
OWN = {CODE, "evil.py"}
Play = Callable[[str, Row], tuple[Validation, str]]


class Played:
    """Hold the project of a class, and what is true of its base."""

    def __init__(self, root: Path, rows: TrickClass) -> None:
        allowed = task(may_change=rows.may_change)
        self._project = project = WarmProject(root / "p", rows.base, allowed)
        self._plan = Plan(tasks=project.tasks)
        # One for all rows: it keeps what the challenge of the base has shown.
        self._gate = project.gate()
        self._before = self._gate.baseline(project.tasks[0], self._plan, project.base)

    def play(self, row: Row) -> tuple[Validation, str]:
        """Do what a row says, have it proven, and show the change as an evaluator sees it."""
        project = self._project
        project.workspace.restore(project.base)
        for path, target in row.links.items():
            (project.workspace.path / path).unlink(missing_ok=True)
            (project.workspace.path / path).symlink_to(target)
        project.write(row.files)
        tree = project.workspace.freeze(project.base).tree
        task, base = project.tasks[0], project.base
        found = self._gate.validate(task, self._plan, base, tree, self._before)
        return found, self._shown(base, tree)

    def _shown(self, base: str, tree: str) -> str:
        trees = self._project.workspace

        def led(path: str) -> str:
            to = trees.links(tree, path).get(path)
            return led_to(path, to, trees.read(tree, to) if to else None, trees.files(tree))

        return shown_change(trees.diff(base, tree), led=led).text


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    @cache
    def project(name: str) -> Played:
        return Played(tmp_path_factory.mktemp("tricks"), CLASSES[name])

    return lambda name, row: project(name).play(row)


def named(rows: list[tuple[str, Row]]) -> pytest.MarkDecorator:
    every = [pytest.param(name, row, id=f"{name}: {row.name}") for name, row in rows]
    return pytest.mark.parametrize(("name", "row"), every)


@named(TRICKS)
def test_work_that_was_not_done_does_not_look_done_when_it(name: str, row: Row, play: Play) -> None:
    found, shown = play(name, row)
    told = found.render()
    match row.outcome:
        case "refused":
            assert not found.passed, told
            assert re.search(row.says, told), told
        case "restored":
            assert not found.passed, told
            assert set(found.tampered) == set(row.files) - OWN
            assert all(f"\n- {path}: " in told for path in found.tampered), told
        case "named":
            assert found.passed, told
            assert any(re.search(row.says, note) for note in found.notes), told
        case "shown":
            assert found.passed, told
            assert re.search(row.says, shown), shown
        case "documented":
            assert found.passed, told
            assert row.says in " ".join(SECURITY.read_text("utf-8").split())
        case _:
            raise ValueError(row.outcome)


@named(TWINS)
def test_honest_work_passes_that(name: str, row: Row, play: Play) -> None:
    found, _ = play(name, row)
    assert found.passed, found.render()
    assert found.tampered == ()


def test_an_honest_twin_stands_beside_every_trick() -> None:
    twins = {(name, row.name) for name, row in TWINS}
    assert [row.name for name, row in TRICKS if (name, row.more) not in twins] == []


def test_the_table_is_long() -> None:
    assert len(TRICKS) >= 60
