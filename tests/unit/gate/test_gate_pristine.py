"""What judges stays what it was: no code of the project changes the tests that run on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WRONG, Project, WarmProject, report, task
from support.sandbox_site import bubblewrap

from tilth.contract.prd import Status
from tilth.gate.findings import Validation
from tilth.sandbox.confinement import Access

EASY = "def test_add():\n    pass\n\n\ndef test_add_of_negatives():\n    pass\n"
OTHER = "tests/test_t002_other.py"
OTHER_TEST = "from calc import add\n\n\ndef test_zero():\n    assert add(0, 1) == 1\n"
WRITES = f"""\
import pathlib

here = pathlib.Path(__file__).parent
for name in ("{SEED}", "tests/helper.py"):
    try:
        (here / name).write_text({EASY!r})
    except OSError:
        pass
"""
SWAPS = f"""\
import os
import pathlib

here = pathlib.Path(__file__).parent
try:
    os.rename(here / "tests", here / "gone")
    (here / "tests").mkdir()
    (here / "{SEED}").write_text({EASY!r})
except OSError:
    pass
"""
PLANTS = f"""\
import importlib.util
import pathlib

from _pytest.assertion import rewrite

seed = pathlib.Path(__file__).parent / "{SEED}"
code = compile({EASY!r}, str(seed), "exec")
folder = seed.parent / "__pycache__"
folder.mkdir(exist_ok=True)
with (folder / (seed.stem + rewrite.PYC_TAIL)).open("wb") as file:
    rewrite._write_pyc_fp(file, importlib.util.source_hash(seed.read_bytes()), code)
"""
POISONS = f"""\
import sys
import types

