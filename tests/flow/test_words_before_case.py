"""A person speaks between the worker's case and its hearing: the word is the answer to the case."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, read_lines, solve, submit, write
from support.messages_api import Request, call
from support.replays import play, say_of, standings
from support.words import Endpoint, Killed, during, light_endpoint, played

from tilth.base import failpoint
from tilth.base.clock import SystemClock
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.session.inbox import Inbox
from tilth.session.speaking import Draft
from tilth.show.words import say_word

BETTER = '"""Adds one, below zero too."""\n\n\ndef add1(x):\n    return x + 1\n'
REASON, NOTE = "Not like this.", "Mind the zero."
JOBS = pytest.mark.parametrize("jobs", ["1", "2"])


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with light_endpoint(tmp_path) as one:
        yield one


def put(endpoint: Endpoint, verb: Verb, **fields: Any) -> Callable[[], None]:
    """Leave a word for the run."""
    word = OperatorWord(id=f"word-{verb}", verb=verb, **fields)
    return lambda: Inbox(endpoint.site.session()).put(word, SystemClock())


def say(endpoint: Endpoint, verb: Verb, text: str) -> str:
    """Say a word at rest and give what the person is told."""
    with contextlib.redirect_stderr(io.StringIO()) as told:
        environ = endpoint.site.environ("http://127.0.0.1:1")
        assert say_word("latest", Draft(verb, text, task="T-001"), environ=environ) == 0
    return told.getvalue()


def stopped_upon(endpoint: Endpoint, turn: Any, *tasks: int, **settings: str) -> Run:
    """Stop a run while the model gives this answer after its first: nothing of it is heard."""
    endpoint.script = played(worker=[solve(1), during(turn, put(endpoint, Verb.STOP))])
    run = endpoint.run(endpoint.site.bundle(*(tasks or (1,))), **settings)
    assert run.code == 130
    assert [event["type"] for event in run.events][-3:] == ["model_call", "operator_word", "stop"]
    return run


def results(request: Request) -> list[str]:
    """Give what a request's last message holds, block by block."""
    blocks = request.body["messages"][-1]["content"]
    return [str(block.get("content") or block.get("text")) for block in blocks]


def proven(site: Site) -> None:
    code, text = say_of(site)
    assert code == 0, text
    assert set(standings(play(site)).values()) <= {"equal", "unfinished"}


@JOBS
def test_a_reject_at_rest_is_the_answer_to_a_case_that_nobody_heard(
    endpoint: Endpoint, jobs: str
) -> None:
    stopped_upon(endpoint, submit(1), TILTH_JOBS=jobs)
    assert "goes back to work" in say(endpoint, Verb.REJECT, REASON)
    endpoint.script = played(worker=[write("feature1.py", BETTER), submit(1)], evaluator=[accept()])
    run = endpoint.resume(TILTH_JOBS=jobs)
    assert run.code == 0
    told = results(run.asked("worker")[2])
    assert len(told) == 1
    assert f"Concern C1: {REASON}" in told[0]
    assert len(run.asked("evaluator")) == len(run.of("case_submitted")) == 1
    assert [entry["source"] for entry in run.ledger(1)] == ["person", "evaluator"]
    assert (run.tasks["T-001"]["status"], run.tasks["T-001"]["round"]) == ("done", 1)
    proven(endpoint.site)


@JOBS
def test_a_note_at_rest_comes_before_a_case_that_nobody_heard(
    endpoint: Endpoint, jobs: str
) -> None:
    # The case was the last answer it may give: the note must not be what ends the task.
    caps = {"TILTH_JOBS": jobs, "TILTH_MAX_ITERATIONS_PER_TASK": "2"}
    stopped_upon(endpoint, submit(1), **caps)
    assert "reads it in its next message" in say(endpoint, Verb.TELL, NOTE)
    endpoint.script = played(worker=[submit(1)], evaluator=[accept()])
    run = endpoint.resume(**caps)
    assert run.code == 0
    given, note = results(run.asked("worker")[2])
    assert "call submit_case again if it still stands" in given
    assert note.endswith(NOTE)
    assert NOTE in run.last_user_text("evaluator", 0)
    assert len(run.asked("evaluator")) == len(run.of("case_submitted")) == 1
    proven(endpoint.site)


