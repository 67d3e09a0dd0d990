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


def walled(project: Project) -> Validation:
    wall = bubblewrap()
    return project.validate(
        confinement=wall, access=Access(readable=(Path(sys.prefix), Path(sys.base_prefix)))
    )


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


def test_bytecode_that_is_planted_for_a_seed_test_notices_nothing(tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "conftest.py": "import calc\n", "calc.py": "x = 1\n"}
    project = Project(tmp_path / "p", files, task())
    validation = project.tried({"calc.py": f"{PLANTS}\n{WRONG}"})
    assert "stays green although" in report(validation, "pytest").output


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


SHADOWS = {
    "a module of the base": ("tests/calc.py", "calc.py"),
    "a package in src": ("wide/__init__.py", "src/wide/__init__.py"),
    "an installed library": ("pluggy.py", "pluggy"),
    "the standard library": ("tests/statistics.py", "statistics, which Python has"),
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
    assert f"{hides} and it was added; it was left out" in validation.notes


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


OUTSIDE = {
    "by a link": ("tests/golden/g.txt", "../data/golden"),
    "by its path": ("data/golden/g.txt", None),
}


@pytest.mark.parametrize("how", OUTSIDE)
def test_golden_data_that_the_tests_read_elsewhere_is_the_bases(how: str, tmp_path: Path) -> None:
    path, link = OUTSIDE[how]
    reads = ADD_TEST.replace("== 5", f"== int(Path('{path}').read_text())")
    seed = f"from pathlib import Path\n\n{reads}"
    own = f"from pathlib import Path\n\n\ndef test_own():\n    Path('{path}').read_text()\n"
    files = {SEED: seed, "tests/test_own.py": own, "calc.py": "x = 1\n", "data/golden/g.txt": "5\n"}
    project = WarmProject(tmp_path / "p", files)
    if link:
        (project.repo.root / "tests/golden").symlink_to(link)
        project.base = project.repo.commit_files({"more.txt": ""})
        project.workspace.restore(project.base)
    baseline = project.baseline()
    assert baseline.support == ("data/golden/g.txt",)
    validation = project.tried({"data/golden/g.txt": "0\n", "calc.py": WRONG}, baseline=baseline)
    [note] = [note for note in validation.notes if "g.txt" in note]
    assert note.startswith("data/golden/g.txt: tests stand on it and it was changed; acceptance")
    assert not report(validation, "pytest").passed


def test_a_link_in_the_place_of_the_tests_is_not_followed(tmp_path: Path) -> None:
    project, outside = WarmProject(tmp_path / "p", {SEED: ADD_TEST}), tmp_path / "outside"
    outside.mkdir()
    tests = project.workspace.path / "tests"
    (project.workspace.path / SEED).unlink()
    tests.rmdir()
    tests.symlink_to(outside)
    assert not report(project.tried({"calc.py": WRONG}), "pytest").passed
    assert list(outside.iterdir()) == []


def test_a_configuration_that_leads_out_of_the_repository_is_not_read(tmp_path: Path) -> None:
    project, outside = WarmProject(tmp_path / "p", {SEED: ADD_TEST}), tmp_path / "pyproject.toml"
    outside.write_text('[tool.ruff.lint]\nignore = ["F821"]\n')
    (project.workspace.path / "pyproject.toml").symlink_to(outside)
    validation = project.tried({"calc.py": "print(nobody)\n" + RIGHT})
    assert not report(validation, "ruff").passed
    assert validation.tampered == ("pyproject.toml",)


@pytest.mark.parametrize("changed", [{SEED: EASY}, {"conftest.py": "raise SystemExit\n"}])
def test_what_was_put_right_does_not_make_right_code_fail(
    changed: dict[str, str], tmp_path: Path
) -> None:
    validation = WarmProject(tmp_path / "p", {SEED: ADD_TEST}).tried({"calc.py": RIGHT, **changed})
    assert validation.passed
    assert validation.tampered == tuple(changed)


def test_nothing_is_left_of_the_export(tmp_path: Path) -> None:
    project = WarmProject(tmp_path / "p", {SEED: ADD_TEST})
    project.tried({"calc.py": RIGHT})
    # The judged tree is kept for the evaluator to look at, and nothing ever ran in it.
    assert [path.name for path in (project.root / "scratch").iterdir()] == ["judged"]
    assert not list((project.root / "scratch").rglob("__pycache__"))
    assert not list(project.workspace.path.rglob("__pycache__"))


MANY = """\
import pytest

import calc

pytest.importorskip("json")


@pytest.fixture
def test_numbers():
    return 2, 3


@pytest.mark.parametrize(("a", "b", "sum"), [(1, 2, 3), (2, 2, 4), (0, 0, 0)])
def test_add(a, b, sum):
    assert calc.add(a, b) == sum


@pytest.mark.skip(reason="a literal skip")
def test_later():
    raise AssertionError


@pytest.mark.xfail(reason="known")
def test_known():
    raise AssertionError


class TestMore:
    def test_with_a_fixture(self, test_numbers):
        assert calc.add(*test_numbers) == 5
"""


def test_pytest_counts_its_tests_by_kind(tmp_path: Path) -> None:
    shown = report(WarmProject(tmp_path / "p", {SEED: MANY}).tried({"calc.py": RIGHT}), "pytest")
    assert shown.passed, shown.output
    counted = {"collected": 6, "passed": 4, "skipped": 1, "xfailed": 1}
    assert shown.tests == {"deselected": 0, "failed": 0, "errors": 0, **counted}
