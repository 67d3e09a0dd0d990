"""What is red once, red in company alone, red and new: what is held against a change, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WarmProject, report

from tilth.contract.prd import Plan

ONE = "def one():\n    return 1\n"
OWN = "import calc\n\n\ndef test_one():\n    assert calc.one() == 1\n"
BASE = {SEED: ADD_TEST, "calc.py": ONE}
RED = "def test_new():\n    assert False\n"
COUNTS = "calls = []\n\n\ndef one():\n    calls.append(1)\n    return len(calls)\n"
CASES = "import calc\nimport pytest\n\n\n@pytest.mark.parametrize('n', {of})\n"
CASES += "def test_case(n):\n    {first}assert calc.one() == 1\n"
NOT = "its base version does NOT pass on this tree, skipped or gone: tests/test_z.py::test_one"
UNSKIPPED = "import calc\nimport pytest\n\n\ndef test_one():\n    if getattr(calc, 'OFF', 0):\n"
UNSKIPPED += "        pytest.skip('off')\n    assert calc.one() == 1\n"


def project(tmp_path: Path, **more: str) -> WarmProject:
    return WarmProject(tmp_path / "p", {**BASE, **more})


def with_one(text: str) -> dict[str, str | None]:
    return {"calc.py": f"{text}\n\n{RIGHT}"}


def test_a_test_that_the_change_brings_may_not_be_red(tmp_path: Path) -> None:
    one = project(tmp_path, **{"tests/test_z.py": OWN})
    red = one.tried({**with_one(ONE), "tests/test_new.py": RED}, baseline=one.baseline())
    assert red.summary["suite"] == "failed"
    assert report(red, "suite").output.startswith("tests/test_new.py::test_new: failed")


def test_a_flood_of_red_files_hides_no_regression(tmp_path: Path) -> None:
    one = project(tmp_path, **{"tests/test_z.py": OWN})
    flood = {f"tests/test_a{number:02}.py": RED for number in range(50)}
    red = one.tried({**with_one("def one():\n    return 3\n"), **flood}, baseline=one.baseline())
    assert "tests/test_z.py::test_one: failed" in report(red, "suite").output


def test_a_failure_that_comes_in_company_alone_is_no_whim(tmp_path: Path) -> None:
    one = project(tmp_path, **{"tests/test_a.py": OWN, "tests/test_b.py": OWN})
    red = one.tried(with_one(COUNTS), baseline=one.baseline())
    assert report(red, "suite").output.startswith("tests/test_b.py::test_one: failed")


def test_a_tip_that_is_red_in_company_alone_is_red(tmp_path: Path) -> None:
    one = project(tmp_path, **{"tests/test_a.py": OWN, "tests/test_b.py": OWN})
    first = one.baseline().suite
    one.write(with_one(COUNTS))
    tip = one.workspace.freeze(one.base).tree
    red = one.gate(suites={first.tree: first}).prove_tip(Plan(tasks=one.tasks), tip)
    assert red.summary == {"pytest": "passed", "suite": "failed"}
    assert report(red, "suite").output.startswith("tests/test_b.py::test_one: failed")


def test_of_many_edited_tests_those_come_first_whose_base_version_does_not_pass(
    tmp_path: Path,
) -> None:
    names = [f"tests/test_{number:02}.py" for number in range(12)]
    green = "def test_it():\n    pass\n"
    one = project(tmp_path, **dict.fromkeys(names, green), **{"tests/test_z.py": OWN})
    edits: dict[str, str | None] = dict.fromkeys(names, f"# more\n{green}")
    changed = {**edits, **with_one("def one():\n    return 2\n"), "tests/test_z.py": None}
    validation = one.tried(changed, baseline=one.baseline())
    assert validation.passed, validation.render()
    said = "tests/test_z.py: a test of the base that was deleted; its base version FAILS on this"
    assert validation.notes[0].startswith(said)


def test_cases_of_another_name_that_are_red_are_held_against_the_change(tmp_path: Path) -> None:
    text = CASES.format(of="calc.NAMES", first="assert n != 'c'; ")
    one = WarmProject(
        tmp_path / "p", {**BASE, "calc.py": f"NAMES = 'ab'\n{ONE}", "tests/test_cases.py": text}
    )
    red = one.tried(with_one(f"NAMES = 'xc'\n{ONE}"), baseline=one.baseline())
    assert report(red, "suite").output.startswith("tests/test_cases.py::test_case[c]: failed")


def test_what_was_skipped_on_the_base_is_not_held_against_the_change(tmp_path: Path) -> None:
    base = {**BASE, "calc.py": f"OFF = 1\n{ONE}", "tests/test_z.py": UNSKIPPED}
    one = WarmProject(tmp_path / "p", base)
    validation = one.tried(with_one("def one():\n    return 2\n"), baseline=one.baseline())
    assert validation.passed, validation.render()


def test_a_whim_is_not_kept_as_what_the_tree_is(tmp_path: Path) -> None:
    count = tmp_path / "count"
    # Red at the second run of all: the first of the case.
    whim = (
        f"import pathlib\n\n\ndef test_whim():\n    count = pathlib.Path({str(count)!r})\n"
        "    runs = len(count.read_text()) if count.exists() else 0\n"
        "    count.write_text('x' * (runs + 1))\n    assert runs != 1\n"
    )
    one = project(tmp_path, **{"tests/test_whim.py": whim})
    validation = one.tried(with_one(ONE), baseline=one.baseline())
    assert validation.passed, validation.render()
    kept = report(validation, "suite").suite
    assert kept is not None
    assert kept.red == ()
    assert kept.passed["tests/test_whim.py"] == ("test_whim",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {**with_one(f"OFF = 1\n{ONE}"), "tests/test_z.py": f"# more\n{UNSKIPPED}"},
            f"edited; {NOT}",
        ),
        (
            {**with_one(f"OFF = 1\n{ONE}"), "tests/test_z.py": None},
            f"deleted; {NOT}",
        ),
        (
            {**with_one(ONE), "tests/test_z.py": f"# more\n{UNSKIPPED}"},
            "edited; its base version still passes on this tree",
        ),
    ],
    ids=["edited", "deleted", "honest"],
)
def test_a_base_version_that_is_skipped_does_not_still_pass(
    tmp_path: Path, change: dict[str, str | None], said: str
) -> None:
    one = project(tmp_path, **{"tests/test_z.py": UNSKIPPED})
    validation = one.tried(change, baseline=one.baseline())
    assert f"tests/test_z.py: a test of the base that was {said}" in validation.notes


def test_a_mode_is_no_edit_of_a_test(tmp_path: Path) -> None:
    one = project(tmp_path, **{"tests/test_z.py": UNSKIPPED})
    (one.workspace.path / "tests" / "test_z.py").chmod(0o755)
    red = one.tried(with_one(f"OFF = 1\n{ONE}"), baseline=one.baseline())
    said = "tests/test_z.py::test_one: passed on the base, is skipped or gone here"
    assert report(red, "suite").output.startswith(said)
    assert "a test of the base" not in red.render()


def test_doctests_that_are_silenced_or_rewritten_are_named(tmp_path: Path) -> None:
    doc = 'def one():\n    """\n    >>> one(){}\n    1\n    """\n    return 1\n'
    options = "[pytest]\naddopts = --doctest-modules --doctest-glob=*.rst\n"
    files = {
        **BASE,
        "calc.py": doc.format(""),
        "guide.rst": ">>> import calc\n>>> calc.one()\n1\n",
        "pytest.ini": options,
    }
    one = WarmProject(tmp_path / "p", files)
    changed: dict[str, str | None] = {
        "calc.py": f"{doc.format('  # doctest: +SKIP').replace('return 1', 'return 2')}\n\n{RIGHT}",
        "guide.rst": ">>> import calc\n>>> calc.one()\n2\n",
    }
    validation = one.tried(changed, baseline=one.baseline())
    assert validation.passed, validation.render()
    notes = "\n".join(validation.notes)
    assert "calc.py::calc.one: passed on the base, is skipped or gone here" in notes
    assert "guide.rst: a test of the base that was edited; its base version FAILS" in notes