easy = types.ModuleType("test_t001_add")
easy.__file__ = __file__.replace("calc.py", "{SEED}")
exec(compile({EASY!r}, easy.__file__, "exec"), easy.__dict__)
sys.modules["test_t001_add"] = easy
"""
# On the base conftest.py imports the product, so that its code runs before the tests are read.
BASE = {
    SEED: ADD_TEST,
    OTHER: OTHER_TEST,
    "calc.py": "x = 1\n",
    "conftest.py": "import calc\n",
    "tests/helper.py": "FIVE = 5\n",
}
TRICKS = {"rewrites": WRITES, "moves away": SWAPS, "plants bytecode for": PLANTS}


def walled(project: Project) -> Validation:
    wall = bubblewrap()
    return project.validate(
        confinement=wall, access=Access(readable=(Path(sys.prefix), Path(sys.base_prefix)))
    )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p", BASE, task(), task(2, Status.DONE))


@pytest.mark.parametrize("trick", [*TRICKS, "poisons the modules of"])
@pytest.mark.parametrize("wall", ["bubblewrap", "none"])
def test_wrong_code_stays_red_if_it(trick: str, wall: str, project: Project) -> None:
    code = {**TRICKS, "poisons the modules of": POISONS}[trick]
    project.write({"calc.py": f"{code}\n{WRONG}"})
    validation = walled(project) if wall == "bubblewrap" else project.validate()
    found = report(validation, "pytest")
    assert not found.passed, found.output


def test_bytecode_that_is_planted_for_a_seed_test_notices_nothing(tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "conftest.py": "import calc\n", "calc.py": "x = 1\n"}
    project = Project(tmp_path / "p", files, task())
    validation = project.tried({"calc.py": f"{PLANTS}\n{WRONG}"})
    assert "stays green although" in report(validation, "pytest").output


def test_the_first_test_cannot_rewrite_the_second(tmp_path: Path) -> None:
    # Collected first, it changes the file of the other before that one is read.
    first = f"import evil\n\n{OTHER_TEST}"
    files = {**BASE, "conftest.py": "", OTHER: ADD_TEST, SEED: first, "evil.py": "x = 1\n"}
    project = Project(tmp_path / "p", files, task(), task(2, Status.DONE))
    evil = WRITES.replace(SEED, OTHER)
    wrong = "def add(a, b):\n    return 1\n"
    project.write({"evil.py": evil, "calc.py": wrong})
    assert "test_t002_other.py::test_add: failed" in report(walled(project), "pytest").output


@pytest.mark.parametrize("trick", TRICKS)
def test_right_code_that_tries_is_still_measured(trick: str, project: Project) -> None:
    project.write({"calc.py": f"{TRICKS[trick]}\n{RIGHT}"})
    counts = report(walled(project), "pytest").tests
    assert counts is not None
    assert counts["passed"] == 3


def test_a_change_that_is_undone_is_seen_without_a_wall(project: Project) -> None:
    undone = (
        "import pathlib\n\nfile = pathlib.Path(__file__).parent / 'tests' / 'helper.py'\n"
        "text = file.read_text()\nfile.write_text('FIVE = 0\\n')\nfile.write_text(text)\n"
    )
    project.write({"calc.py": f"{undone}\n{RIGHT}"})
    found = report(project.validate(), "pytest")
    assert not found.passed
    assert "changed files that steer them: tests/helper.py" in found.output


def test_tests_may_write_beside_themselves(tmp_path: Path) -> None:
    seed = (
        "from pathlib import Path\n\nfrom calc import add\n\n\ndef test_add():\n"
        "    out = Path(__file__).parent / 'out'\n    out.mkdir(exist_ok=True)\n"
        "    (out / 'sum').write_text(str(add(2, 3)))\n"
        "    Path('scratch.txt').write_text('x')\n    assert (out / 'sum').read_text() == '5'\n"
    )
    project = Project(tmp_path / "p", {SEED: seed})
    project.write({"calc.py": RIGHT})
    validation = walled(project)
    assert validation.passed, validation.render()


@pytest.mark.parametrize("name", ["tests/__init__.py", "tests/data/__init__.py"])
def test_a_new_package_file_beside_the_tests_is_left_out(name: str, tmp_path: Path) -> None:
    poison = "import sys\nimport types\n\nsys.modules['calc'] = m = types.ModuleType('calc')\n"
    poison += "m.add = lambda a, b: 5 if a == 2 else -2\n"
    project = WarmProject(tmp_path / "p", {SEED: ADD_TEST, "tests/data/x.json": "{}"})
    validation = project.tried({name: poison, "calc.py": WRONG})
    assert validation.tampered == (name,)
    assert not report(validation, "pytest").passed


SUPPORT = {
    SEED: "import json\nfrom pathlib import Path\n\nfrom calc import add\nfrom helper import same\n"
    "\n\ndef test_add():\n"
    "    golden = json.loads((Path(__file__).parent / 'data' / 'sums.json').read_text())\n"
    "    assert same(add(2, 3), golden['2+3'])\n",
    "tests/helper.py": "def same(a, b):\n    return a == b\n",
    "tests/data/sums.json": '{"2+3": 5}\n',
    "tests/test_own.py": "def test_own():\n    pass\n",
    "calc.py": "x = 1\n",
}
WEAKER = {
    "a helper": {"tests/helper.py": "def same(a, b):\n    return True\n"},
    "golden data": {"tests/data/sums.json": '{"2+3": 0}\n'},
}


@pytest.mark.parametrize("what", WEAKER)
def test_support_files_of_the_base_are_what_acceptance_tests_see(what: str, tmp_path: Path) -> None:
    project = WarmProject(tmp_path / "p", SUPPORT)
    [path] = WEAKER[what]
    validation = project.tried({**WEAKER[what], "calc.py": WRONG})
    assert not report(validation, "pytest").passed
    assert any(note.startswith(f"{path}: it stands beside the tests") for note in validation.notes)
    assert path in validation.render()


def test_a_support_file_that_was_deleted_is_back_for_the_acceptance_tests(tmp_path: Path) -> None:
    project = WarmProject(tmp_path / "p", SUPPORT)
    validation = project.tried({"tests/helper.py": None, "calc.py": RIGHT})
    assert report(validation, "pytest").passed, validation.render()


def test_a_seed_file_without_a_test_is_a_failure(tmp_path: Path) -> None:
    done = "tests/test_t002_other.py"
    project = WarmProject(
        tmp_path / "p", {SEED: ADD_TEST, done: "x = 1\n"}, task(), task(2, Status.DONE)
    )
    found = report(project.tried({"calc.py": RIGHT}), "pytest")
    assert not found.passed
    assert f"{done}: holds no test" in found.output


FORGES = {
    "swaps the maker of reports for one call": (
        "from _pytest import reports\n\n"
        "made = vars(reports.TestReport)['from_item_and_call']\n\n\n"
        "def fake(cls, item, call):\n    reports.TestReport.from_item_and_call = made\n"
        "    call.excinfo = None\n"
        "    return reports.TestReport.from_item_and_call(item, call)\n\n\n"
        "def add(a, b):\n    reports.TestReport.from_item_and_call = classmethod(fake)\n"
        "    return 0\n"
    ),
    "changes what a test compares with": (
        "import math\n\n\ndef add(a, b):\n    math.isclose = lambda *a, **k: True\n    return 0\n"
    ),
}


@pytest.mark.parametrize("trick", FORGES)
def test_parts_that_were_swapped_in_a_test_are_named(trick: str, tmp_path: Path) -> None:
    seed = "import math\n\nfrom calc import add\n\n\ndef test_add():\n"
    seed += "    total = add(2, 3)\n    assert math.isclose(total, 5)\n"
    found = report(
        Project(tmp_path / "p", {SEED: seed}).tried({"calc.py": FORGES[trick]}), "pytest"
    )
    assert not found.passed
    assert "the project replaced what its tests rely on" in found.output


def test_a_test_that_patches_for_itself_is_no_forgery(tmp_path: Path) -> None:
    seed = (
        "import math\nfrom unittest import mock\n\nfrom calc import add\n\n\n"
        "def test_add(monkeypatch):\n    monkeypatch.setattr(math, 'isclose', lambda a, b: True)\n"
        "    with mock.patch('calc.add', return_value=7):\n        pass\n"
        "    assert math.isclose(add(2, 3), 9)\n\n\ndef test_more():\n    assert add(1, 1) == 2\n"
    )
    validation = WarmProject(tmp_path / "p", {SEED: seed}).tried({"calc.py": RIGHT})
    assert validation.passed, validation.render()


SHADOWS = {
    "a module of the base": ("tests/calc.py", "calc.py"),
    "a package in src": ("wide/__init__.py", "src/wide/__init__.py"),
    "an installed library": ("pluggy.py", "pluggy"),
    "the standard library": ("tests/statistics.py", "statistics of the standard library"),
    "a module beside it": ("calc/__init__.py", "calc.py"),
    "a module inside a package": ("src/wide/core/__init__.py", "src/wide/core.py"),
}


@pytest.mark.parametrize("what", SHADOWS)
def test_a_new_module_is_refused_by_name_if_it_hides(what: str, tmp_path: Path) -> None:
    path, hidden = SHADOWS[what]
    base = {SEED: ADD_TEST, "calc.py": RIGHT, "src/wide/__init__.py": "", "src/wide/core.py": ""}
    validation = WarmProject(tmp_path / "p", base).tried({path: RIGHT})
    found = report(validation, "configuration")
    assert not found.passed
    assert found.output.startswith(f"{path}: it hides ")
    assert hidden in found.output
    allowed = WarmProject(tmp_path / "q", base, task(may_change=(path,))).tried({path: RIGHT})
    assert "configuration" not in allowed.summary


@pytest.mark.parametrize("product", ["calc.py", "src/calc.py"])
def test_right_code_beside_the_tests_does_not_stand_in_for_wrong_code_that_is_new_too(
    product: str, tmp_path: Path
) -> None:
    changed: dict[str, str | None] = {product: WRONG, "tests/calc.py": RIGHT}
    validation = Project(tmp_path / "p", {SEED: ADD_TEST}).tried(changed)
    hides = f"tests/calc.py: it hides {product}"
    assert report(validation, "configuration").output == f"{hides}; give it another name"
    assert "2 failed" in report(validation, "pytest").output
    assert f"{hides}; it was left out" in validation.notes


@pytest.mark.parametrize(
    "changed",
    [
        {"calc.py": None, "src/calc.py": RIGHT},
        {"more.py": RIGHT},
        {"tests/calc/test_calc.py": "def test_x():\n    pass\n"},
        {"wide/more.py": RIGHT},
        {"tests/unit/__init__.py": "", "tests/unit/json.py": ""},
    ],
    ids=["moves", "is new", "is a plain directory of tests", "is inside a package", "is deeper"],
)
def test_a_new_module_hides_nothing_if_it(changed: dict[str, str | None], tmp_path: Path) -> None:
    base = {SEED: ADD_TEST, "calc.py": RIGHT, "wide/__init__.py": ""}
    validation = WarmProject(tmp_path / "p", base).tried(changed)
    assert validation.passed, validation.render()
    assert validation.tampered == ()


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PYTHONDONTWRITEBYTECODE", "1")


def test_golden_data_that_the_tests_reach_by_a_link_is_named(tmp_path: Path) -> None:
    reads = ADD_TEST.replace("== 5", "== int((Path(__file__).parent / 'golden/g.txt').read_text())")
    seed = f"from pathlib import Path\n\n{reads}"
    files = {SEED: seed, "calc.py": "x = 1\n", "data/golden/g.txt": "5\n"}
    project = WarmProject(tmp_path / "p", files)
    (project.repo.root / "tests/golden").symlink_to("../data/golden")
    project.base = project.repo.commit_files({"more.txt": ""})
    project.workspace.restore(project.base)
    validation = project.tried({"data/golden/g.txt": "0\n"})
    [note] = [note for note in validation.notes if "g.txt" in note]
    assert note.startswith("data/golden/g.txt: it stands beside the tests by the link tests/golden")
