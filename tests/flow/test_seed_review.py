"""The contract review: read once, answered by mending or by asking, never in the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.flow_site import Site, task
from support.interviews import Person, Sitting, ask, review, sit, without_review, write_seed
from support.messages_api import Answer, say

REVIEWED = without_review(review=True)
FOUND = "Criterion 1 says x + 1, the test wants x + 2."


def reviewed(root: Path, seeder: list[Answer], evaluator: list[Answer], **how: Any) -> Sitting:
    return sit(Site.make(root), seeder, evaluator=evaluator, options=REVIEWED, **how)


def outcome(sitting: Sitting) -> dict[str, Any]:
    return json.loads((sitting.session / "seed-meta.json").read_text("utf-8"))["review"]


def test_a_clean_review_lets_the_seed_through(tmp_path: Path) -> None:
    sitting = reviewed(tmp_path, [write_seed(1)], [review()])
    assert sitting.code == 0
    assert outcome(sitting)["outcome"] == "clean"
    told = sitting.last_user_text("evaluator", 0)
    assert "add1(x) gives x + 1" in told
    assert "assert add1(1) == 2" in told
    assert "Nothing but integers." in told


def test_contradictions_go_back_to_the_seeder_and_are_reviewed_once(tmp_path: Path) -> None:
    mended = write_seed(1, prd_entries=[task(1, description="The module feature1 adds 1.")])
    sitting = reviewed(tmp_path, [write_seed(1), mended], [review(FOUND)])
    assert sitting.code == 0
    assert FOUND in sitting.results[0]
    assert len(sitting.asked("evaluator")) == 1
    assert outcome(sitting) == {
        "outcome": "contradictions",
        "contradictions": [f"T-001: {FOUND}"],
        "note": "",
    }


def test_a_contradiction_is_not_answered_by_the_same_seed_again(tmp_path: Path) -> None:
    person = Person(answers=["x + 1 it is"])
    seeder = [write_seed(1), write_seed(1), ask("x + 1 or x + 2?"), write_seed(1)]
    sitting = reviewed(tmp_path, seeder, [review(FOUND)], person=person)
    assert sitting.code == 0
    assert sitting.results[1].startswith("This is the same seed again")
    assert len(person.asked) == 1


def test_a_review_that_cannot_be_read_is_noted_and_does_not_block(tmp_path: Path) -> None:
    sitting = reviewed(tmp_path, [write_seed(1)], [say("Looks fine to me.")])
    assert sitting.code == 0
    assert outcome(sitting)["outcome"] == "unreadable"
    assert sitting.types.count("evaluator_parse_error") == 1


def test_a_seed_that_does_not_hold_is_not_reviewed(tmp_path: Path) -> None:
    bad = write_seed(1, prd_entries=[])
    sitting = reviewed(tmp_path, [bad, write_seed(1)], [review()])
    assert sitting.code == 0
    assert len(sitting.asked("evaluator")) == 1


def test_without_a_review_the_evaluator_is_not_asked(tmp_path: Path) -> None:
    sitting = sit(Site.make(tmp_path), [write_seed(1)])
    assert sitting.asked("evaluator") == []
    assert outcome(sitting)["note"] == "--no-review"
