"""The criteria sheet: what is written is read back, and what cannot be read is named."""

from __future__ import annotations

import pytest

from tilth.base.errors import UserError
from tilth.interview.approval import SheetTask
from tilth.interview.criteria_sheet import read_sheet, same_sheet, write_sheet
from tilth.interview.replies import rewritten

ONE = SheetTask(id="T-001", title="Add", criteria=("gives x + 1", "-5 is refused"))
TWO = SheetTask(id="T-002", title="List", criteria=("holds:\n- a\n# b\nT-003 c\nand d",))


def test_a_sheet_is_read_back_as_it_was_written() -> None:
    sheet = write_sheet((ONE, TWO))
    assert read_sheet(sheet) == (ONE, TWO)
    assert same_sheet(read_sheet(sheet), (ONE, TWO))


def test_lines_may_be_broken_anew_without_a_change() -> None:
    broken = write_sheet((ONE,)).replace("gives x + 1", "gives\n  x + 1")
    assert same_sheet(read_sheet(broken), (ONE,))
    assert not same_sheet(read_sheet(broken.replace("+", "-")), (ONE,))


def test_an_edit_is_read() -> None:
    text = "# remark\nT-001 Add more\n-gives x + 2\n* which is more\n\nT-010\n- new\n- \n"
    first, second = read_sheet(text)
    assert first == SheetTask(
        id="T-001", title="Add more", criteria=("gives x + 2\n* which is more",)
    )
    assert second == SheetTask(id="T-010", title="", criteria=("new",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stray\nT-001 x\n- a", "line 1 stands before the first task"),
        ("T-001 x\nno dash", "line 2 is no criterion"),
        ("T-001 x\n\nT-002 y\n- a", "T-001 has no criterion"),
        ("T-001 x\n- \n", "T-001 has no criterion"),
    ],
)
def test_a_sheet_that_cannot_be_read_names_the_place(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_sheet(text)


def test_an_emptied_sheet_holds_nothing() -> None:
    assert read_sheet("# only remarks\n\n") == ()


def test_the_seeder_is_told_what_differs_and_nothing_else() -> None:
    new = SheetTask(id="T-001", title="Add", criteria=("gives x + 2",))
    other = SheetTask(id="T-004", title="Fourth", criteria=("is",))
    told = rewritten((ONE, TWO, other), (new, TWO))
    assert "T-001 Add\n1. gives x + 2\n" in told
    assert "Taken out of the plan: T-004" in told
    assert "T-002" not in told
