"""The gate as a whole: what holds on the base, who is blamed for what, and what goes wrong."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WRONG, Project, WarmProject, report, task

from tilth.base.errors import UserError, WorkspaceError
from tilth.config.project import NamedValidator, ProjectFacts
from tilth.contract.prd import Status
from tilth.gate.findings import Baseline
from tilth.git.workspace import Workspace
from tilth.sandbox.confinement import Access, Bind
from tilth.sandbox.runner import Command

DONE = task(2, Status.DONE)
DONE_TEST = "import other\n\n\ndef test_one():\n    assert other.one() == 1\n"
ONE = "def one():\n    return 1\n"


def facts(*command: str, name: str = "check", timeout_s: float | None = None) -> ProjectFacts:
    named = NamedValidator(name=name, command=command, timeout_s=timeout_s)
    return ProjectFacts(validators=(named,), replace_defaults=True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Project:
    base = {SEED: ADD_TEST, "calc.py": "x = 1\n"}
    return WarmProject(tmp_path_factory.mktemp("plain") / "project", base)


@pytest.fixture(autouse=True)
def _clean(plain: Project) -> None:
    plain.workspace.restore(plain.base)


@pytest.mark.parametrize("start", [Project, WarmProject])
def test_the_seed_tests_are_red_on_the_base_and_green_on_the_tree(
    plain: Project, start: type[Project]
) -> None:
    python = start.python(plain)
    baseline = plain.baseline(python=python)
    assert baseline.report is not None
    assert not baseline.report.passed
    assert not baseline.was_green
    assert baseline.results[0].error == "ImportError"
    assert "cannot import name 'add' from 'calc' (calc.py)" in baseline.render()
    plain.write({"calc.py": RIGHT})
    assert plain.validate(baseline, python=python).passed


class Unreadable:
    """Be a worktree whose change brings down whoever reads it."""

    def __init__(self, workspace: Workspace, error: Exception) -> None:
        self._workspace = workspace
        self._error = error

    def __getattr__(self, name: str) -> object:
        return getattr(self._workspace, name)

    def links(self, rev: str, *below: str) -> dict[str, str]:
        raise self._error


@pytest.mark.parametrize("error", [ValueError("6,000 digits"), RecursionError(), OSError(36, "x")])
def test_what_brings_the_gate_down_is_the_cases_own_fault(plain: Project, error: Exception) -> None:
    plain.write({"calc.py": RIGHT})
    validation = plain.validate(workspace=Unreadable(plain.workspace, error))
    [red] = validation.reports
    assert not red.passed
    assert f"this tree cannot be proven: {type(error).__name__}: {error}"[:60] in red.output


@pytest.mark.parametrize("error", [OSError(28, "No space left"), WorkspaceError("git died")])
def test_what_is_wrong_with_the_machine_is_no_fault_of_a_case(
    plain: Project, error: Exception
) -> None:
    plain.write({"calc.py": RIGHT})
    with pytest.raises(type(error)):
        plain.validate(workspace=Unreadable(plain.workspace, error))


def test_a_seed_test_that_is_green_on_the_base_is_named(tmp_path: Path) -> None:
    baseline = WarmProject(tmp_path / "p", {SEED: ADD_TEST, "calc.py": RIGHT}).baseline()
    assert baseline.already_green == (f"{SEED}::test_add", f"{SEED}::test_add_of_negatives")
    assert baseline.was_green
    assert f"- {SEED}::test_add\n" in baseline.render()


def test_a_regression_in_a_done_task_fails_the_gate(tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "tests/test_t002_one.py": DONE_TEST, "other.py": ONE}
    project = WarmProject(tmp_path / "p", files, task(), DONE)
    baseline = project.baseline()
    assert baseline.red_elsewhere == ()
    validation = project.tried({"calc.py": RIGHT, "other.py": WRONG}, baseline=baseline)
    output = report(validation, "pytest").output
    assert not validation.passed
    assert "tests/test_t002_one.py::test_one: failed" in output.splitlines()[0]
    assert output.splitlines()[0].endswith("(it belongs to a task that is done)")


def test_a_done_task_that_is_red_on_the_base_already_fails_the_gate(tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "tests/test_t002_one.py": DONE_TEST, "other.py": "y = 1\n"}
    project = WarmProject(tmp_path / "p", files, task(), DONE)
    baseline = project.baseline()
    assert baseline.red_elsewhere == ("tests/test_t002_one.py::test_one",)
    validation = project.tried({"calc.py": RIGHT}, baseline=baseline)
    assert not validation.passed
    assert "red before this one began" in report(validation, "pytest").output
    assert project.tried({"other.py": ONE}, baseline=baseline).passed


def test_done_tests_are_known_even_when_this_tasks_tests_end_the_process(tmp_path: Path) -> None:
    files = {
        SEED: "import os\n\nos._exit(0)\n",
        "tests/test_t002_one.py": DONE_TEST,
        "other.py": ONE,
    }
    baseline = WarmProject(tmp_path / "p", files, task(), DONE).baseline()
    assert baseline.red_elsewhere == ()
    assert baseline.report is not None
    assert not baseline.report.passed


def test_tests_of_open_tasks_are_left_out(tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "tests/test_t003_later.py": DONE_TEST}
    project = WarmProject(tmp_path / "p", files, task(), task(3, Status.PENDING))
    everything = NamedValidator(name="all", command=(sys.executable, "-m", "pytest", "-q"))
    validation = project.tried({"calc.py": RIGHT}, facts=ProjectFacts(validators=(everything,)))
    assert validation.summary == {"ruff": "passed", "pytest": "passed", "all": "passed"}


def test_a_task_without_a_test_says_that_only_the_evaluator_stands_behind_it(
    tmp_path: Path,
) -> None:
    project = WarmProject(tmp_path / "p", {"calc.py": "x = 1\n"})
    baseline = project.baseline()
    validation = project.tried({"calc.py": RIGHT}, baseline=baseline)
    assert baseline.report is None
    assert validation.passed
    assert validation.notes == ("T-001: no test stands behind this task: only the evaluator does",)


def test_only_violations_that_are_new_fail_ruff(tmp_path: Path) -> None:
    files = {"a.py": "import os\n", "b.py": "import re\n", "tests/test_t002_x.py": "import json\n"}
    files["ruff.toml"] = "line-length = 100\n"
    project = WarmProject(tmp_path / "p", files, task(), DONE)
    baseline = project.baseline()
    moved = {"a.py": "\n\nimport os\n", "b.py": None, "c.py": "import re\n"}
    assert report(project.tried(moved, baseline=baseline), "ruff").passed
    shown = report(project.tried({"a.py": "import os\nimport sys\n"}, baseline=baseline), "ruff")
    assert not shown.passed
    assert shown.output == "a.py:2:8: F401 `sys` imported but unused"


def test_ruff_keeps_the_configuration_of_the_base(tmp_path: Path) -> None:
    config = '[project]\nname = "p"\n[tool.ruff.lint]\nselect = ["T20"]\n'
    project = WarmProject(tmp_path / "p", {"pyproject.toml": config, "a.py": "x = 1\n"})
    changed = {"pyproject.toml": '[project]\nname = "q"\n', "a.py": "import os\nprint(1)\n"}
    validation = project.tried(changed)
    assert report(validation, "ruff").output == "a.py:2:1: T201 `print` found"
    assert validation.tampered == ("pyproject.toml",)


def test_a_ruff_configuration_of_the_base_that_does_not_work_is_the_users(tmp_path: Path) -> None:
    project = WarmProject(tmp_path / "p", {"ruff.toml": "what = 1\n"})
    with pytest.raises(UserError, match=r"ruff cannot check the base .*\[tool.tilth.validators\]"):
        project.baseline()


def test_a_configuration_file_that_cannot_be_read_fails_the_gate(plain: Project) -> None:
    validation = plain.tried({"calc.py": RIGHT, "pyproject.toml": "[project\n"})
    assert not validation.passed
    assert report(validation, "configuration").output.startswith("pyproject.toml cannot be read")


def test_a_named_validator_runs_in_the_export_with_the_pristine_tests(plain: Project) -> None:
    changed = {SEED: "", "calc.py": RIGHT}
    validation = plain.tried(changed, facts=facts("grep", "-c", "AC-1", SEED, "calc.py"))
    assert [(r.name, r.passed, r.exit_code) for r in validation.reports] == [("check", True, 0)]
    assert f"{SEED}:1" in validation.reports[0].output


def test_a_named_validator_that_fails_or_hangs_fails_the_gate(plain: Project) -> None:
    failed = plain.tried({"calc.py": RIGHT}, facts=facts("sh", "-c", "echo no; exit 3"))
    assert (failed.reports[0].exit_code, failed.reports[0].output) == (3, "no")
    hung = plain.tried({}, facts=facts("sleep", "60", timeout_s=0.2))
    assert not hung.passed
    assert hung.reports[0].output.startswith("check did not finish within 0.2 seconds")


def test_a_named_validator_that_is_not_installed_is_the_users(plain: Project) -> None:
    with pytest.raises(UserError, match=r"validator check: .* is it installed"):
        plain.tried({"calc.py": RIGHT}, facts=facts("no-such-program"))


def test_tests_that_hang_fail_the_gate(plain: Project) -> None:
    code = "import time\n\n\ndef add(a, b):\n    time.sleep(60)\n"
    shown = report(plain.tried({"calc.py": code}, timeout_s=1.5), "pytest")
    assert not shown.passed
    assert shown.exit_code is None
    assert shown.output.startswith("pytest did not finish within 1.5 seconds")


def test_output_without_end_is_cut(plain: Project) -> None:
    code = RIGHT.replace("return", "print('x' * 5_000_000)\n    return 1 +")
    shown = report(plain.tried({"calc.py": code}), "pytest")
    assert not shown.passed
    assert len(shown.output) < 40_000
    assert "bytes omitted" in shown.output


def test_an_interpreter_that_is_missing_is_the_users(plain: Project, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="set TILTH_PYTHON"):
        plain.baseline(python=tmp_path / "python")


def bare_environment(place: Path) -> Path:
    """Make a virtual environment that holds nothing at all."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    return place / "bin" / "python"


