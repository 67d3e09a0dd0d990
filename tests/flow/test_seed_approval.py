"""The approval of a seed: nothing is written before it, and wishes go to the seeder."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.flow_site import Site, accept, solve, submit, task
from support.interviews import (
    Person,
    Reader,
    ask,
    go_on_at,
    read,
    review,
    sit,
    sit_at,
    without_review,
    write_seed,
)
from support.light_gate import light_site
from support.messages_api import Answer, MessagesServer, by_role, error

from tilth.interview.approval import Approved, ChangeWanted, Rewritten, SheetTask, WentBack
from tilth.log.reader import parse_event
from tilth.log.verification import verify

CRITERION = "add1(x) gives x + 1"
WISH = ChangeWanted(text="Only\x1b[31m integers.\x07")


def reworded(text: str) -> Answer:
    return write_seed(1, prd_entries=[task(1, acceptance_criteria=[text])])


def test_nothing_is_written_until_a_person_approves(tmp_path: Path) -> None:
    site, person = Site.make(tmp_path), Reader()
    with MessagesServer(by_role(seeder=[write_seed(1)])) as server:
        left = sit_at(server, site, person=person)
        assert (left.code, left.checkpoint["status"]) == (130, "interviewing")
        assert left.left_nothing
        again = go_on_at(server, site, Reader(says=[Approved()]))
    assert again.code == 0
    assert len(server.requests) == 1
    assert again.tasks["T-001"]["acceptance_criteria"] == [CRITERION]
    assert person.views[0].tasks[0].acceptance_criteria == (CRITERION,)


def test_a_frontend_that_shows_nothing_is_not_asked(tmp_path: Path) -> None:
    sitting = sit(Site.make(tmp_path), [write_seed(1)], person=Person())
    assert sitting.code == 0


def test_a_wish_goes_to_the_seeder_and_the_new_seed_is_shown_with_the_old_one(
    tmp_path: Path,
) -> None:
    person = Reader(says=[WISH, Approved()])
    sitting = sit(Site.make(tmp_path), [write_seed(1), reworded("for ints only")], person=person)
    assert sitting.code == 0
    assert "\n\nOnly integers.\n\n" in sitting.results[0]
    first, second = person.views
    assert first.before is None
    assert second.before == {"T-001": (CRITERION,)}
    assert sitting.tasks["T-001"]["acceptance_criteria"] == ["for ints only"]
    found = verify(parse_event(line) for line in sitting.events)
    assert (found.identical, found.requests) == (2, 2)


def test_rewritten_criteria_are_what_the_next_seed_is_held_against(tmp_path: Path) -> None:
    mine = SheetTask(id="T-001", title="Add feature 1", criteria=("gives one more",))
    person = Reader(says=[Rewritten(tasks=(mine,)), Approved()])
    script = [write_seed(1), reworded("gives one more")]
    sitting = sit(Site.make(tmp_path), script, person=person)
    assert "1. gives one more" in sitting.results[0]
    assert person.views[1].before == {"T-001": ("gives one more",)}


def test_the_review_is_shown_and_held_once_however_often_a_person_changes_the_seed(
    tmp_path: Path,
) -> None:
    person = Reader(says=[WISH, Approved()])
    script = by_role(seeder=[write_seed(1), reworded("for ints")], evaluator=[review()])
    with MessagesServer(script) as server:
        sitting = sit_at(
            server, Site.make(tmp_path), person=person, options=without_review(review=True)
        )
    assert sitting.code == 0
    assert [view.review for view in person.views] == ["no contradiction found"] * 2
    assert len(sitting.asked("evaluator")) == 1


def test_a_new_answer_to_an_earlier_question_is_no_answer_to_this_one(tmp_path: Path) -> None:
    back = WentBack(question="Which numbers?", answer="all\x1b[A of them")
    person = Reader(answers=["few", back, "no"], says=[back, Approved()])
    script = [ask("Which numbers?"), ask("Floats?"), ask("Floats?"), write_seed(1), write_seed(1)]
    sitting = sit(Site.make(tmp_path), script, person=person)
    assert sitting.code == 0
    told = sitting.results
    assert told[1].startswith("Not answered yet: the user goes back")
    assert "Which numbers?\n\nTheir answer is now:\n\nall of them\n" in told[1]
    assert told[3].startswith("Not written: before they approve")
    assert [result["is_error"] for result in sitting.of("tool_result")] == [
        *(False, True, False),
        *(True, False),
    ]


def test_a_seeder_without_turns_cannot_be_sent_back(tmp_path: Path) -> None:
    paths = itertools.count()

    def wander(request: object) -> Answer:
        number = next(paths)
        return write_seed(1) if number == 59 else read(f"file{number}.py")

    person = Reader(says=[Approved()])
    sitting = sit(Site.make(tmp_path), wander, person=person)
    assert sitting.code == 0
    assert [view.can_change for view in person.views] == [False]


@pytest.mark.parametrize("brief", ["Add\x1b[31m numbers.\x07", "Add numbers."])
def test_a_brief_reaches_the_seeder_without_control_characters(tmp_path: Path, brief: str) -> None:
    file = tmp_path / "brief.md"
    file.write_text(brief, encoding="utf-8")
    for name, options in (
        ("text", without_review(brief=brief)),
        ("file", without_review(brief=None, brief_file=file)),
    ):
        sitting = sit(Site.make(tmp_path / name), [error(400, "gone")], options=options)
        assert "Add numbers.\n" in sitting.last_user_text("seeder", 0)


def test_what_reviewers_found_weak_is_shown_in_the_next_interview(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site, weak = light_site(tmp_path), "The test never tries a negative number."
    site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[accept(seed_concern=weak)],
    )
    capsys.readouterr()
    sitting = sit(site, [write_seed(2)])
    assert f"  - {weak}\n" in capsys.readouterr().err
    assert weak in sitting.last_user_text("seeder", 0)
