"""A person speaks at rest after a kill between a task's commit and its status: it has landed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, read_lines, reject, solve, submit, write
from support.replays import play, say_of, standings
from support.words import UNREACHED, Endpoint, Killed, light_endpoint, played

from tilth.base import failpoint
from tilth.base.clock import SystemClock
from tilth.base.errors import UserError
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.verdict import Decision
from tilth.session.inbox import Inbox
from tilth.session.speaking import Draft
from tilth.show.words import say_word

BETTER = '"""Adds one, below zero too."""\n\n\ndef add1(x):\n    return x + 1\n'
REASON, FIRST, SECOND = "Not like this.", "T-001: Add feature 1", "T-001: Add feature 1 (round 2)"
FORCED = {"TILTH_ON_EXHAUSTED": "accept", "TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "1"}
JOBS = pytest.mark.parametrize("jobs", ["1", "2"])
# Where the commit stands when the kill comes, and the step it comes after.
KILLS = {
    "git": "after moving the branch",
    "git and log": "after appending to events.jsonl",
    "git, log and plan": "after replacing prd.json",
}
EVERY_KILL = pytest.mark.parametrize("kill", KILLS)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with light_endpoint(tmp_path) as one:
        yield one


def is_time(site: Site, kill: str, reached: str) -> bool:
    if reached != KILLS[kill]:
        return False
    log = next(site.sessions.glob("[!.]*/events.jsonl"), None)
    kinds = [event["type"] for event in read_lines(log)] if log else []
    return "case_submitted" in kinds if kill == "git" else kinds[-1:] == ["commit"]


def killed(
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    kill: str,
    *,
    forced: bool = False,
    **settings: str,
) -> None:
    """Kill a run once its task's commit stands on the branch and before it is said to be done."""

    def strike(reached: str) -> None:
        if is_time(endpoint.site, kill, reached):
            raise Killed

    verdict = reject() if forced else accept()
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[verdict])
    monkeypatch.setattr(failpoint, "_armed", [strike])
    with pytest.raises(Killed):
        endpoint.run(endpoint.site.bundle(1), **settings, **(FORCED if forced else {}))
    monkeypatch.setattr(failpoint, "_armed", [])
    assert "task_done" not in [event["type"] for event in logged(endpoint)]
    assert subjects(endpoint.site) == [FIRST]


def logged(endpoint: Endpoint) -> list[dict[str, object]]:
    return read_lines(endpoint.site.session() / "events.jsonl")


def subjects(site: Site) -> list[str]:
    """Give what stands on the session's branch beyond its tests."""
    branch = f"session/{site.session().name}"
    said = str(git(site.repo, "log", "--reverse", "--format=%s", branch)).splitlines()
    return [line for line in said if line.startswith("T-")]


def say(endpoint: Endpoint, draft: Draft) -> int:
    with contextlib.redirect_stderr(io.StringIO()):
        return say_word("latest", draft, environ=endpoint.site.environ(UNREACHED))


def resumed(endpoint: Endpoint, jobs: str, *more: object) -> Run:
    endpoint.script = played(worker=list(more), evaluator=[accept()] if more else [])
    return endpoint.resume(TILTH_JOBS=jobs)


def proven(endpoint: Endpoint) -> None:
    code, text = say_of(endpoint.site)
    assert code == 0, text
    assert set(standings(play(endpoint.site)).values()) == {"equal"}


@JOBS
@EVERY_KILL
def test_a_reject_begins_the_second_round(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, jobs: str, kill: str
) -> None:
    killed(endpoint, monkeypatch, kill, TILTH_JOBS=jobs)
    assert say(endpoint, Draft(Verb.REJECT, REASON, task="T-001")) == 0
    run = resumed(endpoint, jobs, write("feature1.py", BETTER), submit(1))
    assert (run.code, subjects(endpoint.site)) == (0, [FIRST, SECOND])
    assert [done["commit"] for done in run.of("task_done")] == [
        commit["commit"] for commit in run.of("commit")
    ]
    assert run.tasks["T-001"]["round"] == 2
    proven(endpoint)


@JOBS
def test_a_reject_that_lay_in_the_inbox_begins_the_second_round(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    killed(endpoint, monkeypatch, "git and log", TILTH_JOBS=jobs)
    said = {"task": "T-001", "text": REASON, "decision": Decision.REJECT}
    word = OperatorWord(id="word", verb=Verb.REJECT, **said)
    Inbox(endpoint.site.session()).put(word, SystemClock())
    run = resumed(endpoint, jobs, write("feature1.py", BETTER), submit(1))
    assert (run.code, subjects(endpoint.site)) == (0, [FIRST, SECOND])
    proven(endpoint)


@JOBS
@EVERY_KILL
def test_an_accept_is_a_label_on_what_is_done(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, jobs: str, kill: str
) -> None:
    killed(endpoint, monkeypatch, kill, TILTH_JOBS=jobs)
    assert say(endpoint, Draft(Verb.ACCEPT, task="T-001")) == 0
    run = resumed(endpoint, jobs)
    assert (run.code, subjects(endpoint.site)) == (0, [FIRST])
    assert len(run.of("task_done")) == 1
    assert [word["refused"] for word in run.of("operator_word")] == [None]
    proven(endpoint)


@JOBS
def test_a_note_is_refused_because_the_task_is_done(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    killed(endpoint, monkeypatch, "git and log", TILTH_JOBS=jobs, TILTH_EVALUATE="false")
    with pytest.raises(UserError, match="T-001 is done, so nobody would read it"):
        say(endpoint, Draft(Verb.TELL, "Mind the zero.", task="T-001"))
    run = resumed(endpoint, jobs)
    assert (run.code, run.of("operator_word")) == (0, [])
    assert len(run.of("task_done")) == 1
    proven(endpoint)


@JOBS
@pytest.mark.parametrize("answer", ["accept It will do.", f"reject {REASON}"])
def test_an_answer_is_the_verdict_on_what_landed_below_the_bar(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, jobs: str, answer: str
) -> None:
    killed(endpoint, monkeypatch, "git and log", forced=True, TILTH_JOBS=jobs)
    assert say(endpoint, Draft(Verb.ANSWER, answer, request="R-001")) == 0
    accepts = answer.startswith("accept")
    more = () if accepts else (write("feature1.py", BETTER), submit(1))
    run = resumed(endpoint, jobs, *more)
    assert (run.code, subjects(endpoint.site)) == (0, [FIRST] if accepts else [FIRST, SECOND])
    assert run.tasks["T-001"]["quality_flag"] is None
    proven(endpoint)
