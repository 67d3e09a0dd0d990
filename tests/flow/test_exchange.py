"""The exchange between worker and evaluator: what each is told, and what counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, block, git, reject, solve, submit, write
from support.light_gate import light_site
from support.messages_api import Answer, call, say
from support.replays import play, standings
from support.replays import say_of as say_of_replay
from support.words import command

from tilth.contract.prd import Plan, Task
from tilth.contract.rules import Rules
from tilth.session.parts import Parts, open_parts
from tilth.session.session import Session

ONE_LINE = "def add1(x): return x + 1\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


def test_whoever_judges_is_called_the_evaluator_in_all_that_a_model_is_sent(site: Site) -> None:
    stands = call("submit_ruling", contract_at_fault=False, reason="It can be met.")
    run = site.run(
        site.bundle(1),
        worker=[block("Unclear."), solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[stands, reject(), say("?"), say("?"), accept(resolved=["C1"])],
    )
    assert run.code == 0
    sent = json.dumps([request.body for request in run.requests]).lower()
    assert "evaluator" in sent
    assert "reviewer" not in sent


def test_a_fresh_start_shows_earlier_verdicts_as_prior_iterations(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[reject()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
    )
    assert run.code == 1
    again = site.resume(worker=[solve(1) + submit(1)], evaluator=[accept(resolved=["C1"])])
    assert again.code == 0
    first = again.last_user_text("worker", 0)
    assert "## Prior iterations on this task\n\n- C1: reject acceptance_gap" in first


def test_a_verdict_that_could_not_be_read_names_nothing_to_fix(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[say("?"), say("?"), accept()],
    )
    assert run.code == 0
    told = run.last_user_text("worker", 1)
    assert "could not be read" in told
    assert "Nothing was found against your work" in told
    assert "fix the named concern" not in told


def statuses(site: Site, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give every status the first task is saved with, in order, once each."""
    seen: list[str] = []
    save = Session.save_task

    def noted(self: Session, task: Task) -> Plan:
        if seen[-1:] != [str(task.status)]:
            seen.append(str(task.status))
        return save(self, task)

    monkeypatch.setattr(Session, "save_task", noted)
    return seen


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rejection_that_ends_the_task_sends_nothing_back_to_work(
    site: Site, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    seen = statuses(site, monkeypatch)
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[reject()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
        TILTH_JOBS=jobs,
    )
    assert run.code == 1
    assert run.tasks["T-001"]["rescue_count"] == 0
    assert seen == ["in_progress", "pending_eval", "failed"]


def test_what_goes_back_to_work_is_counted(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[reject(), reject("weak_test"), reject("scope_creep")],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="3",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 4
    assert run.tasks["T-001"]["rescue_count"] == 2


PRAISE = "The code is clean and right."
STEP = "Handle negative numbers."


def below_the_bar(site: Site, *evaluator: Answer) -> Run:
    return site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[*evaluator, accept(score=90, resolved=["C1"])],
        TILTH_EVAL_THRESHOLD="60",
    )


def test_an_accept_below_the_bar_hands_its_next_step_to_the_worker(site: Site) -> None:
    run = below_the_bar(site, accept(score=50, concern=PRAISE, next_step=STEP))
    assert run.code == 0
    assert "the bar is 60" in run.last_user_text("evaluator", 0)
    told = run.last_user_text("worker", 1)
    assert f"Next step (C1): {STEP}" in told
    assert PRAISE not in told
    entry = run.ledger(1)[0]
    assert (entry["below_threshold"], entry["next_step"], entry["concern"]) == (True, STEP, PRAISE)
    assert f"  said: {PRAISE}\n  next step: {STEP}" in run.last_user_text("evaluator", 1)
    # It was asked for, so it is no contradiction.
    report = json.loads(say_of(site, "report", "latest", "--json"))
    assert "contradicted" not in json.dumps(report)


def test_a_next_step_below_the_bar_is_asked_for_once_more(site: Site) -> None:
    lacks = accept(score=50, concern=PRAISE)
    run = below_the_bar(site, lacks, accept(score=50, concern=PRAISE, next_step=STEP))
    assert run.code == 0
    assert "- next_step: a score below the bar of 60" in run.last_user_text("evaluator", 1)
    assert [tool["lacking"] for tool in run.of("evaluator_tool")] == [["next_step"]]
    assert run.of("evaluator_parse_error") == []
    assert f"Next step (C1): {STEP}" in run.last_user_text("worker", 1)


def test_praise_below_the_bar_is_no_open_point(site: Site) -> None:
    lacks = accept(score=50, concern=PRAISE)
    run = below_the_bar(site, lacks, lacks)
    assert run.code == 0
    told = run.last_user_text("worker", 1)
    assert "Concern C1" not in told
    assert f"It named no change that would raise it, and said: {PRAISE}" in told
    entry = run.ledger(1)[0]
    assert (entry["next_step"], entry["concern"]) == (PRAISE, PRAISE)
    summary = json.loads((run.session / "summary.json").read_text(encoding="utf-8"))
    assert summary["tasks"]["T-001"]["open_concerns"] == 0


@pytest.mark.parametrize(
    ("score", "read", "passes"),
    [
        (59.5, 59, False),
        (59.99, 59, False),
        ("60", 60, True),
        ("SCORE: **72**", 72, True),
        ("72/100", 72, True),
        ("72%", 72, True),
        ("**59.9**", 59, False),
    ],
)
def test_a_score_is_read_as_written_and_never_rounded_up(
    site: Site, score: object, read: int, passes: bool
) -> None:
    run = below_the_bar(site, accept(score=score, next_step=STEP))
    assert run.of("evaluator_parse_error") == []
    first = run.ledger(1)[0]
    assert (first["score"], first["verdict"]) == (read, "accept" if passes else "reject")


def test_a_verdict_with_an_empty_concern_is_unreadable(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[accept(concern=" "), accept()],
    )
    assert run.code == 0
    assert "concern is empty" in run.of("evaluator_parse_error")[0]["error"]


def say_of(site: Site, *args: str) -> str:
    done = command(site, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reviewed_twice(site: Site, *last: Answer) -> Run:
    """Reject twice for two reasons, then give the last words."""
    rejects = [
        reject("weak_test", concern="No test for zero.", evidence=["a.py"]),
        reject(concern="Negative numbers are lost."),
    ]
    return site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[*rejects, *last],
    )


def test_an_accept_that_leaves_an_open_concern_unmentioned_is_asked_once_more(site: Site) -> None:
    run = reviewed_twice(site, accept(resolved=["C2"]), accept(resolved=["C1", "C2"]))
    assert run.code == 0
    assert "- resolved: C1 is still open" in run.last_user_text("evaluator", 3)
    assert [tool["lacking"] for tool in run.of("evaluator_tool")] == [["resolved"]]
    assert run.ledger(1)[2]["resolved"] == ["C1", "C2"]
    assert "since settled" in say_of(site, "report", "latest")


def test_what_an_accept_never_mentions_is_recorded_as_that(site: Site) -> None:
    run = reviewed_twice(site, accept(resolved=["C2"]), accept(resolved=["C2"]))
    assert run.code == 0
    assert len(run.asked("evaluator")) == 4
    assert "since settled" not in say_of(site, "report", "latest")
    (told,) = json.loads(say_of(site, "report", "latest", "--json"))["tasks"]
    reasons = {reason["ground"]: reason["text"] for reason in told["reasons"]}
    said = "the accept does not say that it is settled: C1 No test for zero."
    assert reasons["unsettled"] == said
    summary = json.loads((run.session / "summary.json").read_text(encoding="utf-8"))
    assert summary["tasks"]["T-001"]["open_concerns"] == 1


def test_whatever_is_missing_is_asked_for_together(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[
            reject(score=20),
            accept(score=50, resolved=[]),
            accept(score=50, next_step=STEP, resolved=["C1"]),
            accept(score=80, resolved=["C2"]),
        ],
        TILTH_EVAL_THRESHOLD="60",
    )
    assert run.code == 0
    assert [tool["lacking"] for tool in run.of("evaluator_tool")] == [["next_step", "resolved"]]
    assert [entry["score"] for entry in run.ledger(1)] == [20, 50, 80]


def test_a_reject_is_asked_for_nothing_it_leaves_open(site: Site) -> None:
    run = reviewed_twice(site, accept(resolved=["C1", "C2"]))
    assert run.code == 0
    assert len(run.asked("evaluator")) == 3


def test_an_open_concern_is_shown_however_old_it_is(site: Site) -> None:
    """At the eighth review the first concerns are shown, if nobody has settled them."""
    concerns = [
        reject("weak_test", concern=f"Concern number {n}.", evidence=[f"{n}.py"], resolved=settled)
        for n in range(1, 8)
        for settled in ([f"C{n - 1}"] if n > 3 else [],)
    ]
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), *[submit(1)] * 7],
        evaluator=[*concerns, accept(resolved=["C1", "C2", "C7"])],
    )
    assert run.code == 0
    told = run.last_user_text("evaluator", 7)
    assert "- C1: reject weak_test" in told
    assert "- C2: reject weak_test" in told
    assert "Concern number 3." in told
    assert "- C3 (settled)" in told


