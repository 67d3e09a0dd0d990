"""Ways to look green without being right: each of them must fail the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WRONG, Project, report

from tilth.config.project import NamedValidator, ProjectFacts

HOOK = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
EASY_TEST = "def test_add():\n    pass\n\n\ndef test_add_of_negatives():\n    pass\n"
LEAVE = "import os\n\nos._exit(0)\n"

FORGED = (
    json.dumps(
        {
            "status": 0,
            "collected": [f"{SEED}::test_add", f"{SEED}::test_add_of_negatives"],
            "results": [
                {"node": f"{SEED}::test_add", "ending": "passed"},
                {"node": f"{SEED}::test_add_of_negatives", "ending": "passed"},
            ],
        }
    )
    + f"\n{'0' * 64}\n"
)

# Files of the worker that the gate must put right, beside a wrong `calc.py`.
RESTORED: dict[str, dict[str, str | None]] = {
    "an easier seed test": {SEED: EASY_TEST},
    "a deleted seed test": {SEED: None},
    "hooks in a conftest": {"tests/conftest.py": HOOK, "conftest.py": HOOK},
    "a selection in pytest.ini": {"pytest.ini": "[pytest]\naddopts = -k nothing\n"},
    "a collection only": {"tests/pytest.ini": "[pytest]\naddopts = --co\n"},
    "a deselection in pyproject": {
        "pyproject.toml": f'[tool.pytest.ini_options]\naddopts = "--deselect {SEED}"\n'
    },
    "other names for tests": {
        "setup.cfg": "[tool:pytest]\npython_functions = check_*\n",
        "tox.ini": "[pytest]\npython_functions = check_*\n",
    },
    "code at start-up": {
        "sitecustomize.py": LEAVE,
        "src/usercustomize.py": LEAVE,
        "src/evil.pth": "import os; os._exit(0)\n",
    },
    "another pytest": {
        "pytest.py": LEAVE,
        "src/pytest/__init__.py": LEAVE,
        "tests/pytest.py": LEAVE,
        "_pytest/__init__.py": LEAVE,
        "json/__init__.py": LEAVE,
    },
    "a package that hides the seed test": {"tests/test_t001_add/__init__.py": EASY_TEST},
    "an installed plugin": {
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    },
}

# The caller of the hook that runs a test, found from a module that a test imports.
CALLER = f"""{WRONG}

import sys

frame = getattr(sys, "_get" + "frame")()
while not hasattr(getattr(frame.f_locals.get("self"), "ihook", None), "pytest_pyfunc_call"):
    frame = frame.f_back
manager = frame.f_locals["self"].config.pluginmanager
caller = manager.hook.pytest_pyfunc_call
"""
STAND_IN = """

class Stand:
    def __init__(self, own):
        self.__func__ = own

    def __call__(self, pyfuncitem):
        return True


for implementation in caller.get_hookimpls():
    implementation.function = Stand(implementation.function)
"""
OWN_WAY = """
inner = manager._inner_hookexec


def answer(name, *given):
    return name == caller.name or inner(name, *given)


manager._inner_hookexec = answer
"""
OTHER_CALLER = """

class Caller(type(caller)):
    def __call__(self, **given):
        return True


other = Caller.__new__(Caller)
for slot in type(caller).__slots__:
    setattr(other, slot, getattr(caller, slot))
