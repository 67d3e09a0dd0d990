"""The manners of an interview: one question at a time, nudges, bounds, and an early end."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.flow_site import Site, git
from support.interviews import Person, ask, go_on_at, read, sit, sit_at, without_review, write_seed
from support.messages_api import Answer, MessagesServer, by_role, call, error, say

from tilth.base.errors import UserError
from tilth.interview.prepare import prepare
from tilth.interview.question import COMPOUND, ONE_QUESTION


def test_only_one_question_is_asked_at_a_time(tmp_path: Path) -> None:
    person = Person(answers=["red", "large"])
    script = [ask("Which colour?") + ask("Which size?"), ask("Which size?"), write_seed(1)]
    sitting = sit(Site.make(tmp_path), script, person=person)
    assert sitting.results[:3] == ["red", ONE_QUESTION, "large"]
    assert [question.question for question in person.asked] == ["Which colour?", "Which size?"]


def test_a_compound_question_is_held_back_once(tmp_path: Path) -> None:
    both = ask("Which colour? And which size?")
    person = Person(answers=["red, large"])
    sitting = sit(Site.make(tmp_path), [both, both, write_seed(1)], person=person)
    assert sitting.results[:2] == [COMPOUND, "red, large"]
    assert len(person.asked) == 1


def test_a_question_without_words_is_given_back(tmp_path: Path) -> None:
    script = [call("ask_user", question=" "), call("ask_user"), write_seed(1)]
    sitting = sit(Site.make(tmp_path), script)
    assert [text.split(":")[0] for text in sitting.results[:2]] == ["ask_user"] * 2
    assert sitting.code == 0


def test_a_seed_beside_a_question_is_not_heard(tmp_path: Path) -> None:
    script = [ask("Sure?") + write_seed(1), write_seed(1)]
    sitting = sit(Site.make(tmp_path), script, person=Person(answers=["no"]))
    assert sitting.results[1].startswith("Not heard: you asked the user something")
    assert sitting.code == 0


def test_a_call_that_was_cut_off_is_not_acted_on(tmp_path: Path) -> None:
    script = [write_seed(1).but(stop_reason="max_tokens"), write_seed(1)]
    sitting = sit(Site.make(tmp_path), script)
    assert sitting.results[0].startswith("Not executed: your answer was cut off")
    assert sitting.code == 0


def test_a_tool_that_is_not_on_offer_changes_nothing(tmp_path: Path) -> None:
    script = [call("write_file", path="x.py", content="x"), write_seed(1)]
    sitting = sit(Site.make(tmp_path), script)
    assert "there is no tool" in sitting.results[0]
    assert not (sitting.site.repo / "x.py").exists()


def test_a_seeder_that_only_talks_is_nudged_and_then_given_up(tmp_path: Path) -> None:
    sitting = sit(Site.make(tmp_path), [say("I would first …")] * 4)
    assert sitting.code == 1
    assert [nudge["in_a_row"] for nudge in sitting.of("nudge")] == [1, 2, 3]
    assert sitting.checkpoint["status"] == "failed"
    assert sitting.of("stop")[0]["reason"] == "no_case"
    assert sitting.left_nothing


def test_a_seeder_that_never_ends_is_stopped_after_sixty_turns(tmp_path: Path) -> None:
    paths = itertools.count()

    def wander(request: object) -> Answer:
        return read(f"file{next(paths)}.py")

    sitting = sit(Site.make(tmp_path), wander)
    assert sitting.code == 1
    assert len(sitting.requests) == 60
    assert "10 answers are left" in sitting.results[49]
    assert sitting.of("stop")[0]["reason"] == "iter_cap"
    assert sitting.checkpoint["status"] == "failed"
    assert sitting.left_nothing


def test_a_seeder_that_loops_is_told_so(tmp_path: Path) -> None:
    sitting = sit(Site.make(tmp_path), [*[read("README.md")] * 3, write_seed(1)])
    assert "# Sample" in sitting.results[1]
    assert sitting.results[2].startswith("You have made this very call before")
    assert sitting.code == 0


def test_a_person_who_leaves_can_go_on_later(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = [read("README.md"), ask("Which numbers?", "all"), write_seed(1)]
    with MessagesServer(by_role(seeder=script)) as server:
        left = sit_at(server, site, person=Person(leaves_at=0))
        assert (left.code, left.checkpoint["status"]) == (130, "interviewing")
        assert left.left_nothing
        person = Person(answers=["all"])
        again = go_on_at(server, site, person)
    assert again.code == 0
    assert again.checkpoint["status"] == "prepared"
    assert [asked.question for asked in person.asked] == ["Which numbers?"]
    # One conversation: the last request extends the one before the interruption.
    before, after = (request.body["messages"] for request in server.requests[1:])
    assert after[: len(before)] == before
    assert after[-1]["content"][0]["content"] == "all"


def test_a_look_that_was_interrupted_is_not_taken_again_by_itself(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[read("README.md"), write_seed(1)])) as server:
        left = sit_at(server, site, person=Person(), environ={"TILTH_MAX_TOKENS": "12"})
        log = left.session / "events.jsonl"
        lines = log.read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if '"tool_result"' not in line and '"stop"' not in line]
        log.write_text("".join(kept[:3]), encoding="utf-8")
        again = go_on_at(server, site, Person())
    assert again.results[0].startswith("This call was interrupted")
    assert again.code == 0


def test_an_interview_is_not_continued_with_another_model(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[ask("Which?")])) as server:
        sit_at(server, site, person=Person(leaves_at=0))
        site.settings["TILTH_PREP_MODEL"] = "claude-opus-5"
        again = go_on_at(server, site, Person())
    assert again.code == 2
    assert len(server.requests) == 1
    assert "claude-sonnet-5-5" in again.of("stop")[-1]["detail"]


def test_an_endpoint_that_refuses_the_first_call_leaves_no_session(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sitting = sit(site, [error(401, "no such key", "authentication_error")])
    assert sitting.code == 5
    assert list(site.sessions.iterdir()) == []


def test_an_endpoint_that_fails_later_keeps_the_interview(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = [read("README.md"), error(403, "over quota", "permission_error")]
    sitting = sit(site, script)
    assert sitting.code == 5
    assert sitting.checkpoint["status"] == "interviewing"
    assert sitting.checkpoint["usage"]["seeder"]["calls"] == 1


def test_the_token_cap_stops_an_interview_and_keeps_it(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sitting = sit(site, [read("README.md"), write_seed(1)], environ={"TILTH_MAX_TOKENS": "12"})
    assert sitting.code == 3
    assert sitting.checkpoint["status"] == "interviewing"


def test_without_a_terminal_and_without_answers_nothing_begins(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with pytest.raises(UserError, match="--answers FILE"):
        prepare(site.repo, without_review(), {}, environ=site.environ("http://127.0.0.1:9"))
    assert not site.sessions.exists()
    assert git(site.repo, "branch", "--list", "session/*") == ""
