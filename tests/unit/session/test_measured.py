"""Figures of evaluators: which one counts for a model and the prompts of today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.measurements import measured

from tilth.base.rate import Rate
from tilth.config.settings import Settings, load
from tilth.contract.verdict import SUBMIT_VERDICT
from tilth.model.messages import ToolSpec
from tilth.session.measured import EVAL_CHECKS, figures, hash_of, newest, prompt_sha256
from tilth.task.review import review_conversation


def settings(home: Path, **given: str) -> Settings:
    return load({}, {"TILTH_HOME": str(home), **given})


def test_the_newest_whole_figure_comes_before_a_newer_limited_one(tmp_path: Path) -> None:
    measured(tmp_path, "m", false_accept=Rate.share(9, 144))
    measured(tmp_path, "m", false_accept=Rate.share(2, 144))
    measured(tmp_path, "m", whole=False, false_accept=Rate.share(0, 6))
    assert figures(settings(tmp_path), ["m", "other"]) == {
        "m": "false accepts 1.4% (95% 0.4% to 4.9%), n=144"
    }


def test_without_a_whole_one_the_newest_limited_figure_says_so(tmp_path: Path) -> None:
    measured(tmp_path, "m", whole=False, false_accept=Rate.share(1, 2))
    measured(tmp_path, "m", whole=False, false_accept=Rate.share(0, 6))
    assert figures(settings(tmp_path), ["m"]) == {
        "m": "false accepts 0.0% (95% 0.0% to 39.0%), n=6, limited"
    }


def test_one_that_was_put_no_wrong_change_has_no_figure(tmp_path: Path) -> None:
    measured(tmp_path, "m", whole=False, false_accept=Rate.share(0, 0))
    assert newest(settings(tmp_path), "m") is None


@pytest.mark.parametrize(
    "given",
    [
        {"TILTH_EVALUATOR_TOOLS": "off"},
        {"TILTH_EVAL_THRESHOLD": "80"},
        {"TILTH_MAX_EVALUATOR_TURNS": "3"},
    ],
)
def test_what_changes_the_question_makes_a_figure_void(
    tmp_path: Path, given: dict[str, str]
) -> None:
    measured(tmp_path, "m")
    assert newest(settings(tmp_path), "m") is not None
    assert newest(settings(tmp_path, **given), "m") is None


def test_what_does_not_change_the_question_leaves_it(tmp_path: Path) -> None:
    other = settings(tmp_path / "elsewhere", TILTH_MAX_TOKENS="5", TILTH_WORKER_MODEL="w")
    assert prompt_sha256(other) == prompt_sha256(settings(tmp_path))


def asked_with(verdict: ToolSpec) -> dict[str, Any]:
    """Give a review's request as it is sent, but for the change."""
    return review_conversation("-", id="", model="", max_tokens=0, tools=(verdict,)).request()


def test_asking_for_the_verdict_first_is_another_question_with_figures_of_its_own(
    tmp_path: Path,
) -> None:
    schema = SUBMIT_VERDICT.input_schema
    fields = {"verdict": schema["properties"]["verdict"], **schema["properties"]}
    first = {"input_schema": {**schema, "properties": fields}}
    now, turned = asked_with(SUBMIT_VERDICT), asked_with(SUBMIT_VERDICT.model_copy(update=first))
    # The same words in another order, which only those who compare without order take for one.
    assert turned == now
    assert hash_of(turned) != hash_of(now)
    measured(tmp_path, "m", false_accept=Rate.share(1, 5))
    measured(tmp_path, "m", prompt_sha256=hash_of(turned), false_accept=Rate.share(6, 6))
    known = newest(settings(tmp_path), "m")
    assert known is not None
    assert known.false_accept == Rate.share(1, 5)


def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    measured(tmp_path, "m")
    with (tmp_path / EVAL_CHECKS).open("a") as file:
        file.write('not json\n{"model": "m"}\n' + json.dumps([1]) + "\n")
    assert newest(settings(tmp_path), "m") is not None
