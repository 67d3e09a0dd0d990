"""`tilth eval-check` against scripted evaluators: one that is right, and ones that are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Site, accept, reject
from support.messages_api import Answer, MessagesServer, Request, Whole, error, say

from tilth.base.errors import UserError
from tilth.evalcheck.planted import planted
from tilth.evalcheck.run import eval_check


def shown(diff: str) -> str:
    """Give a diff as evaluators are shown it: without git's index lines."""
    lines = diff.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("index "))


CHANGES = {
    shown((change.record.right if change.is_right else change.record.wrong).diff): change
    for change in planted()
}


def told(request: Request) -> str:
    return str(request.body["messages"][0]["content"][0]["text"])


def ideal(request: Request) -> Answer:
    """Judge as a perfect evaluator would."""
    change = next(known for diff, known in CHANGES.items() if diff in told(request))
    if change.is_right:
        return accept(score=95)
    return reject(str(change.pair.category), concern=change.pair.fault, score=30)


class Check:
    """Run the command against a script and keep what came of it."""

    def __init__(
        self,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        script: Callable[[Request], Answer | Whole],
        **given: Any,
    ) -> None:
        settings = {key: given.pop(key) for key in list(given) if key.startswith("TILTH_")}
        self.site = Site(tmp_path)
        with MessagesServer(script) as server:
            environ = self.site.environ(server.url, **settings)
            options = {"as_json": True, "repeat": 1, "reviewer": None, **given}
            self.code = eval_check(environ=environ, **options)
        self.requests = server.requests
        self.out, self.err = capsys.readouterr()

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.out)


def test_a_perfect_evaluator_makes_no_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(tmp_path, capsys, ideal)
    assert check.code == 0
    found = check.document
    assert (found["false_accepts"], found["false_rejects"], found["unread"]) == (0, 0, 0)
    assert (found["plays"], found["same_category"], found["agreement"]) == (12, 6, 1.0)
    assert found["cost_usd"] > 0
    assert found["tokens"] == 12 * 15
    assert not (tmp_path / "home").exists()


def test_the_evaluator_is_asked_exactly_as_in_a_run_without_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(tmp_path, capsys, ideal)
    site = Site.make(tmp_path / "run")
    from support.flow_site import solve, submit

    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[accept()],
        TILTH_EVALUATOR_TOOLS="false",
    )
    real = run.asked("evaluator")[0].body
    for request in check.requests:
        body = request.body
        assert {key: body[key] for key in body if key != "messages"} == {
            key: real[key] for key in real if key != "messages"
        }
        text = told(request)
        assert "# The task under review: T-001" in text
        assert "## pytest: passed" in text
        assert "planted" not in text
    conventions = [
        request for request in check.requests if "No `float` takes part" in told(request)
    ]
    assert len(conventions) == 2


def test_an_evaluator_that_accepts_everything_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(tmp_path, capsys, lambda request: accept(), as_json=False)
    assert check.code == 1
    table = check.out.split("\n\n")[0].splitlines()
    rows = {line.split()[0]: line.split()[1:4] for line in table}
    assert rows["all"] == ["6", "0", "0"]
    assert rows["weak_test"] == ["1", "0", "0"]
    assert "the fault: It calculates with floats" in check.out


def test_an_evaluator_that_rejects_everything_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(tmp_path, capsys, lambda request: reject())
    assert check.code == 1
    assert (check.document["false_rejects"], check.document["false_accepts"]) == (6, 0)
    assert check.document["by_category"]["acceptance_gap"]["same_category"] == 1


def test_an_accept_below_the_threshold_counts_as_the_rejection_it_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(tmp_path, capsys, ideal, TILTH_EVAL_THRESHOLD="96")
    assert check.code == 1
    assert check.document["false_rejects"] == 6


def test_unreadable_answers_are_asked_for_again_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def mumbling(request: Request) -> Answer:
        if len(request.body["messages"]) == 1 or "Roman" in told(request):
            return say("Looks fine to me.")
        return ideal(request)

    check = Check(tmp_path, capsys, mumbling)
    assert check.code == 1
    assert (check.document["unread"], check.document["unread_answers"]) == (2, 14)
    assert check.document["by_category"]["tests_pass_but_wrong"]["unread"] == 2


def test_a_wavering_evaluator_does_not_agree_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def wavering(request: Request) -> Answer:
        seen.append(told(request))
        late = len(seen) > len(CHANGES)
        return accept() if late and "Cart" in seen[-1] else ideal(request)

    check = Check(tmp_path, capsys, wavering, repeat=2)
    assert check.code == 1
    assert (check.document["plays"], check.document["agreeing"]) == (24, 11)
    assert check.document["by_category"]["scope_creep"]["agreeing"] == 1
    assert "scope_creep wrong (play 2): accept" in check.err


def test_an_endpoint_that_refuses_is_exit_5_and_prints_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(tmp_path, capsys, lambda request: error(401, "no such key"))
    assert check.code == 5
    assert check.out == ""
    assert "no such key" in check.err


def test_a_limit_beyond_what_may_be_slept_out_is_exit_5_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = error(429, "limit reached", retry_after="3600")
    check = Check(tmp_path, capsys, lambda request: limit, TILTH_WAIT_FOR_QUOTA_MINUTES="59")
    assert check.code == 5
    assert "TILTH_WAIT_FOR_QUOTA_MINUTES" in check.err
    assert len(check.requests) == 1


def test_a_cap_stops_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = Check(tmp_path, capsys, ideal, TILTH_MAX_TOKENS="40")
    assert check.code == 3
    assert "TILTH_MAX_TOKENS" in check.err


def test_a_reviewer_can_be_checked_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "evaluators.toml").write_text('[small]\nmodel = "claude-haiku-5-5"\n')
    check = Check(tmp_path, capsys, ideal, reviewer="small")
    assert check.document["evaluator"]["model"] == "claude-haiku-5-5"
    with pytest.raises(UserError, match="defines no reviewer 'big'; it has: small"):
        Check(tmp_path, capsys, ideal, reviewer="big")
