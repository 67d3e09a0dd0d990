"""The exchange between worker and evaluator: what each is told, and what counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import Site, accept, block, reject, solve, submit
from support.light_gate import light_site
from support.messages_api import call, say

from tilth.contract.prd import Plan, Task
from tilth.session.session import Session


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