def test_an_interpreter_without_pytest_is_the_users(plain: Project, tmp_path: Path) -> None:
    python = bare_environment(tmp_path / "venv")
    with pytest.raises(UserError, match=r"has no pytest .*install pytest in that environment"):
        plain.baseline(python=python)


def test_an_editable_install_of_the_source_finds_the_export(tmp_path: Path) -> None:
    seed = "import calc\nimport kept\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n"
    seed += "    assert 'export' in kept.__file__\n"
    project = WarmProject(
        tmp_path / "p", {SEED: seed, "lib/calc.py": WRONG, "lib/kept.py": "x = 1\n"}
    )
    python = bare_environment(tmp_path / "venv")
    [packages] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "real.pth").write_text(sysconfig.get_path("purelib") + "\n")
    # Both ways an install can point at the source: a plain path, and one that pushes to the front.
    (packages / "a.pth").write_text(f"{project.repo.root}/lib\n")
    (packages / "b.pth").write_text(f"import sys; sys.path.insert(0, '{project.repo.root}/lib')\n")
    project.write({"lib/calc.py": RIGHT})
    validation = project.validate(python=python)
    assert report(validation, "pytest").passed, validation.render()


class Watching:
    """Be a wall that lets everything through and notes what it was asked for."""

    name = "watching"

    def __init__(self) -> None:
        self.seen: list[Access] = []

    def wrap(self, command: Command, access: Access) -> Command:
        self.seen.append(access)
        return command


