"""Rework: a rejection goes on in the same task, worktree and conversation, and converges."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, reject, solve, submit, task, write
from support.light_gate import light_site
from support.messages_api import call

NOTES = "def note():\n    return 1\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


@pytest.fixture(scope="module")
def reworked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    site = light_site(tmp_path_factory.mktemp("site"))
    return site.run(
        site.bundle(1, 2),
        worker=[
            solve(1) + write("kept.py", NOTES) + submit(1),
            call("bash", command="cat kept.py"),
            submit(1),
            write("feature1.py", '"""Adds."""\n\n\ndef add1(x):\n    return x + 1\n') + submit(1),
            solve(2) + submit(2),
        ],
        evaluator=[
            reject(concern="Negative numbers are lost.", score=40),
            reject("weak_test", concern="No test for zero.", resolved=["C1", "C9"], score=55),
            accept(score=92, resolved=["C2"]),
            accept(score=95),
        ],
    )


def test_rework_happens_in_place(reworked: Run) -> None:
    assert reworked.code == 0
    assert reworked.types.count("context_reset") == 2
    bodies = [request.body for request in reworked.asked("worker")[:4]]
    for before, after in pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
    assert reworked.subjects[1:] == ["T-001: Add feature 1", "T-002: Add feature 2"]


def test_feedback_is_in_the_next_context(reworked: Run) -> None:
    told = reworked.last_user_text("worker", 1)
    assert "Concern C1: Negative numbers are lost." in told
    assert "Next step: Handle negative numbers." in told
    assert "What counts as resolved" in told
    assert "Concern C2: No test for zero." in reworked.last_user_text("worker", 3)


def test_the_worktree_is_kept_between_a_rejection_and_the_rework(reworked: Run) -> None:
    assert NOTES.strip() in reworked.last_user_text("worker", 2)
    assert git(reworked.site.repo, "show", f"{reworked.branch}:kept.py") == NOTES.strip()


def test_a_dependent_waits_while_its_upstream_is_reworked(reworked: Run) -> None:
    starts = [event["seq"] for event in reworked.events if event["type"] == "context_reset"]
    done = [event["seq"] for event in reworked.events if event["type"] == "task_done"]
    assert starts[0] < done[0] < starts[1]


def test_the_evaluator_is_shown_which_concerns_are_settled(reworked: Run) -> None:
    third = reworked.last_user_text("evaluator", 2)
    assert "- C1 (settled): reject acceptance_gap, score 40" in third
    assert "- C2: reject weak_test, score 55" in third
    assert "C9" not in third


def test_ids_nobody_knows_are_kept_and_mean_nothing(reworked: Run) -> None:
    assert reworked.ledger(1)[1]["resolved"] == ["C1", "C9"]


def test_convergence_is_visible_in_the_summary(reworked: Run) -> None:
    summary = json.loads((reworked.session / "summary.json").read_text(encoding="utf-8"))
    first = summary["tasks"]["T-001"]
    assert [note["verdict"] for note in first["history"]] == ["reject", "reject", "accept"]
    assert [note["score"] for note in first["history"]] == [40, 55, 92]
    assert (first["open_concerns"], first["verdict"]) == (0, "accept")


def test_every_verdict_names_the_model_that_gave_it(reworked: Run) -> None:
    assert {entry["model"] for entry in reworked.ledger(1)} == {"claude-sonnet-5-5"}


def test_at_the_cap_the_last_rejection_ends_the_task_and_keeps_its_work(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), write("more.py", NOTES) + submit(1)],
        evaluator=[reject("weak_test"), reject("scope_creep", concern="Too much.")],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="2",
    )
    assert run.code == 1
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"
    assert len(run.asked("worker")) == 2
    assert run.subjects[-1] == "FAILED (evaluator_cap) T-001: Add feature 1"
    assert "more.py" in git(site.repo, "ls-tree", "-r", "--name-only", run.branch)


@pytest.mark.parametrize(
    ("threshold", "score", "rejected"),
    [("0", None, False), ("0", 3, False), ("80", 79, True), ("80", 80, False), ("80", "81", False)],
)
def test_an_accept_must_reach_the_threshold(
    site: Site, threshold: str, score: object, rejected: bool
) -> None:
    first = accept() if score is None else accept(score=score, next_step="Thicken it.")
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[first, accept(score=100)],
        TILTH_EVAL_THRESHOLD=threshold,
    )
    assert run.code == 0
    assert [entry["below_threshold"] for entry in run.ledger(1)][:1] == [rejected]
    assert len(run.ledger(1)) == 1 + rejected


def test_with_a_threshold_a_verdict_without_a_score_is_unreadable(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[accept(), accept(score=88)],
        TILTH_EVAL_THRESHOLD="80",
    )
    assert run.code == 0
    assert "score is required" in run.of("evaluator_parse_error")[0]["error"]
    assert "score is required" in run.last_user_text("evaluator", 1)


def test_rejections_of_the_harness_neither_count_toward_stagnation_nor_break_it(
    site: Site,
) -> None:
    coverage = [{"criterion": "1", "addressed_by": "README.md"}]
    undo = call("bash", command="rm feature1.py")
    run = site.run(
        site.bundle(1),
        worker=[
            submit(1, ac_coverage=coverage),
            solve(1) + submit(1),
            submit(1),
            undo + submit(1, ac_coverage=coverage),
            solve(1) + submit(1),
        ],
        evaluator=[reject(), reject(), reject()],
    )
    assert [entry["source"] for entry in run.ledger(1)] == [
        "harness",
        "evaluator",
        "evaluator",
        "harness",
        "evaluator",
    ]
    assert run.of("stagnation") == [
        {"category": "acceptance_gap", "places": ["feature1.py"], "times": 3}
    ]
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"


def test_the_same_fault_elsewhere_is_no_stagnation(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1), submit(1)],
        evaluator=[reject(), reject(evidence=["other.py:f"]), reject(), accept()],
    )
    assert run.code == 0
    assert run.of("stagnation") == []


def test_a_dependent_sees_what_its_upstream_delivered(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2, tasks=[task(1), task(2, depends_on=["T-001"])]),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        evaluator=[accept(), accept()],
    )
    assert run.code == 0
    for role in ("worker", "evaluator"):
        shown = run.last_user_text(role, 1)
        assert "- T-001 Add feature 1\n  delivered: Added add1.\n  files: feature1.py" in shown
        assert "QUALITY BAR" not in shown
