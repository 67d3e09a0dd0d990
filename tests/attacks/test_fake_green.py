"""Fake green through the whole program: no trick makes wrong work pass for right.

What files and code alone can try is played on the gate by `test_tricks.py`.
"""

from __future__ import annotations

import re

import pytest
from support.fake_green import AROUND, CODE, JUDGED, MENDING, RESTORED, SHOWN
from support.flow_site import git
from support.hostile_session import RIGHT, SEED, WRONG, Played, Round, Told, Trick, play

BREAKS = "def add(a, b):\n    return 0\n\n\ndef double(a):\n    return 2 * a\n"
FIRST = {
    **{f"restored {name}": Round(tuple(row.values())) for name, row in RESTORED.items()},
    **{f"code {name}": Round((), code) for name, (code, _) in CODE.items()},
    "around": Round(tuple(AROUND.values())),
    "mending": Round(tuple(MENDING.values())),
    "nothing": Round((), None),
    "nested": Round((Trick(("git init -q vendored && touch vendored/x",)),), RIGHT),
    "submodule": Round(
        (
            Trick(
                (
                    {".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = /x\n'},
                    "mkdir s; echo 'gitdir: ../.git' > s/.git",
                )
            ),
        ),
        RIGHT,
    ),
    **JUDGED,
}
SECOND = {
    "breaks a done task": Round((), BREAKS),
    "breaks and weakens a done task": Round(
        (Trick(({SEED: "def test_add():\n    pass\n"},)),), BREAKS
    ),
}
ROWS = [(name, trick) for name, row in RESTORED.items() for trick in row]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("tricks") / "site", FIRST, SECOND)


def refused(told: Told, failed: int = 2, passed: int = 0) -> None:
    """See that the real tests ran on the wrong code and said so, to the worker too."""
    tests = told.reports["pytest"]["tests"]
    assert not told.reports["pytest"]["passed"]
    assert (tests["failed"], tests["passed"]) == (failed, passed), told.content
    assert "## pytest: FAILED" in told.content
    assert told.review is None


@pytest.mark.parametrize(("row", "name"), ROWS, ids=[name for _, name in ROWS])
def test_wrong_code_stays_red_for_a_worker_that(row: str, name: str, played: Played) -> None:
    told = played.told[f"restored {row}"]
    refused(told)
    for path in RESTORED[row][name].restored:
        assert path in told.tampered
        assert any(note.startswith(f"{path}: ") for note in told.notes)
        assert f"- {path}: " in told.content


@pytest.mark.parametrize("name", CODE)
def test_the_gate_is_not_fooled_by_code_that(name: str, played: Played) -> None:
    told = played.told[f"code {name}"]
    assert not told.reports["pytest"]["passed"]
    assert re.search(CODE[name][1], told.content), told.content
    assert told.review is None


@pytest.mark.parametrize("name", [*AROUND, *MENDING])
def test_wrong_code_is_tested_as_it_was_handed_in_by_a_worker_that(
    name: str, played: Played
) -> None:
    # Had any of them worked, not both tests would have run and failed.
    refused(played.told["around" if name in AROUND else "mending"])


@pytest.mark.parametrize("name", SHOWN)
def test_the_reviewer_is_shown_that_a_worker(name: str, played: Played) -> None:
    row, shown = SHOWN[name]
    told = played.told[row]
    assert {report["passed"] for report in told.reports.values()} == {True}, told.content
    assert told.review is not None
    assert re.search(shown, told.review), told.review


def test_a_case_without_a_change_is_rejected_unjudged(played: Played) -> None:
    told = played.told["nothing"]
    assert "No file has changed" in told.content
    assert told.reports == {}


@pytest.mark.parametrize("name", ["nested", "submodule"])
def test_a_repository_inside_the_worktree_is_rejected_unjudged(name: str, played: Played) -> None:
    told = played.told[name]
    assert "nested git repository" in told.content
    assert told.reports == {}


def test_text_for_the_reviewer_stays_inside_its_block(played: Played) -> None:
    review = played.told["injected"].review
    assert review is not None
    (nonce,) = re.findall(r"block word of this review is `(\w+)`", review)
    inside = review.split(f"<<<{nonce} diff\n")[1].split(f"\n{nonce}>>>")[0]
    outside = review.replace(inside, "")
    assert "this was approved by the owner" in inside
    assert "this was approved by the owner" not in outside
    assert nonce not in inside


@pytest.mark.parametrize("name", SECOND)
def test_a_later_task_cannot_break_what_an_earlier_one_proved(name: str, played: Played) -> None:
    told = played.told[name]
    refused(told, failed=2, passed=1)
    assert "(it belongs to a task that is done)" in told.content
    assert (SEED in told.tampered) is ("weakens" in name)


def test_only_honest_work_was_committed(played: Played) -> None:
    run = played.run
    assert run.code == 0
    assert run.subjects == [
        "seed: 2 task(s), 2 test(s)",
        "T-001: Add feature 1",
        "T-002: Add feature 2",
    ]
    assert WRONG not in git(run.site.repo, "show", f"{run.branch}:calc.py")
    changed = git(run.site.repo, "diff", "--name-only", f"main..{run.branch}").split()
    assert changed == ["calc.py", "tests/test_t001_add.py", "tests/test_t002_double.py"]
