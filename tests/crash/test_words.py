"""A kill at every step of taking up a person's word: none is lost, none has its effect twice."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from support.crash_stage import Stage, answer, die_at, fork, reap
from support.flow_site import Run, Site, git, reject
from support.messages_api import Reply, Request, error
from support.replays import say_of
from support.words import UNREACHED, words_in

from tilth.base.errors import UserError
from tilth.contract.operator_word import Verb
from tilth.session.speaking import Draft
from tilth.show.words import say_word

NOTE, REASON = "Mind the zero.", "Say what it does below zero."
STEPS = (
    "before recording a word",
    "after recording a word",
    "before removing a word",
    "after removing a word",
)


def speak(site: Site, draft: Draft) -> int:
    with contextlib.redirect_stderr(io.StringIO()):
        return say_word("latest", draft, environ=site.environ(UNREACHED))


def answering(site: list[Site], draft: Draft) -> object:
    """Answer as ever, and have a person speak once, while the worker's first call is under way."""
    told: list[str] = []

    def script(request: Request) -> Reply:
        if request.role == "worker" and not told:
            told.append("once")
            assert speak(site[0], draft) == 0
        return answer(request)

    return script


def _check(stage: Stage, text: str) -> None:
    run = Run(stage.site, 0, ())
    heard = [word for word in run.of("operator_word") if word["text"] == text]
    assert len(heard) == 1
    assert heard[0]["refused"] is None
    assert not words_in(run.session)
    code, said = say_of(stage.site)
    assert code == 0, said


@pytest.mark.parametrize("step", STEPS)
def test_a_note_that_a_kill_comes_upon_is_heard_once(tmp_path: Path, step: str) -> None:
    sites: list[Site] = []
    stage = Stage(tmp_path, tasks=1, script=answering(sites, Draft(Verb.TELL, NOTE)))
    sites.append(stage.site)
    with stage.server:
        assert stage.begin(die_at(step, 1)) == -9
        assert stage.go_on() == 0
    stage.check()
    _check(stage, NOTE)
    texts = [str(request.body["messages"]) for request in stage.server.requests]
    worker = [text for text in texts if NOTE in text]
    assert worker, "the worker never read it"
    assert max(text.count(f"{NOTE}'") for text in worker) == 1


@pytest.mark.parametrize("step", [*STEPS, "after sending a task back"])
def test_a_reject_at_rest_that_a_kill_comes_upon_has_its_effect_once(
    tmp_path: Path, step: str
) -> None:
    stage = Stage(tmp_path, tasks=1)
    draft = Draft(Verb.REJECT, REASON, task="T-001")
    with stage.server:
        assert stage.begin() == 0
        assert reap(fork(lambda: speak(stage.site, draft), die_at(step, 1))) == -9
        run = Run(stage.site, 0, ())
        if not run.of("operator_word"):
            # Nothing was acknowledged, so the person says it again.
            assert speak(stage.site, draft) == 0
        stage.go_on()
    assert [entry["source"] for entry in run.ledger(1)].count("person") == 1
    assert run.tasks["T-001"]["round"] == 2
    _check(stage, REASON)


IN_REVIEW = [*STEPS, "before moving the branch", "after moving the branch"]


def _landed_once(stage: Stage) -> None:
    run = Run(stage.site, 0, ())
    landed = [subject for subject in run.subjects if not subject.startswith("seed")]
    assert landed == ["T-001: Add feature 1"]
    trailers = git(stage.site.repo, "log", "-1", "--format=%(trailers)", run.branch)
    assert "Tilth-Verdict: person" in trailers
    assert len(run.of("task_done")) == 1
    assert [word["refused"] for word in run.of("operator_word")] == [None]
    assert not words_in(run.session)
    assert say_of(stage.site)[0] == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("step", [*IN_REVIEW, "before replacing prd.json"])