def test_the_wall_shows_the_export_at_both_checkouts(plain: Project) -> None:
    wall = Watching()
    given = Access(hidden=(Path("/secret"),), network=False)
    plain.tried({"calc.py": RIGHT}, confinement=wall, access=given)
    seen = wall.seen[-1]
    export = seen.writable[-1] / "export"
    assert seen.hidden == given.hidden
    for place in (plain.repo.root, plain.workspace.path):
        assert Bind(source=export, target=place, writable=True) in seen.binds


def test_the_whole_of_it_reads_well(plain: Project) -> None:
    validation = plain.tried({"calc.py": WRONG + "import os  # noqa: F401\n"})
    text = validation.render()
    assert text.startswith("Notes on the change:\n- calc.py:3: silences a check: import os")
    assert "\n\n## ruff: passed\nno new violation\n\n" in text
    assert f"## pytest: FAILED\n{SEED}::test_add: failed (AssertionError: assert 0 == 5)" in text


def test_a_baseline_survives_its_record() -> None:
    baseline = Baseline(violations={"a.py|F401|x": 1}, already_green=("a",))
    assert Baseline.model_validate_json(baseline.model_dump_json()) == baseline


def test_a_project_without_a_ruff_configuration_is_held_to_what_is_plainly_broken(
    tmp_path: Path,
) -> None:
    project = WarmProject(tmp_path / "p", {SEED: ADD_TEST, "setup.cfg": "[flake8]\nmax = 79\n"})
    style = "import os\nNAME = 'x'\nTEXT = '{}'.format(NAME)\n\n\n"
    assert project.tried({"calc.py": style + RIGHT}).passed
    newer = "type Number = int\n"
    assert report(project.tried({"more.py": newer}), "ruff").passed
    broken = report(project.tried({"calc.py": RIGHT + "print(nobody)\n"}), "ruff")
    assert broken.output == "calc.py:3:7: F821 Undefined name `nobody`"


