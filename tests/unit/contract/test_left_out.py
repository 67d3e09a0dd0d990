"""What is left out of a tree is named, within limits."""

from __future__ import annotations

import pytest

from tilth.contract.left_out import LeftOut, left_out_notes


def test_nothing_left_out_is_nothing_to_say() -> None:
    assert left_out_notes({}) == ()


@pytest.mark.parametrize("why", LeftOut)
def test_every_reason_has_its_words(why: LeftOut) -> None:
    assert left_out_notes({"a/b": why}) == (f"a/b: not in this change: {why.words()}",)


def test_a_long_path_keeps_both_ends() -> None:
    exact, longer = "a" * 120, "a" * 60 + "b" + "c" * 60
    assert left_out_notes({exact: LeftOut.SPECIAL})[0].startswith(f"{exact}: ")
    [note] = left_out_notes({longer: LeftOut.SPECIAL})
    assert note.startswith(f"{'a' * 60}[… 1 characters …]{'c' * 60}: ")


def test_a_long_list_is_cut_and_counted() -> None:
    twenty = {f"p{n}": LeftOut.SPECIAL for n in range(20)}
    assert len(left_out_notes(twenty)) == 20
    notes = left_out_notes({**twenty, "x": LeftOut.SPECIAL, "y": LeftOut.SPECIAL})
    assert len(notes) == 21
    assert notes[-1] == "… and 2 more not in this change"
