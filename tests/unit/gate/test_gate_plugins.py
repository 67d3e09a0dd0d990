"""Projects that hold a pytest plugin: its hooks, with the plan's permission and without."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, Project, report, task

FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n"
HEADER = f"{FIXTURE}\n\ndef pytest_report_header(config):\n    return 'shop'\n"
OPTION = f"{FIXTURE}\n\ndef pytest_addoption(parser):\n    parser.addoption('--slow')\n"
CONFIGURE = """\
def pytest_configure(config):
    config.addinivalue_line("markers", "{}: a mark")
"""
IN_PLACE = "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
BY_OPTION = {"pytest.ini": "[pytest]\naddopts = -p shop\npythonpath = .\n"}
BY_CONFTEST = {"conftest.py": "pytest_plugins = ['shop']\n"}
OWN = {"tests/test_own.py": "def test_one(one):\n    assert one == 1\n"}
PERMITTED = task(may_change=("shop.py",))


def project(root: Path, files: dict[str, str], *tasks: object) -> Project:
    return Project(root / "p", {SEED: ADD_TEST, "calc.py": "x = 1\n", **OWN, **files}, *tasks)


@pytest.mark.parametrize(
    ("loaded", "before", "after"),
    [
        (BY_OPTION, FIXTURE, HEADER),
        (BY_CONFTEST, FIXTURE, OPTION),
        (BY_CONFTEST, FIXTURE + CONFIGURE.format("a"), FIXTURE + CONFIGURE.format("b")),
    ],
)
def test_a_task_that_may_change_a_plugin_of_the_project_may_change_its_hooks(
    tmp_path: Path, loaded: dict[str, str], before: str, after: str
) -> None:
    own = project(tmp_path, {**loaded, "shop.py": before}, PERMITTED)
    baseline = own.baseline()
    validation = own.tried({"calc.py": RIGHT, "shop.py": after}, baseline=baseline)
    assert validation.passed, validation.render()
    assert report(validation, "suite").passed
    assert validation.steering.files == ("shop.py",)
    assert validation.notes[0].startswith("shop.py: it holds hooks of pytest; it was changed by")


def test_without_permission_it_is_refused_with_the_way_out(tmp_path: Path) -> None:
    own = project(tmp_path, {**BY_OPTION, "shop.py": FIXTURE})
    validation = own.tried({"calc.py": RIGHT, "shop.py": HEADER}, baseline=own.baseline())
    said = report(validation, "pytest").output
    assert "hook pytest_report_header of shop" in said
    assert "hooks of shop names the file they stand in in the plan, in its `may_change`" in said


def test_a_plugin_may_not_run_tests_itself_whatever_is_permitted(tmp_path: Path) -> None:
    own = project(tmp_path, {**BY_OPTION, "shop.py": FIXTURE}, PERMITTED)
    validation = own.tried({"shop.py": FIXTURE + IN_PLACE}, baseline=own.baseline())
    assert "hook pytest_pyfunc_call of shop" in report(validation, "pytest").output


@pytest.mark.parametrize("loaded", [BY_OPTION, BY_CONFTEST], ids=["option", "conftest"])
@pytest.mark.parametrize("own", [OWN, {}], ids=["a suite", "no suite"])
def test_a_fixture_that_nobody_asked_for_on_the_base_may_be_asked_for(
    tmp_path: Path, loaded: dict[str, str], own: dict[str, str]
) -> None:
    # On the base the import fails, so no test that asks for the fixture is ever seen there.
    seed = "from calc import add\n\n\ndef test_add(two):\n    assert add(1, 1) == two\n"
    plugin = f"{FIXTURE}\n\n@pytest.fixture\ndef two():\n    return 2\n"
    files = {SEED: seed, "calc.py": "x = 1\n", **own, **loaded, "shop.py": plugin}
    one = Project(tmp_path / "p", files)
    change: dict[str, str | None] = {"calc.py": RIGHT}
    if own:
        change["tests/test_more.py"] = "def test_more(two):\n    assert two == 2\n"
    validation = one.tried(change, baseline=one.baseline())
    assert validation.passed, validation.render()


def test_a_plugins_fixture_may_not_take_the_place_of_a_conftests(tmp_path: Path) -> None:
    conftest = "import pytest\n\npytest_plugins = ['shop']\n\n\n@pytest.fixture\ndef one():\n"
    seed = "from calc import add\n\n\ndef test_add(one):\n    assert add(1, 1) == one\n"
    swap = (
        "import gc\n\nfrom _pytest.fixtures import FixtureDef\n\nimport shop\n\n\n"
        "def add(a, b):\n    return 1\n\n\nfor each in gc.get_objects():\n"
        "    if isinstance(each, FixtureDef) and each.argname == 'one':\n"
        "        object.__setattr__(each, 'func', lambda: 1)\n"
    )
    files = {SEED: seed, "calc.py": "x = 1\n", "conftest.py": f"{conftest}    return 2\n"}
    one = Project(tmp_path / "p", {**files, "shop.py": FIXTURE})
    baseline = one.baseline()
    assert not [name for name in baseline.replaced if "fixture one" in name]
    assert not one.tried({"calc.py": swap}, baseline=baseline).passed