@pytest.mark.parametrize(
    "turn",
    [
        call("bash", command="touch never.txt") + submit(1),
        call("raise_blocker", reason="The test asks for another name."),
    ],
    ids=["a tool and a case", "a blocker"],
)
def test_a_reject_at_rest_answers_whatever_the_last_answer_asked_for(
    endpoint: Endpoint, turn: Any
) -> None:
    stopped_upon(endpoint, turn)
    say(endpoint, Verb.REJECT, REASON)
    endpoint.script = played(worker=[submit(1)], evaluator=[accept()])
    run = endpoint.resume()
    assert run.code == 0
    told = results(run.asked("worker")[2])
    assert REASON in told[-1]
    assert all("interrupted" in result for result in told[:-1])
    assert not run.of("blocker_raised")
    assert not (run.session / "workspace" / "never.txt").exists()
    proven(endpoint.site)


def test_all_that_was_said_at_rest_is_read_in_one_message(endpoint: Endpoint) -> None:
    stopped_upon(endpoint, submit(1))
    for verb, text in ((Verb.TELL, NOTE), (Verb.REJECT, REASON), (Verb.REJECT, "Nor like that.")):
        say(endpoint, verb, text)
    endpoint.script = played(worker=[submit(1)], evaluator=[accept()])
    run = endpoint.resume()
    assert run.code == 0
    rejected, note, again = results(run.asked("worker")[2])
    assert f"Concern C1: {REASON}" in rejected
    assert note.endswith(NOTE)
    assert "Concern C2: Nor like that." in again
    proven(endpoint.site)


@pytest.mark.parametrize(("verb", "text"), [(Verb.REJECT, REASON), (Verb.TELL, NOTE)])
def test_a_word_while_the_model_answers_comes_before_its_case(
    endpoint: Endpoint, verb: Verb, text: str
) -> None:
    saying = put(endpoint, verb, task="T-001", text=text)
    if verb is Verb.REJECT:
        saying = put(endpoint, verb, task="T-001", text=text, decision="reject")
    endpoint.script = played(
        worker=[solve(1), during(submit(1), saying), submit(1)], evaluator=[accept()]
    )
    run = endpoint.run(endpoint.site.bundle(1))
    assert run.code == 0
    assert text in results(run.asked("worker")[2])[-1]
    assert len(run.of("case_submitted")) == 1
    proven(endpoint.site)


def test_a_word_that_waits_when_a_resume_begins_comes_before_the_case(endpoint: Endpoint) -> None:
    stopped_upon(endpoint, submit(1))
    put(endpoint, Verb.REJECT, task="T-001", text=REASON, decision="reject")()
    endpoint.script = played(worker=[submit(1)], evaluator=[accept()])
    run = endpoint.resume()
    assert REASON in results(run.asked("worker")[2])[0]
    assert len(run.of("case_submitted")) == 1
    proven(endpoint.site)


def test_a_note_at_rest_takes_a_case_out_of_its_review(endpoint: Endpoint) -> None:
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[])
    assert endpoint.run(endpoint.site.bundle(1)).tasks["T-001"]["status"] == "pending_eval"
    say(endpoint, Verb.TELL, NOTE)
    endpoint.script = played(worker=[submit(1)], evaluator=[accept()])
    run = endpoint.resume()
    assert run.code == 0
    assert results(run.asked("worker")[2])[-1].endswith(NOTE)
    assert NOTE in run.last_user_text("evaluator", -1)
    proven(endpoint.site)


