"""Verdicts that can be run: a concern found outside the diff, proven, half mended, mended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.evidence_story import (
    CONCERN,
    FILES,
    LIGHT_FILES,
    LOOK,
    PROBE,
    TRY,
    WORKER,
    proven_reject,
    settled,
)
from support.flow_site import (
    Run,
    Site,
    accept,
    git,
    reject,
    solution,
    solve,
    submit,
    write,
)
from support.messages_api import call
from support.replays import say_of


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.make(tmp_path, LIGHT_FILES)


def told(run: Run) -> str:
    """Give the first thing the worker was told about a case."""
    results = [r for r in run.of("tool_result") if r["name"] == "submit_case"]
    return str(results[0]["content"])


def test_a_fault_outside_the_diff_is_proven_half_mended_refused_and_mended(
    tmp_path: Path,
) -> None:
    site = Site.make(tmp_path, FILES)
    run = site.run(
        site.bundle(1),
        worker=WORKER,
        evaluator=[LOOK, TRY, proven_reject(), settled()],
        TILTH_MUTATION_SECONDS="60",
    )
    assert run.code == 0
    assert [entry["source"] for entry in run.ledger(1)] == ["evaluator", "harness", "evaluator"]
    assert [entry["id"] for entry in run.ledger(1)] == ["C1", "C2", "C3"]
    first, refused, last = run.ledger(1)
    assert (first["proof"], first["probe"]) == ("proven", PROBE)
    assert (refused["verdict"], refused["proof"]) == ("reject", "proven")
    assert "C1" in refused["concern"]
    assert (last["verdict"], last["proof"], last["resolved"]) == ("accept", None, ["C1"])
    looks = run.of("evaluator_tool")
    assert [look["name"] for look in looks] == ["read_file", "run_probe"]
    assert "LIMIT = 100" in looks[0]["content"]
    assert "assert 501 == 100" in looks[1]["content"]
    runs = [(each["phase"], each["outcome"]) for each in run.of("probe_run")]
    assert runs == [("verdict", "failed"), ("case", "failed"), ("case", "passed")]
    assert [each["concerns"] for each in run.of("probe_failed")] == [["C1"]]
    assert len(run.asked("evaluator")) == 4
    results = [r["content"] for r in run.of("tool_result") if r["name"] == "submit_case"]
    for text in results:
        assert PROBE.strip() in text
        assert "== 100" in text
    asked = run.last_user_text("evaluator", 3)
    assert "settled by proof" in asked
    assert "proven: a test was run on that change and failed" in asked
    assert CONCERN in asked
    assert "Faults planted in the change" in asked
    mutants = run.of("mutants")
    assert len(mutants) == 2
    assert all(each["tried"] == each["killed"] + len(each["survived"]) for each in mutants)
    assert any(re.match(r"feature1.py:\d+ ", item) for each in mutants for item in each["survived"])
    requests = len(run.of("model_call"))
    code, said = say_of(site)
    assert code == 0
    assert f"{requests}/{requests} requests identical" in said


def test_the_budget_grows_with_a_refusal_by_machine_and_the_cap_does_not_count_it(
    site: Site,
) -> None:
    run = site.run(
        site.bundle(1),
        worker=WORKER,
        evaluator=[proven_reject(), settled()],
        TILTH_MAX_ITERATIONS_PER_TASK="4",
        TILTH_ITERATION_BONUS_PER_REJECTION="1",
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="2",
    )
    assert run.code == 0
    assert run.of("task_done")[0]["iterations"] == 6


def test_after_two_refusals_the_evaluator_decides_and_may_withdraw_its_probe(site: Site) -> None:
    half = [write("feature1.py", f"def add1(x):\n    return x + 1 + {n} * 0\n") for n in (1, 2, 3)]
    worker = [solve(1), submit(1)]
    for change in half:
        worker += [change, submit(1)]
    run = site.run(site.bundle(1), worker=worker, evaluator=[proven_reject(), settled()])
    assert run.code == 0
    sources = [entry["source"] for entry in run.ledger(1)]
    assert sources == ["evaluator", "harness", "harness", "evaluator"]
    assert len(run.of("probe_failed")) == 2
    asked = run.last_user_text("evaluator", 1)
    assert "C1: its probe still does not pass" in asked
    assert "withdraw" in asked


def test_the_same_tree_again_is_refused_from_the_record_and_then_judged(site: Site) -> None:
    worker = [solve(1), submit(1), submit(1), submit(1), submit(1)]
    run = site.run(site.bundle(1), worker=worker, evaluator=[proven_reject(), settled()])
    assert run.code == 0
    assert len(run.of("probe_run")) == 1
    assert len(run.of("probe_failed")) == 2


def test_a_probe_that_passes_is_told_once_and_the_concern_may_be_dropped(site: Site) -> None:
    passes = PROBE.replace("add1(500) == 100", "add1(1) == 2")
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[proven_reject(probe=passes), accept()],
    )
    assert run.code == 0
    assert [entry["verdict"] for entry in run.ledger(1)] == ["accept"]
    assert "does not prove the concern: it passes" in run.last_user_text("evaluator", 1)


def test_a_concern_whose_probe_does_not_fail_stands_as_unproven(site: Site) -> None:
    probe = "#" * 100_000
    run = site.run(
        site.bundle(1),
        worker=[
            solve(1),
            submit(1),
            write("feature1.py", "def add1(x):\n    return 1 + x\n"),
            submit(1),
        ],
        evaluator=[proven_reject(probe=probe), proven_reject(probe=probe), accept()],
    )
    assert run.code == 0
    assert run.ledger(1)[0]["proof"] == "unproven"
    assert len(run.ledger(1)[0]["probe"]) < 70_000
    assert [each["outcome"] for each in run.of("probe_run")] == ["too_long"]
    assert run.of("probe_failed") == []
    assert "not proven" in told(run)


def test_nothing_a_probe_does_costs_the_worker_an_iteration_or_ends_the_run(site: Site) -> None:
    tests = {
        "it passes": "from feature1 import add1\n\n\ndef test_it():\n    assert add1(1) == 2\n",
        "pytest ran no test of it": "this is no Python (",
        "no test of it": "x = 1\n",
        "did not end in time": "import time\n\n\ndef test_it():\n    time.sleep(600)\n",
        "longer than": "#" * 100_000,
        "it fails": (
            "import os\nimport pathlib\n\n\ndef test_it():\n    os.fork() or os._exit(0)\n"
            "    pathlib.Path('feature1.py').write_text('')\n"
            "    assert 'key' in [n for n in os.environ if 'KEY' in n or 'TOKEN' in n]\n"
        ),
    }
    looks = [call("run_probe", test=test) for test in tests.values()]
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[*looks, accept()],
        TILTH_VALIDATOR_TIMEOUT_SECONDS="20",
    )
    assert run.code == 0
    said = [look["content"] for look in run.of("evaluator_tool")]
    assert [words in text for words, text in zip(tests, said, strict=True)] == [True] * len(tests)
    assert "in []" in said[-1]
    assert run.of("task_done")[0]["iterations"] == 2
    assert git(site.repo, "show", f"{run.branch}:feature1.py") == solution(1).strip()


def test_a_concern_without_a_probe_is_neither_proven_nor_unproven(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1), write("notes.md", "n"), submit(1)],
        evaluator=[reject(), accept()],
    )
    assert (run.ledger(1)[0]["probe"], run.ledger(1)[0]["proof"]) == (None, None)


def test_an_accept_with_a_probe_is_not_taken_at_its_word(site: Site) -> None:
    run = site.run(
        site.bundle(1), worker=[solve(1), submit(1)], evaluator=[accept(probe=PROBE), accept()]
    )
    assert "an accept carries no probe" in run.of("evaluator_parse_error")[0]["error"]
    assert run.code == 0


def test_worker_tools_are_refused_to_the_evaluator_and_cost_the_worker_nothing(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[
            call("bash", command="rm -rf ."),
            call("write_file", path="feature1.py", content="x"),
            call("run_probe"),
            call("read_file", path="../../etc/passwd"),
            call("no such tool"),
            accept(),
        ],
    )
    assert run.code == 0
    looks = run.of("evaluator_tool")
    assert len(looks) == 5
    assert all(look["is_error"] for look in looks)
    assert run.of("task_done")[0]["iterations"] == 2
    assert run.of("evaluator_parse_error") == []


def test_the_last_turn_asks_for_the_verdict_alone_and_a_look_there_is_not_run(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[LOOK, LOOK, LOOK, accept()],
        TILTH_MAX_EVALUATOR_TURNS="3",
    )
    assert run.code == 0
    looks = [look["content"] for look in run.of("evaluator_tool")]
    assert ["last look" in content for content in looks] == [False, True]
    assert len(run.of("evaluator_parse_error")) == 1
    tools = [request.body["tools"] for request in run.asked("evaluator")]
    assert all(offered == tools[0] for offered in tools)


def test_an_evaluator_that_never_rules_fails_closed_and_the_run_goes_on(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1), submit(1)],
        evaluator=[LOOK, LOOK, LOOK, accept()],
        TILTH_MAX_EVALUATOR_TURNS="2",
    )
    assert run.code == 0
    assert [entry["parse_failed"] for entry in run.ledger(1)] == [True, False]


def test_two_verdicts_in_one_answer_are_unreadable_with_tools_too(site: Site) -> None:
    run = site.run(
        site.bundle(1), worker=[solve(1), submit(1)], evaluator=[accept() + accept(), accept()]
    )
    assert run.code == 0
    assert len(run.of("evaluator_parse_error")) == 1


def test_a_verdict_beside_a_look_is_unreadable(site: Site) -> None:
    run = site.run(
        site.bundle(1), worker=[solve(1), submit(1)], evaluator=[LOOK + accept(), accept()]
    )
    assert len(run.of("evaluator_parse_error")) == 1
    assert run.of("evaluator_tool") == []


def test_without_tools_the_evaluator_has_the_verdict_alone_and_no_probe_in_it(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        evaluator=[accept()],
        TILTH_EVALUATOR_TOOLS="false",
    )
    body = run.asked("evaluator")[0].body
    assert [tool["name"] for tool in body["tools"]] == ["submit_verdict"]
    assert "probe" not in body["tools"][0]["input_schema"]["properties"]
    assert "run_probe" not in str(body["system"])


def test_with_tools_the_evaluator_has_exactly_these(site: Site) -> None:
    run = site.run(site.bundle(1), worker=[solve(1), submit(1)], evaluator=[accept()])
    body = run.asked("evaluator")[0].body
    names = [tool["name"] for tool in body["tools"]]
    assert names == ["read_file", "glob", "grep", "run_probe", "submit_verdict"]
    assert "probe" in body["tools"][-1]["input_schema"]["properties"]


def test_a_key_in_the_tree_reaches_neither_the_evaluator_nor_the_log(site: Site) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    run = site.run(
        site.bundle(1),
        worker=[solve(1), write("leak.txt", f"KEY={key}\n"), submit(1)],
        evaluator=[call("read_file", path="leak.txt"), accept()],
    )
    assert run.of("evaluator_tool")[0]["is_error"] is False
    assert key not in run.of("evaluator_tool")[0]["content"]


def test_the_case_stands_after_the_diff_and_is_marked_as_a_claim(site: Site) -> None:
    run = site.run(site.bundle(1), worker=[solve(1), submit(1)], evaluator=[accept()])
    asked = run.last_user_text("evaluator", 0)
    assert asked.index("def add1") < asked.index("(a claim: test it)") < asked.index("Added add1.")


def test_without_an_evaluator_mutants_are_still_told_for_the_report(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1), submit(1)],
        TILTH_EVALUATE="false",
        TILTH_MUTATION_SECONDS="60",
    )
    assert run.code == 0
    assert run.of("mutants")[0]["tried"] > 0
