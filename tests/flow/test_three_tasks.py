"""A whole run over real HTTP: a validator failure, a rejection, and three commits."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, reject, solution, solve, submit, write
from support.messages_api import call, say, think
from support.witness import bears_witness

from tilth.base.values import canonical

WRONG = "def add1(x):\n    return x - 1\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    site = Site.make(tmp_path_factory.mktemp("site"), {"AGENTS.md": "Use plain functions.\n"})
    worker = [
        think("I look first.") + call("bash", command="ls"),
        write("feature1.py", WRONG) + submit(1),
        write("feature1.py", solution(1)) + submit(1),
        call("read_file", path="feature1.py"),
        write("feature1.py", '"""Adds."""\n\n\n' + solution(1)) + submit(1),
        solve(2) + submit(2),
        say("I begin.") + call("grep", pattern="add", path="."),
        solve(3) + submit(3),
    ]
    evaluator = [reject(), accept(resolved=["C1"]), accept(), accept()]
    return site.run(site.bundle(1, 2, 3), worker=worker, evaluator=evaluator)


def test_it_ends_with_all_tasks_done(run: Run) -> None:
    assert run.code == 0
    assert {entry["status"] for entry in run.tasks.values()} == {"done"}
    assert run.checkpoint["status"] == "done"


def test_each_task_is_one_commit_on_the_session_branch(run: Run) -> None:
    assert run.subjects == [
        "seed: 3 task(s), 3 test(s)",
        "T-001: Add feature 1",
        "T-002: Add feature 2",
        "T-003: Add feature 3",
    ]


def test_a_second_witness_finds_the_commits_that_the_log_tells_of(run: Run) -> None:
    bears_witness(run)


def test_a_commit_says_which_session_task_and_verdict_it_stands_for(run: Run) -> None:
    body = git(run.site.repo, "log", "-1", "--format=%(trailers)", run.branch)
    assert f"Tilth-Session: {run.session.name}" in body
    assert "Tilth-Task: T-003" in body
    assert "Tilth-Verdict: accept" in body


def test_the_users_checkout_is_untouched(run: Run) -> None:
    assert git(run.site.repo, "status", "--porcelain") == ""
    assert git(run.site.repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_the_failing_validator_came_back_as_the_cases_result(run: Run) -> None:
    text = run.last_user_text("worker", 2)
    assert "test_adds" in text
    assert "failed" in text.lower()


def test_the_rejection_came_back_in_the_same_conversation(run: Run) -> None:
    text = run.last_user_text("worker", 3)
    assert "Negative numbers are not handled." in text
    assert "Handle negative numbers." in text
    first, later = run.asked("worker")[0].body, run.asked("worker")[4].body
    assert later["messages"][0] == first["messages"][0]
    assert later["system"] == first["system"]


def test_every_request_extends_the_one_before_byte_for_byte(run: Run) -> None:
    bodies = [request.body for request in run.asked("worker")][:5]
    for before, after in pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]


def test_thinking_is_echoed_as_it_came(run: Run) -> None:
    second = run.asked("worker")[1].body["messages"][1]["content"]
    assert second[0] == {
        "type": "thinking",
        "thinking": "I look first.",
        "signature": "c2lnbmF0dXJl",
    }


def test_the_ledger_holds_one_entry_for_each_verdict(run: Run) -> None:
    assert [entry["verdict"] for entry in run.ledger(1)] == ["reject", "accept"]
    assert run.ledger(1)[1]["resolved"] == ["C1"]
    assert [entry["id"] for entry in run.ledger(1)] == ["C1", "C2"]
    assert list(run.ledger(1)[0]) == [
        "id",
        "ts",
        "task_id",
        "iter",
        "verdict",
        "rejection_category",
        "concern",
        "evidence",
        "next_step",
        "score",
        "resolved",
        "source",
        "probe",
        "proof",
        "parse_failed",
        "below_threshold",
        "model",
        "tree",
        "diff_sha256",
        "validators",
    ]


def test_the_committed_tree_is_the_one_that_was_judged(run: Run) -> None:
    commit = run.tasks["T-001"]["commit"]
    tree = git(run.site.repo, "rev-parse", f"{commit}^{{tree}}")
    assert run.ledger(1)[-1]["tree"] == tree


def test_the_evaluator_sees_the_earlier_verdict_and_never_the_conversation(run: Run) -> None:
    again = run.asked("evaluator")[1].body
    text = json.dumps(again)
    assert "## Prior iterations on this task" in text
    assert "Negative numbers are not handled." in text
    assert "I look first." not in text
    assert len(again["messages"]) == 1


def test_the_worker_sees_the_conventions_and_its_task_named_once(run: Run) -> None:
    first = run.asked("worker")[0].body["messages"][0]["content"][0]["text"]
    assert "Use plain functions." in first
    lines = [line for line in first.splitlines() if line.startswith("# Your task:")]
    assert lines == ["# Your task: T-001 Add feature 1"]
    assert first.index("T-001 Add feature 1") < first.index("T-002 Add feature 2")


def test_the_log_counts_without_a_gap_and_ends_with_the_stop(run: Run) -> None:
    assert [event["seq"] for event in run.events] == list(range(1, len(run.events) + 1))
    assert run.events[0]["type"] == "session_start"
    assert run.events[-1]["type"] == "stop"
    assert run.of("stop")[0]["reason"] == "all_done"
    assert run.of("stop")[0]["exit_code"] == 0


def test_every_recorded_hash_is_that_of_the_request_as_it_was_sent(run: Run) -> None:
    recorded = [payload["request_sha256"] for payload in run.of("model_call")]
    sent = []
    for request in run.requests:
        body = {key: value for key, value in request.body.items() if key != "stream"}
        sent.append(hashlib.sha256(canonical(body).encode()).hexdigest())
    assert recorded == sent


def test_usage_and_cost_are_kept_by_role(run: Run) -> None:
    usage = run.checkpoint["usage"]
    assert usage["worker"]["calls"] == 8
    assert usage["evaluator"]["calls"] == 4
    assert usage["worker"]["cost_usd"] > 0


def test_a_passing_rework_is_counted(run: Run) -> None:
    assert run.tasks["T-001"]["rescue_count"] == 1
    assert run.tasks["T-002"]["rescue_count"] == 0


def test_the_files_of_a_session_are_private(run: Run) -> None:
    assert run.session.stat().st_mode & 0o777 == 0o700
    for name in ("events.jsonl", "prd.json", "checkpoint.json", "progress.txt", "summary.json"):
        assert (run.session / name).stat().st_mode & 0o777 == 0o600, name


def test_progress_tells_each_tasks_outcome(run: Run) -> None:
    lines = (run.session / "progress.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in lines] == ["T-001", "T-002", "T-003"]


def test_the_key_stands_nowhere_in_the_session(run: Run) -> None:
    files = [path for path in Path(run.session).rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"sk-test-0123456789abcdef" not in path.read_bytes(), path