def test_a_session_begun_before_is_held_to_the_rules_it_was_begun_with(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for nothing that was not asked for then, and its replay is as true as it was."""

    @contextmanager
    def earlier(*args: Any, **how: Any) -> Iterator[Parts]:
        with open_parts(*args, **how) as parts:
            yield replace(parts, rules=Rules.CHALLENGE)

    monkeypatch.setattr("tilth.session.start.open_parts", earlier)
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), write("feature1.py", ONE_LINE) + submit(1)],
        evaluator=[
            reject(score=20),
            accept(score=50, resolved=[], concern=PRAISE),
            accept(score=59.5, resolved=[], concern=""),
        ],
        TILTH_EVAL_THRESHOLD="60",
    )
    assert run.code == 0
    assert len(run.asked("evaluator")) == 3
    assert [entry["score"] for entry in run.ledger(1)] == [20, 50, 60]
    assert say_of_replay(site)[0] == 0
    assert standings(play(site)) == {"T-001": "equal"}


def test_a_replay_asks_again_what_was_asked(site: Site) -> None:
    run = reviewed_twice(site, accept(resolved=["C2"]), accept(resolved=["C1", "C2"]))
    assert run.code == 0
    code, text = say_of_replay(site)
    assert (code, "7/7 requests identical" in text) == (0, True)
    assert standings(play(site)) == {"T-001": "equal"}


NO_PROOF = "def test_it():\n    assert True\n"


@pytest.mark.parametrize(("turns", "tools"), [(3, "true"), (12, "true"), (12, "false")])
def test_a_review_costs_its_turns_and_three_calls_at_worst(
    site: Site, turns: int, tools: str
) -> None:
    look = call("read_file", path="feature1.py")
    looks, probes = (
        ([look] * (turns - 1), [reject(probe=NO_PROOF, score=1)]) if tools == "true" else ([], [])
    )
    worst = [*looks, accept(score=1), *probes, say("?"), say("?"), look]
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=worst,
        TILTH_EVAL_THRESHOLD="60",
        TILTH_MAX_EVALUATOR_TURNS=str(turns),
        TILTH_EVALUATOR_TOOLS=tools,
    )
    assert [entry["parse_failed"] for entry in run.ledger(1)] == [True]
    assert len(run.asked("evaluator")) == (turns + 3 if tools == "true" else 3)


def test_score_gated_work_lands_honestly_after_two_tries(site: Site) -> None:
    """The recipe of the cookbook."""
    low = accept(score=50, next_step=STEP)
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[low, low],
        TILTH_EVAL_THRESHOLD="60",
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="2",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 4
    task = run.tasks["T-001"]
    expected = ("done", "below-bar", 50, 1)
    assert (task["status"], task["quality_flag"], task["score"], task["rescue_count"]) == expected
    trailers = git(site.repo, "log", "-1", "--format=%(trailers)", run.branch)
    assert "Tilth-Quality: below-bar" in trailers
    assert [request["kind"] for request in run.of("operator_request")] == ["below_bar"]
