"""The case: which claims can be read, which cannot and what the worker is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilth.case import RAISE_BLOCKER, SUBMIT_CASE, Case, parse_blocker, parse_case, render_case
from tilth.errors import Unreadable
from tilth.prd import Task

TASK = Task(
    id="T-001",
    title="Slugs",
    description="…",
    acceptance_criteria=("Slugs are lower case.", "An empty text gives  an empty slug"),
)


def item(
    criterion: Any = "1", addressed_by: Any = "slug.py:slugify", **more: Any
) -> dict[str, Any]:
    return {"criterion": criterion, "addressed_by": addressed_by, **more}


def claim(**changes: Any) -> dict[str, Any]:
    return {"summary": "Added slugify.", "ac_coverage": [item("1"), item("2")], **changes}


def anywhere(path: str) -> bool:
    return True


def refusal(arguments: Any, file_exists: Callable[[str], bool] = anywhere) -> str:
    with pytest.raises(Unreadable) as caught:
        parse_case(arguments, TASK, file_exists)
    said = str(caught.value)
    assert said.startswith("submit_case: ")
    assert "\n" not in said
    return said


def test_a_whole_case_is_read() -> None:
    case = parse_case(
        claim(work_arounds=["w"], uncertainties=["u"], learnings=["l"]), TASK, anywhere
    )
    assert (case.work_arounds, case.uncertainties, case.learnings) == (("w",), ("u",), ("l",))


@pytest.mark.parametrize("arguments", [None, [], "submit", 3, True, [claim()]])
def test_arguments_that_are_no_object_cannot_be_read(arguments: Any) -> None:
    assert "dictionary" in refusal(arguments)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({}, "summary: Field required; ac_coverage: Field required"),
        (claim(summary=None), "summary: "),
        (claim(summary=""), "summary: "),
        (claim(summary=" \n"), "summary is empty"),
        (claim(summary=["x"]), "summary: "),
        (claim(ac_coverage=None), "ac_coverage: "),
        (claim(ac_coverage="1"), "ac_coverage: "),
        (claim(ac_coverage={"1": "slug.py"}), "ac_coverage"),
        (claim(ac_coverage=["1"]), "ac_coverage.0: "),
        (claim(ac_coverage=[{"criterion": "1"}]), "ac_coverage.0.addressed_by: Field required"),
        (claim(ac_coverage=[item(), item(True)]), "ac_coverage.1.criterion: "),
        (claim(ac_coverage=[item(), item(None)]), "ac_coverage.1.criterion: "),
        (claim(ac_coverage=[item(), item("2", 7)]), "ac_coverage.1.addressed_by: "),
        (claim(ac_coverage=[item(), item("2", "")]), "ac_coverage.1.addressed_by: "),
        (claim(uncertainties="many"), "uncertainties: "),
        (claim(work_arounds=[3]), "work_arounds.0: "),
    ],
)
def test_a_wrong_shape_is_told_by_its_field(arguments: Any, where: str) -> None:
    assert where in refusal(arguments)


@pytest.mark.parametrize(
    "criterion",
    [
        "Slugs are lower case.",
        "slugs ARE lower case",
        "  Slugs\n are\t lower   case. ",
        "1",
        1,
        "1.",
        "#1",
        "AC-1",
        "ac1",
        "1. Slugs are lower case",
        "1) slugs are lower case.",
        "AC-1: Slugs are lower case.",
    ],
)
def test_a_criterion_is_met_by_its_text_or_its_number(criterion: Any) -> None:
    assert parse_case(claim(ac_coverage=[item(criterion), item("2")]), TASK, anywhere)


@pytest.mark.parametrize("criterion", ["0", "3", "11", "-1", "Slugs are upper case.", "Slugs", " "])
def test_a_criterion_nobody_names_is_missing_and_said_exactly(criterion: str) -> None:
    said = refusal(claim(ac_coverage=[item(criterion), item("2")]))
    assert said == "submit_case: ac_coverage lacks criterion 1: 'Slugs are lower case.'"


def test_every_missing_criterion_and_file_is_said_at_once() -> None:
    said = refusal(claim(ac_coverage=[item("9", "gone.py:f")]), lambda path: False)
    assert said == (
        "submit_case: ac_coverage lacks criterion 1: 'Slugs are lower case.'; "
        "ac_coverage lacks criterion 2: 'An empty text gives  an empty slug'; "
        "addressed_by names a file that does not exist: 'gone.py'"
    )


def test_no_coverage_at_all_lacks_every_criterion() -> None:
    assert refusal(claim(ac_coverage=[])).count("lacks criterion") == 2


def test_more_items_than_criteria_are_fine() -> None:
    case = parse_case(claim(ac_coverage=[item("1"), item("2"), item("docs")]), TASK, anywhere)
    assert len(case.ac_coverage) == 3


@pytest.mark.parametrize(
    ("addressed_by", "asked"),
    [
        ("slug.py", ["slug.py"]),
        ("slug.py:slugify", ["slug.py"]),
        ("`slug.py:slugify`", ["slug.py"]),
        ("`slug.py`:`slugify`", ["slug.py"]),
        ("tests/test_a.py::test_b", ["tests/test_a.py"]),
        (" src/slug.py : slugify ", ["src/slug.py"]),
        ("a.py:f, b.py:g", ["a.py", "b.py"]),
        ("a.py, lib/b.py", ["a.py", "lib/b.py"]),
        ("a.py:f, Makefile:lint", ["a.py", "Makefile"]),
        ("a.py:f(x, y)", ["a.py"]),
        ("a.py:load, save", ["a.py"]),
        ("a.py:f,", ["a.py"]),
    ],
)
def test_the_files_of_a_claim_are_looked_up(addressed_by: str, asked: list[str]) -> None:
    seen: list[str] = []

    def exists(path: str) -> bool:
        seen.append(path)
        return True

    parse_case(claim(ac_coverage=[item("1", addressed_by), item("2", "slug.py")]), TASK, exists)
    assert seen == [*asked, "slug.py"]


@pytest.mark.parametrize("addressed_by", [" ", ":", ",", ":slugify", "``", "` `:x"])
def test_a_claim_that_names_no_file_is_refused(addressed_by: str) -> None:
    said = refusal(claim(ac_coverage=[item("1", addressed_by), item("2")]))
    assert said == f"submit_case: addressed_by names no file: {addressed_by!r}"


@pytest.mark.parametrize("path", ["missing.py", "../x.py", "a\0b.py", "folder", "x" * 5000])
def test_a_claim_on_a_file_that_is_not_there_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "slug.py").touch()
    files = {file.name for file in tmp_path.iterdir() if file.is_file()}
    arguments = claim(ac_coverage=[item("1", f"{path}:f"), item("2")])
    said = refusal(arguments, files.__contains__)
    assert said == f"submit_case: addressed_by names a file that does not exist: {path!r}"


def test_null_lists_and_unknown_fields_are_tolerated() -> None:
    arguments = claim(work_arounds=None, uncertainties=None, learnings=None, mood="good")
    arguments["ac_coverage"][0]["evidence"] = None
    arguments["ac_coverage"][0]["confidence"] = 1
    case = parse_case(arguments, TASK, anywhere)
    assert (case.work_arounds, case.uncertainties, case.learnings) == ((), (), ())


def test_the_evaluator_is_shown_the_claim_but_not_the_learnings() -> None:
    case = Case.model_validate(
        claim(
            ac_coverage=[item("1", evidence="test_lower passes")],
            work_arounds=["a hack"],
            uncertainties=["a doubt"],
            learnings=["the secret of the code base"],
        )
    )
    shown = render_case(case)
    for text in ("Added slugify.", "slug.py:slugify", "test_lower passes", "a hack", "a doubt"):
        assert text in shown
    assert "secret of the code base" not in shown


def test_nothing_declared_leaves_no_empty_headings() -> None:
    shown = render_case(Case.model_validate(claim()))
    assert "declared" not in shown
    assert "evidence" not in shown


@pytest.mark.parametrize("evidence", [None, "criteria 1 and 2 contradict each other"])
def test_a_blocker_needs_a_reason_and_may_have_evidence(evidence: str | None) -> None:
    assert parse_blocker({"reason": "it cannot be", "evidence": evidence}).evidence == evidence


@pytest.mark.parametrize("arguments", [None, {}, {"reason": ""}, {"reason": " \n"}, {"reason": 3}])
def test_a_blocker_without_a_reason_cannot_be_read(arguments: Any) -> None:
    with pytest.raises(Unreadable, match=r"^raise_blocker: "):
        parse_blocker(arguments)


def test_the_tools_ask_for_exactly_what_is_read() -> None:
    case = SUBMIT_CASE.input_schema
    assert set(case["properties"]) == set(Case.model_fields)
    assert case["required"] == ["summary", "ac_coverage"]
    assert RAISE_BLOCKER.input_schema["required"] == ["reason"]
    assert set(RAISE_BLOCKER.input_schema["properties"]) == {"reason", "evidence"}
