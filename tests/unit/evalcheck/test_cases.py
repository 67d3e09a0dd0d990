"""The loader of an evaluator's suite: what a good case becomes, and how a broken one is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.suite_case import (
    ABOVE_ZERO,
    BASE,
    HEADER,
    HIDDEN,
    LAST_BIT,
    VISIBLE,
    patch,
    write_case,
)

from tilth.contract.verdict import RejectionCategory
from tilth.evalcheck.cases import load_suite, shipped_suite


def problem(suite: Path) -> str:
    """Load a suite whose only case is broken; give what is said about it."""
    loaded = load_suite(suite)
    assert loaded.cases == ()
    (said,) = loaded.problems
    assert said.case == "even-numbers"
    return said.what


def test_a_case_becomes_values(tmp_path: Path) -> None:
    write_case(tmp_path, {"right/last-bit.patch": patch(LAST_BIT)})
    loaded = load_suite(tmp_path)
    assert loaded.problems == ()
    (case,) = loaded.cases
    assert case.id == "even-numbers"
    assert case.category is RejectionCategory.TESTS_PASS_BUT_WRONG
    assert case.acceptance_criteria == ("is_even(n) is whether n is even, for every whole number",)
    assert dict(case.base) == {"numbers_.py": BASE}
    assert dict(case.visible) == {"test_t001_even.py": VISIBLE}
    assert dict(case.hidden) == {"test_hidden_even.py": HIDDEN}
    assert [(change.name, change.is_right) for change in case.changes] == [
        ("last-bit", True),
        ("remainder", True),
        ("above-zero", False),
    ]


def test_what_an_author_says_about_a_change_is_kept_apart_from_it(tmp_path: Path) -> None:
    write_case(tmp_path)
    (case,) = load_suite(tmp_path).cases
    (wrong,) = case.wrongs
    assert wrong.note == "Zero and below are refused."
    assert wrong.patch.startswith("diff --git a/numbers_.py b/numbers_.py\n")
    assert wrong.patch.endswith(f"+def is_even(n):\n+{ABOVE_ZERO}")


def test_cases_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write_case(tmp_path).rename(tmp_path / name)
        header = HEADER.replace("even-numbers", name)
        (tmp_path / name / "case.toml").write_text(header, "utf-8")
    assert [case.id for case in load_suite(tmp_path).cases] == ["a", "b", "c"]


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    write_case(tmp_path, {"base/notes.txt": "one\r\ntwo\n"})
    (case,) = load_suite(tmp_path).cases
    assert case.base["notes.txt"] == "one\r\ntwo\n"


def test_bytecode_and_loose_files_are_passed_over(tmp_path: Path) -> None:
    folder = write_case(tmp_path)
    (folder / "hidden" / "__pycache__").mkdir()
    (folder / "hidden" / "__pycache__" / "x.pyc").write_bytes(b"\xff")
    (tmp_path / "README.md").write_text("about")
    (tmp_path / ".git").mkdir()
    loaded = load_suite(tmp_path)
    assert [case.id for case in loaded.cases] == ["even-numbers"]
    assert loaded.problems == ()


@pytest.mark.parametrize("link", ["case.toml", "base", "base/more.py", "hidden/test_hidden_x.py"])
def test_a_link_out_of_a_case_is_refused_before_anything_is_read_there(
    tmp_path: Path, link: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.py").write_text("the word\n")
    folder = write_case(tmp_path / "suite")
    place = folder / link
    if place.exists():
        place.rename(tmp_path / "away")
    place.symlink_to(elsewhere if link == "base" else elsewhere / "secret.py")
    assert (
        problem(tmp_path / "suite") == f"{link}: leads out of the case; put the file itself there"
    )


def test_a_link_within_a_case_is_a_file_like_any_other(tmp_path: Path) -> None:
    (write_case(tmp_path) / "base" / "more.py").symlink_to("numbers_.py")
    (case,) = load_suite(tmp_path).cases
    assert case.base["more.py"] == BASE


def test_a_broken_case_is_named_and_the_others_are_used(tmp_path: Path) -> None:
    broken = write_case(tmp_path, {"case.toml": "id ="}).rename(tmp_path / "broken")
    write_case(tmp_path)
    loaded = load_suite(tmp_path)
    assert [case.id for case in loaded.cases] == ["even-numbers"]
    assert [said.case for said in loaded.problems] == [broken.name]
    assert str(loaded.problems[0]).startswith("broken: case.toml: not TOML: ")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("case.toml", None, "case.toml: cannot be read: No such file or directory"),
        ("case.toml", "id =", "case.toml: not TOML: "),
        ("case.toml", HEADER + 'hint = "x"\n', "case.toml: hint: Extra inputs are not permitted"),
        ("case.toml", 'id = "x"\n', "case.toml: category: Field required; title: Field required"),
        (
            "case.toml",
            HEADER.replace("even-numbers", "other"),
            "case.toml: id is 'other', but the directory is 'even-numbers'",
        ),
        (
            "case.toml",
            HEADER.replace("tests_pass_but_wrong", "ugly"),
            "case.toml: category: Input should be 'scope_creep', 'acceptance_gap'",
        ),
        ("case.toml", HEADER.replace("Tell even numbers", " "), "case.toml: title: "),
        (
            "case.toml",
            HEADER.split("acceptance_criteria")[0] + "acceptance_criteria = []\n",
            "case.toml: acceptance_criteria: Value error, name at least one criterion",
        ),
        ("base/numbers_.py", None, "base/ is missing"),
        ("visible/test_t001_even.py", None, "visible/ is missing"),
        ("hidden/test_hidden_even.py", None, "hidden/ is missing"),
        ("right/remainder.patch", None, "right/ is missing"),
        ("wrong/above-zero.patch", None, "wrong/ is missing"),
        (
            "visible/test_even.py",
            VISIBLE,
            "visible/test_even.py: a test here is named test_t001_<slug>.py",
        ),
        (
            "hidden/helper.py",
            "",
            "hidden/helper.py: a test here is named test_hidden_<slug>.py",
        ),
        (
            "base/tests/test_t001_even.py",
            VISIBLE,
            "visible/test_t001_even.py: stands in base/tests already",
        ),
        ("right/why.txt", "x", "right/why.txt: a change is named <slug>.patch"),
        ("wrong/Off By One.patch", "x", "wrong/Off By One.patch: a change is named <slug>.patch"),
        ("wrong/empty.patch", "Nothing.\n", "wrong/empty.patch: no line `diff --git a/... b/...`"),
        (
            "wrong/silent.patch",
            patch(ABOVE_ZERO, note=""),
            "wrong/silent.patch: say above the diff what the change is",
        ),
        (
            "wrong/twin.patch",
            patch(ABOVE_ZERO, note="Other words."),
            "wrong/twin: the same change as wrong/above-zero",
        ),
        (
            "wrong/tamper.patch",
            "Edits.\n\ndiff --git a/tests/test_t001_even.py b/tests/test_t001_even.py\n",
            "wrong/tamper: changes tests/test_t001_even.py, which belongs to the case",
        ),
    ],
)
def test_what_is_wrong_with_a_case_is_said(
    tmp_path: Path, file: str, text: str | None, said: str
) -> None:
    write_case(tmp_path, {file: text})
    assert problem(tmp_path).startswith(said)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    folder = write_case(tmp_path)
    (folder / "base" / "image.png").write_bytes(b"\x89PNG\xff")
    assert problem(tmp_path) == "base/image.png: not UTF-8"


def test_an_empty_directory_is_named(tmp_path: Path) -> None:
    folder = write_case(tmp_path, {"wrong/above-zero.patch": None})
    (folder / "wrong").mkdir()
    assert problem(tmp_path) == "wrong/ is empty"


def test_a_suite_that_is_not_there_is_named(tmp_path: Path) -> None:
    (said,) = load_suite(tmp_path / "nowhere").problems
    assert str(said).startswith(f"{tmp_path / 'nowhere'}: no such directory")


def test_a_suite_without_cases_is_named(tmp_path: Path) -> None:
    (said,) = load_suite(tmp_path).problems
    assert str(said) == f"{tmp_path}: holds no case; a case is a directory with a case.toml"


def test_without_a_directory_the_shipped_suite_is_read() -> None:
    assert load_suite() == load_suite(shipped_suite())
    assert load_suite().cases
