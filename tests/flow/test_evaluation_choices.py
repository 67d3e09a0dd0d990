"""Choices of the user about evaluation: reviewers, no evaluator, and failing open."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.commands import resume
from support.flow_site import Site, accept, block, git, reject, solve, submit, task
from support.light_gate import LIGHT, light_site
from support.messages_api import MessagesServer, by_role, call, say

from tilth.base.errors import UserError

REVIEWER_KEY = "sk-second-reviewer-987654"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


def define(site: Site, text: str) -> None:
    home = site.root / "home"
    home.mkdir(exist_ok=True)
    (home / "evaluators.toml").write_text(text, encoding="utf-8")


def strict(url: str) -> str:
    return f'[strict]\nmodel = "claude-opus-5-5"\nbase_url = "{url}"\napi_key_env = "STRICT_KEY"\n'


def test_a_task_is_judged_by_the_reviewer_it_names(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [task(1, reviewer="strict"), task(2)]
    with MessagesServer([reject(score=20), accept(score=91)]) as second:
        define(site, strict(second.url))
        run = site.run(
            site.bundle(1, 2, tasks=tasks),
            worker=[solve(1) + submit(1), submit(1), solve(2) + submit(2)],
            evaluator=[accept()],
            STRICT_KEY=REVIEWER_KEY,
        )
    assert run.code == 0
    assert [request.body["model"] for request in second.requests] == ["claude-opus-5-5"] * 2
    assert second.requests[0].headers["authorization"] == f"Bearer {REVIEWER_KEY}"
    assert len(run.asked("evaluator")) == 1
    assert [entry["model"] for entry in run.ledger(1)] == ["claude-opus-5-5"] * 2
    assert [entry["model"] for entry in run.ledger(2)] == ["claude-sonnet-5-5"]
    start = run.of("session_start")[0]
    assert start["reviewers"] == {"strict": "claude-opus-5-5"}
    assert start["unknown_reviewers"] == []
    assert "strict: claude-opus-5-5" in capsys.readouterr().out
    for path in run.session.rglob("*"):
        if path.is_file():
            assert REVIEWER_KEY.encode() not in path.read_bytes(), path


def test_a_named_reviewer_rules_on_blockers_too(site: Site) -> None:
    ruling = call("submit_ruling", contract_at_fault=True, reason="So it is.")
    with MessagesServer([ruling]) as second:
        define(site, strict(second.url))
        run = site.run(
            site.bundle(1, tasks=[task(1, reviewer="strict")]),
            worker=[block("It cannot be.")],
            STRICT_KEY=REVIEWER_KEY,
        )
    assert run.code == 6
    assert len(second.requests) == 1


def test_a_reviewer_nobody_defined_is_said_once_and_the_default_judges(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [task(1, reviewer="ghost"), task(2, reviewer="ghost")]
    run = site.run(
        site.bundle(1, 2, tasks=tasks),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        evaluator=[accept(), accept()],
    )
    assert run.code == 0
    assert run.of("session_start")[0]["unknown_reviewers"] == ["ghost"]
    assert capsys.readouterr().out.count("reviewer 'ghost' is not defined") == 1


def test_a_repository_can_name_a_reviewer_and_never_define_one(tmp_path: Path) -> None:
    own = '[strict]\nmodel = "claude-haiku-5-5"\n'
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT, "evaluators.toml": own})
    run = site.run(
        site.bundle(1, tasks=[task(1, reviewer="strict")]),
        worker=[solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert run.of("session_start")[0]["unknown_reviewers"] == ["strict"]
    assert run.ledger(1)[0]["model"] == "claude-sonnet-5-5"


def test_a_reviewers_key_leaves_the_environment(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.commands import start

    define(site, strict("http://127.0.0.1:1"))
    target = site.bundle(1, tasks=[task(1, reviewer="strict")])
    with MessagesServer([call("bash", command="env")]) as server:
        for name, value in site.environ(server.url, STRICT_KEY=REVIEWER_KEY).items():
            monkeypatch.setenv(name, value)
        start(target, site.repo, {}, new=True)
    assert "STRICT_KEY" not in os.environ


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[strict\n", "not TOML"),
        ('[strict]\nmodel = "m"\nurl = "x"\n', "'url' is not known"),
        (strict("http://127.0.0.1:1"), "takes its key from STRICT_KEY, which is not set"),
    ],
)
def test_a_bad_file_of_reviewers_stops_before_anything_is_created(
    site: Site, text: str, said: str
) -> None:
    define(site, text)
    with pytest.raises(UserError, match=said):
        site.run(site.bundle(1, tasks=[task(1, reviewer="strict")]), worker=[])
    assert not site.sessions.exists()
    assert git(site.repo, "branch", "--list", "session/*") == ""


def test_the_same_model_as_the_worker_is_said_once_and_recorded(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    define(site, '[twin]\nmodel = "claude-sonnet-5-5"\n')
    run = site.run(
        site.bundle(1, tasks=[task(1, reviewer="twin")]),
        worker=[solve(1) + submit(1)],
        evaluator=[accept()],
        TILTH_EVALUATOR_MODEL="claude-opus-5-5",
    )
    start = run.of("session_start")[0]
    assert (start["same_model"], start["same_reviewers"]) == (False, ["twin"])
    assert capsys.readouterr().out.count("a weaker second look") == 1
    assert run.ledger(1)[0]["model"] == "claude-sonnet-5-5"


def test_without_an_evaluator_everything_says_so(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], flags={"evaluate": False})
    assert run.code == 0
    assert run.asked("evaluator") == []
    assert run.ledger(1) == []
    assert run.of("session_start")[0]["evaluate"] is False
    assert "Tilth-Verdict: not-evaluated" in git(site.repo, "log", "-1", "--format=%B", run.branch)
    summary = json.loads((run.session / "summary.json").read_text(encoding="utf-8"))
    assert summary["evaluate"] is False
    assert summary["tasks"]["T-001"]["verdict"] == "not-evaluated"
    told = capsys.readouterr().out
    assert "NO EVALUATOR" in told
    assert "1 done, not evaluated" in told
    progress = (run.session / "progress.txt").read_text(encoding="utf-8")
    assert progress == "T-001 done (not evaluated): Add feature 1\n"


def test_failing_open_lets_an_unreadable_verdict_pass_and_everything_says_so(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[say("Fine."), say("Really fine.")],
        TILTH_FAIL_OPEN_ON_UNPARSED="true",
    )
    assert run.code == 0
    assert run.of("session_start")[0]["fail_open"] is True
    (entry,) = run.ledger(1)
    assert (entry["verdict"], entry["parse_failed"], entry["source"]) == (
        "accept",
        True,
        "harness",
    )
    assert "Tilth-Verdict: unparsed" in git(site.repo, "log", "-1", "--format=%B", run.branch)
    (done,) = run.of("task_done")
    assert (done["evaluated"], done["verdict"]) == (False, "unparsed")
    summary = json.loads((run.session / "summary.json").read_text(encoding="utf-8"))
    assert (summary["fail_open"], summary["tasks"]["T-001"]["verdict"]) == (True, "unparsed")
    told = capsys.readouterr().out
    assert "FAIL OPEN" in told
    assert "1 done, verdict unread" in told


def test_failing_open_does_not_touch_a_verdict_that_can_be_read(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[reject(), accept()],
        TILTH_FAIL_OPEN_ON_UNPARSED="true",
    )
    assert [entry["verdict"] for entry in run.ledger(1)] == ["reject", "accept"]


def test_a_run_stopped_by_unreadable_verdicts_goes_on_with_an_evaluator_that_can_be_read(
    site: Site,
) -> None:
    stopped = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[say("?")] * 6,
    )
    assert stopped.code == 5
    script = by_role(
        worker=[solve(1) + submit(1), submit(1)], evaluator=[say("?"), say("?"), accept()]
    )
    with MessagesServer(script) as server:
        code = resume(None, {}, fresh=False, environ=site.environ(server.url))
    assert code == 0
    assert [entry["parse_failed"] for entry in stopped.ledger(1)] == [True] * 4 + [False]
