"""What steers a gate and was changed all the same, in words for evaluator and person."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import pytest
from support.gate_project import task

from tilth.config.project import NamedValidator
from tilth.contract.prd import Plan, Status
from tilth.gate.change_notes import earlier_steering, steering_of
from tilth.gate.overlay import Trees
from tilth.git.changes import Change

LINT = NamedValidator(name="lint", command=("python", "tools/lint.py"))


def span(before: Mapping[str, str], after: Mapping[str, str]) -> Trees:
    def read(files: Mapping[str, str], path: str) -> bytes | None:
        return files[path].encode() if path in files else None

    paths = [p for p in sorted({*before, *after}) if before.get(p) != after.get(p)]
    changes = tuple(
        Change(status="A" if p not in before else "M" if p in after else "D", path=p) for p in paths
    )
    return Trees([*before], [*after], changes, lambda p: read(before, p), lambda p: read(after, p))


def test_a_file_of_the_gate_that_the_plan_permits_is_named() -> None:
    change = span({"conftest.py": "a"}, {"conftest.py": "b", "calc.py": "x"})
    found = steering_of(change, task(may_change=("conftest.py",)), ())
    assert found.files == ("conftest.py",)
    [file] = found.notes
    assert file.startswith("conftest.py: it steers the gate; it was changed by permission of the ")


def test_what_is_put_back_anyway_is_not_named_a_second_time() -> None:
    change = span({"conftest.py": "a"}, {"conftest.py": "b", "ruff.toml": ""})
    assert not steering_of(change, task(), ())


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("[tool.pytest.ini_options]\na = 1\n", "[tool.pytest.ini_options]\na = 2\n", True),
        ("[tool.ruff]\na = 1\n", "[tool.ruff]\na = 1\n[project]\nname = 'x'\n", False),
        ("[tool.ruff]\na = 1\n", "[tool.ruff", True),
    ],
)
def test_of_a_shared_file_its_sections_count(before: str, after: str, named: bool) -> None:
    change = span({"web/pyproject.toml": before}, {"web/pyproject.toml": after})
    assert bool(steering_of(change, task(may_change=("pyproject.toml",)), ())) is named


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ({}, {"tests/helper.py": "a"}, False),
        ({"tests/helper.py": "a"}, {"tests/helper.py": "b"}, True),
        ({"tests/test_a.py": "a"}, {"tests/test_a.py": "b"}, False),
        ({"tests/test_a.py": "a"}, {"tests/test_a.py": "a", "tests/__init__.py": ""}, True),
        ({}, {"tests/new/__init__.py": ""}, False),
    ],
)
def test_what_stands_beside_the_tests_is_named_if_it_was_there(
    before: dict[str, str], after: dict[str, str], named: bool
) -> None:
    change = span(before, after)
    assert bool(steering_of(change, task(may_change=("tests/**",)), ())) is named
    assert bool(earlier_steering(change, Plan(tasks=(task(),)), ())) is named


def test_a_module_that_may_hide_another_is_named() -> None:
    plain = span({}, {"json.py": "a"})
    plain.shadows = {"json.py": "it hides json"}
    [note] = steering_of(plain, task(may_change=("json.py",)), ()).notes
    assert note.startswith("json.py: it hides json; it was added by permission")


@pytest.mark.parametrize(
    ("path", "before", "after", "named"),
    [
        ("tilth.toml", None, "defaults = false\n", True),
        ("tilth.toml", "suite = false\n", None, True),
        ("pyproject.toml", None, "[tool.tilth]\ndefaults = false\n", True),
        ("pyproject.toml", "[tool.tilth]\nsuite = false\n", "[tool.tilth]\n", True),
        ("pyproject.toml", "[tool.tilth]\n", "[tool.tilth]\n[project]\nname = 'x'\n", False),
        ("pyproject.toml", "[project]\n", "[project", True),
        ("web/tilth.toml", None, "defaults = false\n", False),
    ],
)
def test_what_later_sessions_are_configured_by_is_named(
    path: str, before: str | None, after: str | None, named: bool
) -> None:
    change = span({path: before} if before else {}, {path: after} if after else {})
    found = steering_of(change, task(), ())
    assert found.files == ((path,) if named else ())
    assert all("the gates of later sessions" in note for note in found.notes)


def test_the_session_at_hand_goes_by_the_configuration_it_began_with() -> None:
    change = span({}, {"tilth.toml": "defaults = false\n"})
    assert not earlier_steering(change, Plan(tasks=(task(),)), ())


def test_a_validators_own_program_is_named_if_it_was_changed() -> None:
    change = span({"tools/lint.py": "check()"}, {"tools/lint.py": "", "tools/other.py": ""})
    found = steering_of(change, task(), (LINT,))
    assert found.files == ("tools/lint.py",)
    [note] = found.notes
    assert note.startswith("tools/lint.py: the validator `lint` runs it or goes by it; it was")


@pytest.mark.parametrize(
    ("command", "path", "named"),
    [
        ("./check.sh --all", "check.sh", True),
        ("tool --config=conf/rules.toml src", "conf/rules.toml", True),
        ("sh -c 'cd tools && python lint.py | tail -1'", "tools/lint.py", True),
        ("python -m tools.lint", "src/tools/lint/__main__.py", True),
        ("env CI=1 /usr/bin/make lint", "Makefile", True),
        ("make -C web lint", "web/Makefile", True),
        ("yarn --cwd web test", "web/package.json", True),
        ("uv run tox -e py", "tox.ini", True),
        ("nox -s tests", "noxfile.py", True),
        ("mypy src", "src/app.py", False),
        ("mypy src", "Makefile", False),
        ("make lint", "docs/Makefile", False),
        ("python -m mylint", "tools/mylint.py", False),
    ],
)
def test_the_files_of_a_validator_are_told_from_its_command(
    command: str, path: str, named: bool
) -> None:
    one = NamedValidator(name="lint", command=tuple(shlex.split(command)))
    change = span({path: "a"}, {path: "b"})
    assert bool(steering_of(change, task(), (one,))) is named


def test_a_later_task_is_told_what_was_changed_before_it_and_by_whose_permission() -> None:
    change = span({"tools/lint.py": "check()"}, {"tools/lint.py": "", "tests/conftest.py": "x"})
    first = task(2, Status.DONE, may_change=("conftest.py",))
    found = earlier_steering(change, Plan(tasks=(first, task())), (LINT,))
    assert (found.files, found.earlier) == ((), ("tests/conftest.py", "tools/lint.py"))
    conftest, lint = found.notes
    assert "it was added earlier in this session, by permission (T-002), and the gate" in conftest
    assert "it was changed earlier in this session, though no task had permission," in lint
