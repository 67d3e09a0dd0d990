"""The case: which claims can be read, which cannot and what the worker is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import Unreadable
from tilth.contract.case import (
    RAISE_BLOCKER,
    SUBMIT_CASE,
    Case,
    parse_blocker,
    parse_case,
    render_case,
)
from tilth.contract.prd import Task

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
    assert "the arguments must be one JSON object" in refusal(arguments)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({}, "summary: is missing; ac_coverage: is missing"),
        (claim(summary=None), "summary: "),
        (claim(summary=""), "summary: "),
        (claim(summary=" \n"), "summary is empty"),
        (claim(summary=["x"]), "summary: "),
        (claim(ac_coverage=None), "ac_coverage lacks criterion 1"),
        (claim(ac_coverage="1"), "ac_coverage.0: must be an object"),
        (claim(ac_coverage={"1": "slug.py"}), "ac_coverage"),
        (claim(ac_coverage=["1"]), "ac_coverage.0: "),
        (claim(ac_coverage=[{"criterion": "1"}]), "ac_coverage.0.addressed_by: is missing"),
        (claim(ac_coverage=[item(), item(True)]), "ac_coverage.1.criterion: "),
        (claim(ac_coverage=[item(), item(None)]), "ac_coverage.1.criterion: "),
        (claim(ac_coverage=[item(), item("2", 7)]), "ac_coverage.1.addressed_by: "),
        (claim(ac_coverage=[item(), item("2", "")]), "ac_coverage.1.addressed_by: "),
        (claim(uncertainties={"a": 1}), "uncertainties.0: must be a string"),
        (claim(work_arounds=[3]), "work_arounds.0: must be a string"),
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
        "criterion 1",
        "Criterion #1",
        "Acceptance criterion 1: lower case",
        "1: it is lower case",
        "2: Slugs are lower case.",
        "1 - lower case",
    ],
)
def test_a_criterion_is_met_by_its_text_or_its_number(criterion: Any) -> None:
    assert parse_case(claim(ac_coverage=[item(criterion), item("2")]), TASK, anywhere)


@pytest.mark.parametrize("criterion", ["1, 2", "criteria 1 and 2", "1 & #2", [1, 2]])
def test_one_item_may_name_several_criteria(criterion: Any) -> None:
    if isinstance(criterion, list):
        criterion = json.dumps(criterion)[1:-1]
    assert parse_case(claim(ac_coverage=[item(criterion)]), TASK, anywhere)


def test_a_criterion_that_begins_with_a_number_is_not_taken_for_that_number() -> None:
    task = TASK.model_copy(update={"acceptance_criteria": ("Slugs are short.", "1 try is made.")})
    arguments = claim(ac_coverage=[item("1 try is made.")])
    with pytest.raises(Unreadable, match=r"lacks criterion 1: 'Slugs are short\.'$"):
        parse_case(arguments, task, anywhere)


@pytest.mark.parametrize(
    "form",
    [
        json.dumps,
        lambda arguments: arguments | {"ac_coverage": json.dumps(arguments["ac_coverage"])},
        lambda arguments: (
            arguments | {"ac_coverage": [json.dumps(one) for one in arguments["ac_coverage"]]}
        ),
    ],
    ids=["all of it", "the list", "its items"],
)
def test_json_inside_a_string_is_read_as_the_json_it_is(form: Any) -> None:
    whole = claim(ac_coverage=[item("1"), item("2")])
    assert parse_case(form(whole), TASK, anywhere) == parse_case(whole, TASK, anywhere)


@pytest.mark.parametrize("nothing", ["", "none", "None", "null", "N/A", None, [], "[]"])
def test_every_way_to_write_nothing_is_an_empty_list(nothing: Any) -> None:
    case = parse_case(claim(uncertainties=nothing, work_arounds=nothing), TASK, anywhere)
    assert (case.uncertainties, case.work_arounds) == ((), ())


def test_one_text_where_a_list_is_asked_for_is_its_one_item() -> None:
    assert parse_case(claim(uncertainties="Emoji?"), TASK, anywhere).uncertainties == ("Emoji?",)


@pytest.mark.parametrize(
    "addressed_by",
    [
        "cart.py line 7",
        "cart.py, line 7",
        "cart.py, lines 7-9.",
        "`cart.py` lines 7-9",
        "cart.py (Cart.total)",
        "cart.py at line 7",
        "cart.py#L7",
        ["cart.py:total", "cart.py:add"],
    ],
)
def test_a_place_in_a_file_may_be_said_in_words(addressed_by: Any) -> None:
    arguments = claim(ac_coverage=[item("1, 2", addressed_by)])
    assert parse_case(arguments, TASK, {"cart.py"}.__contains__)


@pytest.mark.parametrize(
    "path",
    [
        ".git",
        ".git/config",
        "sub/.GIT/HEAD",
        "__pycache__/slug.cpython-311.pyc",
        "slug.pyc",
        "slug.pyo line 7",
        ".venv/lib/slug.py",
        "lib/.pytest_cache/README.md:1",
        "./.ruff_cache/a",
    ],
)
def test_a_file_that_enters_no_change_addresses_nothing(path: str) -> None:
    said = refusal(claim(ac_coverage=[item("1, 2", path)]))
    assert "addressed_by names a file that is never part of a change: " in said


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/a.yml", "git/a.py", "venv.py", "node_modules/a.js", "a.pyi"]
)
def test_a_file_that_is_only_called_alike_does(path: str) -> None:
    assert parse_case(claim(ac_coverage=[item("1, 2", path)]), TASK, anywhere)


def test_words_around_a_name_do_not_make_a_missing_file_exist() -> None:
    said = refusal(claim(ac_coverage=[item("1, 2", "gone.py line 7")]), {"cart.py"}.__contains__)
    assert "does not exist: 'gone.py line 7'" in said


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


@pytest.mark.parametrize("path", ["missing.py", "a\0b.py", "folder", "x" * 5000])
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


def test_what_was_declared_stands_line_by_line_under_its_heading() -> None:
    case = Case.model_validate(claim(work_arounds=["a hack"], uncertainties=["a doubt"]))
    assert render_case(case).splitlines()[-6:] == [
        "",
        "Work-arounds declared:",
        "- a hack",
        "",
        "Uncertainties declared:",
        "- a doubt",
    ]


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


@pytest.mark.parametrize(
    "path", ["../x.py", "/etc/passwd", "~/x.py", "src/../../x.py", "src\\..\\..\\x.py"]
)
def test_a_claim_on_a_file_outside_the_worktree_is_refused(path: str) -> None:
    with pytest.raises(Unreadable, match="names a file outside the worktree"):
        parse_case(claim(ac_coverage=[item("1", path), item("2")]), TASK, lambda _: True)


def test_several_places_may_be_given_as_a_list() -> None:
    case = parse_case(
        claim(ac_coverage=[item("1", ["a.py:f", "b.py:g"]), item("2")]), TASK, anywhere
    )
    assert case.ac_coverage[0].addressed_by == "a.py:f, b.py:g"