def test_a_reject_is_heard_before_work_lands_that_nobody_judges(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    sayings = [put(endpoint, Verb.REJECT, task="T-001", text=REASON, decision="reject")]

    def once_validated(reached: str) -> None:
        if reached == "after appending to events.jsonl" and sayings:
            log = read_lines(endpoint.site.session() / "events.jsonl")
            if log[-1]["type"] == "validator_run":
                sayings.pop()()

    monkeypatch.setattr(failpoint, "_armed", [once_validated])
    endpoint.script = played(worker=[solve(1), submit(1), submit(1)])
    run = endpoint.run(endpoint.site.bundle(1), TILTH_EVALUATE="false")
    assert (run.code, sayings) == (0, [])
    assert REASON in results(run.asked("worker")[2])[0]
    assert run.tasks["T-001"]["round"] == 1


def test_what_a_person_sent_back_is_not_accepted_for_want_of_calls(endpoint: Endpoint) -> None:
    saying = put(endpoint, Verb.REJECT, task="T-001", text=REASON, decision="reject")
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[during(accept(), saying)])
    caps = {"TILTH_ON_EXHAUSTED": "accept", "TILTH_MAX_ITERATIONS_PER_TASK": "2"}
    run = endpoint.run(endpoint.site.bundle(1), **caps)
    assert run.code == 1
    assert not run.of("task_force_accepted")
    endpoint.script = played(worker=[write("feature1.py", BETTER), submit(1)], evaluator=[accept()])
    again = endpoint.resume(**caps)
    assert again.code == 0
    assert REASON in again.asked("worker")[2].body["messages"][0]["content"][0]["text"]


def stands_last(endpoint: Endpoint, reached: str) -> str | None:
    """Name the kind of the event that was just written, if one was."""
    if reached != "after appending to events.jsonl":
        return None
    return str(read_lines(endpoint.site.session() / "events.jsonl")[-1]["type"])


def killed_after(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, kind: str, jobs: str) -> None:
    """Kill a run as soon as an event of this kind stands in its log."""

    def kill(reached: str) -> None:
        if stands_last(endpoint, reached) == kind:
            raise Killed

    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    with monkeypatch.context() as armed:
        armed.setattr(failpoint, "_armed", [kill])
        with pytest.raises(Killed):
            endpoint.run(endpoint.site.bundle(1), TILTH_JOBS=jobs)


# A note to a case under way, and the reject of what was accepted and had not landed.
@JOBS
@pytest.mark.parametrize(
    ("kind", "verb", "text"),
    [
        ("case_submitted", Verb.TELL, NOTE),
        ("validator_run", Verb.TELL, NOTE),
        ("evaluator_verdict", Verb.REJECT, REASON),
        ("ledger_appended", Verb.REJECT, REASON),
    ],
)
def test_a_word_at_rest_after_a_kill_is_played_where_it_was_read(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, kind: str, verb: Verb, text: str, jobs: str
) -> None:
    killed_after(endpoint, monkeypatch, kind, jobs)
    say(endpoint, verb, text)
    endpoint.script = played(worker=[write("feature1.py", BETTER), submit(1)], evaluator=[accept()])
    assert endpoint.resume(TILTH_JOBS=jobs).code == 0
    assert set(standings(play(endpoint.site)).values()) == {"equal"}


def test_a_reject_in_the_moment_an_accept_is_written_down_is_heard(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    saying = [put(endpoint, Verb.REJECT, task="T-001", text=REASON, decision="reject")]

    def once_accepted(reached: str) -> None:
        if saying and stands_last(endpoint, reached) == "ledger_appended":
            saying.pop()()

    monkeypatch.setattr(failpoint, "_armed", [once_accepted])
    work = [solve(1), submit(1), write("feature1.py", BETTER), submit(1)]
    endpoint.script = played(worker=work, evaluator=[accept(), accept()])
    run = endpoint.run(endpoint.site.bundle(1))
    assert run.code == 0
    assert REASON in results(run.asked("worker")[2])[0]
    assert len(run.of("commit")) == 1
    proven(endpoint.site)
