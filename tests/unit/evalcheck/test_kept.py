"""What a stopped check leaves: every play that was acknowledged, and what a broken one has cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilth.base.errors import CorruptSession, UserError
from tilth.contract.verdict import Decision, RejectionCategory
from tilth.evalcheck.kept import Entry, name_of, open_kept
from tilth.evalcheck.score import Play
from tilth.model.messages import Usage
from tilth.task.budget import Spend

COST = Spend().after(Usage(input_tokens=10, output_tokens=5), 0.25)
PLAY = Play(
    case="a-case",
    change="wrong/one",
    category=RejectionCategory.WEAK_TEST,
    is_right=False,
    verdict=Decision.REJECT,
    spend=COST,
)


def test_plays_are_found_again_and_what_was_broken_off_is_paid_for(tmp_path: Path) -> None:
    with open_kept(tmp_path, "check") as kept:
        kept.add(Entry(play=PLAY))
        kept.add(Entry(spend=COST))
    with open_kept(tmp_path, "check") as again:
        assert again.plays == (PLAY,)
        assert (again.spend.calls, again.spend.cost_usd) == (2, 0.5)


def test_a_line_torn_by_a_kill_costs_that_play_alone(tmp_path: Path) -> None:
    with open_kept(tmp_path, "check") as kept:
        kept.add(Entry(play=PLAY))
    file = tmp_path / "eval-check" / "check.jsonl"
    file.write_bytes(file.read_bytes() * 2 + b'{"play": {"case": "a')
    with open_kept(tmp_path, "check") as again:
        assert again.plays == (PLAY, PLAY)
        again.add(Entry(play=PLAY))
    with open_kept(tmp_path, "check") as again:
        assert len(again.plays) == 3


def test_a_finished_check_begins_anew(tmp_path: Path) -> None:
    with open_kept(tmp_path, "check") as kept:
        kept.add(Entry(play=PLAY))
        kept.finish()
    with open_kept(tmp_path, "check") as again:
        assert again.plays == ()


def test_a_file_that_is_no_check_is_named_with_what_to_do(tmp_path: Path) -> None:
    with open_kept(tmp_path, "check") as kept:
        kept.add(Entry(play=PLAY))
    (tmp_path / "eval-check" / "check.jsonl").write_text('{"other": 1}\n', encoding="utf-8")
    with (
        pytest.raises(CorruptSession, match=r"check\.jsonl: .* remove it"),
        open_kept(tmp_path, "check"),
    ):
        pass


def test_two_cannot_play_the_same_check_at_once(tmp_path: Path) -> None:
    with (
        open_kept(tmp_path, "check"),
        pytest.raises(UserError, match="being played already"),
        open_kept(tmp_path, "check"),
    ):
        pass
    with open_kept(tmp_path, "check"), open_kept(tmp_path, "other"):
        pass


def test_whatever_changes_the_question_changes_the_name() -> None:
    assert name_of(["m", None, 1]) == name_of(["m", None, 1])
    assert name_of(["m", None, 1]) != name_of(["m", None, 2])
