"""The order of questions: right and wrong in turn, every case before any comes again."""

from __future__ import annotations

from tilth.contract.verdict import RejectionCategory
from tilth.evalcheck.cases import EvalCase, EvalChange
from tilth.evalcheck.order import questions


def case(name: str, rights: int, wrongs: int) -> EvalCase:
    changes = [
        EvalChange(name=f"{number}", is_right=is_right, note="n", patch=f"{is_right}{number}")
        for is_right, count in ((True, rights), (False, wrongs))
        for number in range(count)
    ]
    return EvalCase(
        id=name,
        category=RejectionCategory.WEAK_TEST,
        title="t",
        description="d",
        acceptance_criteria=("c",),
        base={},
        visible={},
        hidden={},
        changes=tuple(changes),
    )


def test_right_and_wrong_come_in_turn_and_each_case_once_before_any_twice() -> None:
    asked = questions([case("a", 2, 2), case("b", 1, 3)])
    assert [f"{one.case} {one.change}" for one in asked] == [
        "a right/0",
        "a wrong/0",
        "b right/0",
        "b wrong/0",
        "a right/1",
        "a wrong/1",
        "b wrong/1",
        "b wrong/2",
    ]


def test_the_answer_is_part_of_what_tells_questions_apart() -> None:
    asked = questions([case("a", 1, 1)])
    assert len({one.fingerprint for one in asked}) == 2
    assert questions([case("a", 1, 1)])[0].fingerprint == asked[0].fingerprint