manager.hook.pytest_pyfunc_call = other
"""

# What a wrong `calc.py` may try by itself.
CODE = {
    "leaves on import": LEAVE + WRONG,
    "leaves when called": "import os\n\n\ndef add(a, b):\n    os._exit(0)\n",
    "leaves at exit": f"import atexit\nimport os\n\natexit.register(os._exit, 0)\n{WRONG}",
    "exits on import": f"raise SystemExit(0)\n{WRONG}",
    "stops pytest": f"import pytest\n\npytest.exit('done', returncode=0)\n{WRONG}",
    "becomes another program": f"import os\n\nos.execv('/bin/true', ['true'])\n{WRONG}",
    "skips": "import pytest\n\n\ndef add(a, b):\n    pytest.skip('later')\n",
    "skips the whole file": "import unittest\n\nraise unittest.SkipTest('later')\n",
    "hides the tests": (
        "import sys\n\nframe = sys._getframe()\nwhile frame:\n"
        "    if frame.f_globals.get('__name__') == 'test_t001_add':\n"
        f"        frame.f_globals['__test__'] = False\n    frame = frame.f_back\n{WRONG}"
    ),
    "swaps the report": (
        "import _pytest.runner\n\nreal = _pytest.runner.TestReport.from_item_and_call\n\n\n"
        "def fake(item, call):\n    call.excinfo = None\n    return real(item, call)\n\n\n"
        f"_pytest.runner.TestReport.from_item_and_call = fake\n{WRONG}"
    ),
    "swaps the call": (
        "import _pytest.python\n\n_pytest.python.Function.runtest = lambda self: None\n" + WRONG
    ),
    "swaps only the code": (
        "import _pytest.python\n\n\ndef nothing(self):\n    pass\n\n\n"
        f"_pytest.python.Function.runtest.__code__ = nothing.__code__\n{WRONG}"
    ),
    "writes a report": (
        f"import os\nimport pathlib\n\npathlib.Path('../report').write_text({FORGED!r})\n"
        f"os._exit(0)\n{WRONG}"
    ),
    "answers for a hook": CALLER + "caller._hookexec = lambda *_: True\n",
    "calls hooks in its own way": CALLER + OWN_WAY,
    "dresses as pytest's own hook": CALLER + STAND_IN,
    "calls for pytest": CALLER + OTHER_CALLER,
    "plants a report": f"import os\n\nos.mkfifo('../report')\n{WRONG}",
}

WITHOUT_PYTEST = ProjectFacts(validators=(NamedValidator(name="pytest", command=("true",)),))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    base = {SEED: ADD_TEST, "calc.py": "x = 1\n"}
    return Project(tmp_path_factory.mktemp("faked") / "project", base)


@pytest.fixture(autouse=True)
def _clean(project: Project) -> None:
    project.workspace.restore(project.base)


@pytest.mark.parametrize("trick", RESTORED)
def test_a_file_that_steers_the_gate_does_not_make_wrong_code_pass(
    project: Project, trick: str
) -> None:
    # `evil.py` alone is the worker's to add; only the metadata would make a plugin of it.
    validation = project.tried({"calc.py": WRONG, "evil.py": HOOK, **RESTORED[trick]})
    shown = report(validation, "pytest")
    assert not shown.passed
    assert shown.tests is not None
    assert (shown.tests["failed"], shown.tests["passed"]) == (2, 0)
    assert set(validation.tampered) == set(RESTORED[trick])
    assert all(any(path in note for note in validation.notes) for path in RESTORED[trick])


@pytest.mark.parametrize("trick", ["an easier seed test", "another pytest"])
def test_what_was_put_right_does_not_make_right_code_fail(project: Project, trick: str) -> None:
    validation = project.tried({"calc.py": RIGHT, **RESTORED[trick]})
    assert report(validation, "pytest").passed


@pytest.mark.parametrize("trick", CODE)
def test_code_that_reaches_for_the_test_runner_does_not_pass(project: Project, trick: str) -> None:
    validation = project.tried({"calc.py": CODE[trick]})
    assert not report(validation, "pytest").passed
    assert validation.tampered == ()


def test_the_worker_is_told_that_the_process_ended_too_early(project: Project) -> None:
    output = report(project.tried({"calc.py": LEAVE}), "pytest").output
    assert output.startswith("the test process ended (exit code 0) before pytest could report")


def test_the_worker_is_told_which_parts_of_pytest_it_replaced(project: Project) -> None:
    output = report(project.tried({"calc.py": CODE["swaps the call"]}), "pytest").output
    assert "the project replaced what its tests rely on: _pytest.python.Function.runtest" in output


def test_a_link_in_the_place_of_the_tests_is_not_followed(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    tests = project.workspace.path / "tests"
    (project.workspace.path / SEED).unlink()
    tests.rmdir()
    tests.symlink_to(outside)
    assert not report(project.tried({"calc.py": WRONG}), "pytest").passed
    assert list(outside.iterdir()) == []


def test_a_configuration_file_that_leads_out_of_the_repository_is_not_read(
    project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "pyproject.toml"
    outside.write_text('[tool.ruff.lint]\nignore = ["F821"]\n')
    (project.workspace.path / "pyproject.toml").symlink_to(outside)
    validation = project.tried({"calc.py": "print(nobody)\n" + RIGHT})
    assert not report(validation, "ruff").passed
    assert validation.tampered == ("pyproject.toml",)
    assert not validation.passed


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", '[tool.ruff.lint]\nignore = ["F821"]\n'),
        ("ruff.toml", 'lint.ignore = ["F821"]\n'),
        (".ruff.toml", 'exclude = ["*.py"]\n'),
        ("pkg/ruff.toml", 'lint.ignore = ["F821"]\n'),
        (".gitignore", "pkg/\n"),
    ],
)
def test_a_new_ruff_configuration_hides_no_violation(
    project: Project, path: str, text: str
) -> None:
    changed = {"calc.py": RIGHT, "pkg/mod.py": "print(os)\n", path: text}
    validation = project.tried(changed, facts=WITHOUT_PYTEST)
    assert "pkg/mod.py:1:7: F821" in report(validation, "ruff").output
    assert not validation.passed


def test_nothing_is_left_of_the_export(project: Project) -> None:
    project.tried({"calc.py": RIGHT})
    # The judged tree is kept for the evaluator to look at, and nothing ever ran in it.
    assert [path.name for path in (project.root / "scratch").iterdir()] == ["judged"]
    assert not list((project.root / "scratch").rglob("__pycache__"))
    assert not list(project.workspace.path.rglob("__pycache__"))