@pytest.mark.parametrize("config", ["", "[lint]\nselect = ['F']\n"])
@pytest.mark.parametrize("place", ["dist", "_build", "site-packages", "build/lib"])
def test_no_directory_of_the_tree_is_passed_over(place: str, config: str, tmp_path: Path) -> None:
    base = {SEED: ADD_TEST, **({"ruff.toml": config} if config else {})}
    project = WarmProject(tmp_path / "p", base)
    found = report(project.tried({f"{place}/bad.py": "print(nobody)\n"}), "ruff")
    assert found.output == f"{place}/bad.py:1:7: F821 Undefined name `nobody`"


def test_what_the_project_itself_leaves_out_stays_out(tmp_path: Path) -> None:
    base = {SEED: ADD_TEST, "ruff.toml": "exclude = ['dist']\n"}
    found = WarmProject(tmp_path / "p", base).tried({"dist/bad.py": "print(nobody)\n"})
    assert report(found, "ruff").passed


def test_a_path_in_a_note_hides_nothing_and_stays_in_its_line(tmp_path: Path) -> None:
    odd = "tests/\u202ea\n- b/conftest.py"
    notes = Project(tmp_path / "p", {SEED: ADD_TEST}).tried({"calc.py": RIGHT, odd: ""}).notes
    shown = "tests/\\u202ea\\x0a- b/conftest.py: "
    assert [note.startswith(shown) for note in notes] == [True]


def test_what_works_against_the_checks_from_outside_the_diffs_lines_is_named(
    tmp_path: Path,
) -> None:
    base = {SEED: ADD_TEST, ".gitattributes": "*.py ident\n*.txt eol=crlf\n"}
    patches = "import calc\n\ncalc.add = sum\n\n\ndef test_more():\n    pass\n"
    changed: dict[str, str | None] = {
        "calc.py": f"# $Id$\n{RIGHT}",
        "a.txt": "x\n",
        "tests/test_more.py": patches,
    }
    notes = Project(tmp_path / "p", base).tried(changed).notes
    does = "changes what it imports, for others too"
    assert [note.partition(" (")[0] for note in notes] == [
        f"tests/test_more.py:3: {does}: calc.add = sum",
        "a.txt: git rewrites it at checkout",
        "calc.py: git rewrites it at checkout",
    ]
