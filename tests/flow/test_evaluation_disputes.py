"""Disputes and answers: a blocker is ruled on once, and a person's answer amends the contract."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import resume
from support.flow_site import Run, Site, accept, block, read_lines, solve, submit
from support.light_gate import light_site
from support.messages_api import MessagesServer, by_role, call, say

from tilth.base.clock import SystemClock
from tilth.base.errors import UserError
from tilth.config.secrets import Mask
from tilth.contract.operator_word import Verb
from tilth.session.session import Session
from tilth.session.speaking import Draft
from tilth.show.words import say_word

BLOCKER = block("Criteria 1 and 2 contradict.", evidence="line 5")
AT_FAULT = call("submit_ruling", contract_at_fault=True, reason="They do.")
NOT_AT_FAULT = call("submit_ruling", contract_at_fault=False, reason="Read criterion 1 again.")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


def blocked(site: Site) -> Run:
    run = site.run(site.bundle(1), worker=[BLOCKER], evaluator=[AT_FAULT])
    assert run.code == 6
    return run


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Give a session that waits for an answer, and goes on waiting after every test."""
    return blocked(light_site(tmp_path_factory.mktemp("waiting")))


def say_to(site: Site, request: str, text: str, wanted: str = "latest") -> int:
    draft = Draft(Verb.ANSWER, text, request=request)
    return say_word(wanted, draft, environ=site.environ("http://127.0.0.1:1"))


def test_the_evaluator_rules_by_the_contract_and_never_sees_the_conversation(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[say("I think hard.") + BLOCKER, solve(1) + submit(1)],
        evaluator=[NOT_AT_FAULT, accept()],
    )
    assert run.code == 0
    (asked, judged) = run.asked("evaluator")
    assert asked.tools == {"submit_ruling"}
    assert "submit_verdict" not in asked.body["system"]
    shown = run.last_user_text("evaluator", 0)
    assert "Criteria 1 and 2 contradict." in shown
    assert "def test_adds" in shown
    assert "I think hard." not in shown
    assert "submit_verdict" in judged.tools
    assert "submit_ruling" not in judged.tools
    assert "Read criterion 1 again." in run.last_user_text("worker", 1)
    assert run.of("blocker_raised")[0]["contract_at_fault"] is False
    assert run.ledger(1)[0]["verdict"] == "accept"


def test_an_unreadable_ruling_means_not_at_fault_and_is_not_asked_for_again(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[BLOCKER, solve(1) + submit(1)],
        evaluator=[say("Perhaps."), accept()],
    )
    assert run.code == 0
    assert len(run.asked("evaluator")) == 2
    assert len(run.of("evaluator_parse_error")) == 1
    assert run.of("blocker_raised")[0]["contract_at_fault"] is False
    assert "the contract stands as written" in run.last_user_text("worker", 1)
    assert run.of("operator_request") == []


def test_a_blocker_that_cannot_be_read_goes_back_without_a_ruling(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[call("raise_blocker", reason=" "), solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    assert "reason is empty" in run.last_user_text("worker", 1)
    assert run.of("blocker_raised") == []


def test_an_answer_is_recorded_and_both_sides_see_it(site: Site) -> None:
    run = blocked(site)
    assert say_to(site, "r-001", "Criterion 2 is dropped.") == 0
    lines = read_lines(run.session / "operator-requests.jsonl")
    assert [(line["request"], line["kind"]) for line in lines] == [
        ("R-001", "blocked"),
        ("R-001", "answer"),
    ]
    last = run.events[-1]
    assert (last["type"], last["seq"], last["task_id"]) == (
        "operator_request",
        len(run.events),
        "T-001",
    )
    assert last["payload"]["text"] == "Criterion 2 is dropped."
    script = by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])
    with MessagesServer(script) as server:
        code = resume(None, {}, fresh=False, environ=site.environ(server.url))
    assert code == 0
    again = Run(site, code, tuple(server.requests))
    assert "Answered: Criterion 2 is dropped." in again.last_user_text("worker", 0)
    shown = again.last_user_text("evaluator", 0)
    assert "(they amend the contract)" in shown
    assert "Criterion 2 is dropped." in shown
    assert again.checkpoint["status"] == "done"


def test_a_blocked_task_that_is_done_without_an_answer_leaves_nothing_open(site: Site) -> None:
    blocked(site)
    script = by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])
    with MessagesServer(script) as server:
        assert resume(None, {}, fresh=False, environ=site.environ(server.url)) == 0


@pytest.mark.parametrize(
    ("request_id", "text", "said"),
    [
        ("R-002", "Yes.", r"has no request 'R-002'; it has: R-001"),
        ("R-001", "  \n", "the answer is empty"),
        ("R-001", "x" * 30_000, "more than 20,000 characters"),
    ],
)
def test_an_answer_that_fits_nothing_changes_nothing(
    waiting: Run, request_id: str, text: str, said: str
) -> None:
    before = (waiting.session / "events.jsonl").read_bytes()
    with pytest.raises(UserError, match=said) as caught:
        say_to(waiting.site, request_id, text)
    assert "\n" not in str(caught.value)
    assert (waiting.session / "events.jsonl").read_bytes() == before
    assert len(read_lines(waiting.session / "operator-requests.jsonl")) == 1


def test_a_question_is_answered_once(site: Site) -> None:
    blocked(site)
    say_to(site, "R-001", "First.")
    with pytest.raises(UserError, match=r"answered already: 'First\.'"):
        say_to(site, "R-001", "Second.")


def test_an_answer_to_a_session_that_is_worked_on_is_taken_up_once_it_is_free(site: Site) -> None:
    run = blocked(site)
    holder = Session.open_locked(site.sessions, run.session.name, clock=SystemClock(), mask=Mask())
    try:
        assert say_to(site, "R-001", "Now?") == 0
        assert not run.of("operator_word")
    finally:
        holder.release()
    site.resume(worker=[call("submit_case")], evaluator=[])
    assert [word["text"] for word in run.of("operator_word")] == ["Now?"]
    assert read_lines(run.session / "operator-requests.jsonl")[-1]["text"] == "Now?"


def test_a_key_in_an_answer_is_not_written_down(site: Site) -> None:
    run = blocked(site)
    key = site.environ("")["TILTH_API_KEY"]
    say_to(site, "R-001", f"Use {key} there.")
    for name in ("events.jsonl", "operator-requests.jsonl", "summary.json"):
        assert key not in (run.session / name).read_text(encoding="utf-8"), name