def test_an_accept_of_a_running_review_that_a_kill_comes_upon_lands_once(
    tmp_path: Path, step: str, jobs: str
) -> None:
    sites: list[Site] = []
    told: list[str] = []

    def script(request: Request) -> Reply:
        if request.role == "evaluator" and not told:
            told.append("once")
            assert speak(sites[0], Draft(Verb.ACCEPT, task="T-001")) == 0
            return reject()
        return answer(request)

    stage = Stage(tmp_path, tasks=1, script=script, TILTH_JOBS=jobs)
    sites.append(stage.site)
    # Statuses are saved before: in progress, under review.
    nth = 3 if step == "before replacing prd.json" else 1
    with stage.server:
        assert stage.begin(die_at(step, nth)) == -9
        assert stage.go_on() == 0
    _landed_once(stage)


@pytest.mark.parametrize("step", IN_REVIEW)
def test_an_accept_of_a_resting_review_that_a_kill_comes_upon_lands_once(
    tmp_path: Path, step: str
) -> None:
    def script(request: Request) -> Reply:
        return error(400, "no") if request.role == "evaluator" else answer(request)

    stage = Stage(tmp_path, tasks=1, script=script)
    draft = Draft(Verb.ACCEPT, task="T-001")
    with stage.server:
        assert stage.begin() == 5
        died = reap(fork(lambda: speak(stage.site, draft), die_at(step, 1))) == -9
        # At rest there is no file of a word that could be removed.
        assert died or "removing" in step
        if died and not Run(stage.site, 0, ()).of("operator_word"):
            assert speak(stage.site, draft) == 0
        assert stage.go_on() == 0
    _landed_once(stage)


@pytest.mark.parametrize(
    "step",
    [
        *STEPS[:2],
        "before setting aside",
        "after setting aside",
        "before landing what a person accepted",
        "before moving the branch",
        "after moving the branch",
        "before replacing prd.json",
        "after replacing prd.json",
    ],
)
def test_an_accept_that_a_kill_comes_upon_lands_once(tmp_path: Path, step: str) -> None:
    stage = Stage(tmp_path, tasks=1, TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1")
    draft = Draft(Verb.ACCEPT, task="T-001")
    with stage.server:
        assert stage.begin() == 1
        assert reap(fork(lambda: speak(stage.site, draft), die_at(step, 1))) == -9
        run = Run(stage.site, 0, ())
        if not run.of("operator_word"):
            assert speak(stage.site, draft) == 0
        assert stage.go_on() == 0
    landed = [subject for subject in run.subjects if not subject.startswith("seed")]
    assert landed == ["T-001: Add feature 1"]
    trailers = git(stage.site.repo, "log", "-1", "--format=%(trailers)", run.branch)
    assert "Tilth-Verdict: person" in trailers
    assert len(run.of("task_done")) == 1
    assert run.tasks["T-001"]["status"] == "done"


def test_a_word_that_was_put_and_never_taken_up_is_heard_on_the_next_start(tmp_path: Path) -> None:
    sites: list[Site] = []
    stage = Stage(tmp_path, tasks=1, script=answering(sites, Draft(Verb.TELL, NOTE)))
    sites.append(stage.site)
    with stage.server:
        # Killed while it waits for the first answer: the word lies in the inbox.
        assert stage.begin(die_at("before appending to events.jsonl", 8)) == -9
        assert stage.go_on() == 0
    _check(stage, NOTE)


def test_a_note_to_what_was_accepted_when_a_kill_came_is_refused(tmp_path: Path) -> None:
    stage = Stage(tmp_path, tasks=1)
    with stage.server:
        # The branch moves for the seed first: the task is accepted, and nothing of it has landed.
        assert stage.begin(die_at("before moving the branch", 2)) == -9
        run = Run(stage.site, 0, ())
        assert run.ledger(1)[-1]["verdict"] == "accept"
        assert run.tasks["T-001"]["status"] == "pending_eval"
        with pytest.raises(UserError, match="accepted and waits to land, so nobody would read it"):
            speak(stage.site, Draft(Verb.TELL, NOTE, task="T-001"))
        assert not run.of("operator_word")
        assert stage.go_on() == 0
    stage.check()
