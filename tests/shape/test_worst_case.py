"""What a task can cost at worst: the figures in the docs are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from tilth.config.settings import load
from tilth.task.budget import Allowance
from tilth.task.review_turns import VERDICT_TRIES

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works.md"
# Beyond its turns a review may be asked for what a verdict lacks, and about a probe.
ASKED_ONCE = 2


def test_the_worst_case_in_the_docs_is_that_of_the_defaults(tmp_path: Path) -> None:
    settings = load({}, {"TILTH_HOME": str(tmp_path)})
    worker = Allowance.of(settings, rejections=10**6).total
    review = settings.max_evaluator_turns + (VERDICT_TRIES - 1) + ASKED_ONCE
    said = PAGE.read_text("utf-8").partition("## What a task can cost at worst")[2]
    rows = re.findall(r"^\| ([a-z ]+) \| .* \| (\d+) \|$", said, re.MULTILINE)
    assert {name: int(count) for name, count in rows} == {
        "worker calls": worker,
        "calls of one review": review,
        "evaluator calls": worker * review,
        "all calls": worker * (1 + review),
    }
