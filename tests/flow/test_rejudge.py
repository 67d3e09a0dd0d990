"""`tilth rejudge`: recorded cases put to another evaluator, and nothing written."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from support.eval_suite import Checked
from support.flow_site import Run, Site, accept, reject, solve, submit, write
from support.messages_api import Answer, MessagesServer, Reply, Request, call, error, say
from support.old_sessions import NAMES, lay_out
from support.session_files import snapshot

from tilth.base.errors import UserError
from tilth.replay.rejudge import rejudge

PROBE = "from feature1 import add1\n\n\ndef test_it():\n    assert add1(1) == 3\n"
LOOK = call("read_file", path="feature1.py")


def judge_again(
    environ_at: Callable[[str], dict[str, str]],
    script: Iterable[Reply] | Callable[[Request], Reply],
    *,
    task: str | None = None,
    as_json: bool = True,
    session: str = "latest",
    reviewer: str | None = None,
) -> Checked:
    """Run the command against a script."""
    out, err = io.StringIO(), io.StringIO()
    with MessagesServer(script) as server, redirect_stdout(out), redirect_stderr(err):
        code = rejudge(
            session,
            task,
            reviewer=reviewer,
            model=None if reviewer else "claude-opus-5-5",
            as_json=as_json,
            environ=environ_at(server.url),
        )
    return Checked(code, out.getvalue(), err.getvalue(), tuple(server.requests))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a task that was rejected once and accepted then."""
    site = Site.make(tmp_path_factory.mktemp("site"))
    better = write("feature1.py", "def add1(x):\n    return 1 + x\n")
    worker = [solve(1) + submit(1), better + submit(1)]
    return site.run(site.bundle(1), worker=worker, evaluator=[reject(), accept(score=91)])


def confined(run: Run) -> Callable[[str], dict[str, str]]:
    return lambda url: run.site.environ(url, TILTH_SANDBOX="auto")


def test_another_evaluator_is_asked_the_same_and_may_look_and_prove(run: Run) -> None:
    before = snapshot(run.session)
    proven = reject("tests_pass_but_wrong", concern="It adds too little.", probe=PROBE)
    again = judge_again(confined(run), [LOOK, proven, accept()])
    assert again.code == 0
    assert snapshot(run.session) == before
    found = again.document
    assert (found["judged"], found["of"]) == (2, 2)
    assert found["agreement"] == {"count": 2, "of": 2, "rate": 1.0, "kappa": 1.0}
    assert found["cost_usd"] > 0
    first, second = found["cases"]
    assert (first["concern_id"], second["concern_id"]) == ("C1", "C2")
    assert (first["old"]["verdict"], first["new"]["proof"]) == ("reject", "proven")
    assert (first["new"]["model"], first["sight"]) == ("claude-opus-5-5", "same")
    assert (second["old"]["score"], second["agrees"]) == (91, True)
    asked = [again.requests[0].body, again.requests[2].body]
    for recorded, now in zip(run.asked("evaluator"), asked, strict=True):
        assert now["model"] == "claude-opus-5-5"
        assert now["messages"] == recorded.body["messages"]
        assert now["system"] == recorded.body["system"]
    looked = again.requests[1].body["messages"][-1]["content"][0]["content"]
    assert "return x + 1" in looked


def test_a_table_sets_old_and_new_side_by_side(run: Run) -> None:
    again = judge_again(confined(run), lambda request: accept(), as_json=False)
    assert again.code == 0
    rows = [line.split() for line in again.out.splitlines()]
    assert rows[1][:2] + rows[1][3:] == [
        "T-001",
        "C1",
        "reject",
        "acceptance_gap",
        "accept",
        "DIFFERS",
    ]
    assert rows[2][-1] == "same"
    assert "1 of 2, 50%; Cohen's kappa 0.00" in again.out
    assert "2/2 ETA 0:00: T-001 C2: accept" in again.err


def test_what_could_not_be_read_is_said_and_is_exit_1(run: Run) -> None:
    def mumbling(request: Request) -> Answer:
        return say("Fine.") if "C1" not in str(request.body["messages"][0]) else accept()

    again = judge_again(confined(run), mumbling)
    assert again.code == 1
    case = again.document["cases"][0]
    assert (case["new"]["verdict"], case["agrees"]) == (None, None)
    assert "exactly once" in case["unreadable"][0]
    assert again.document["agreement"]["of"] == 1


def test_a_repository_that_is_gone_leaves_the_words_alone(run: Run, tmp_path: Path) -> None:
    away = tmp_path / "away"
    run.site.repo.rename(away)
    try:
        again = judge_again(confined(run), lambda request: accept())
    finally:
        away.rename(run.site.repo)
    assert again.code == 0
    assert {case["sight"] for case in again.document["cases"]} == {"repository_gone"}
    for request in again.requests:
        assert request.tools == {"submit_verdict"}
        assert "answers that look" not in str(request.body["messages"])


def test_an_endpoint_that_refuses_is_exit_5(run: Run) -> None:
    again = judge_again(confined(run), lambda request: error(401, "no such key"), as_json=False)
    assert (again.code, again.out) == (5, "")
    assert "stopped after 0 of 2" in again.err


@pytest.mark.parametrize(
    ("name", "sandbox", "given", "says"),
    [
        ("", "off", {}, "rejudge runs the probes of evaluators and only in a sandbox"),
        ("", "auto", {"task": "T-009"}, "there is no task 'T-009'"),
        ("", "auto", {"reviewer": "big"}, "defines no reviewer 'big'"),
        ("prepared", "off", {}, "holds no verdict of an evaluator: there is nothing"),
        ("interview", "off", {}, "holds no verdict of an evaluator: there is nothing"),
        ("killed", "off", {"task": "t-001"}, "no verdict of an evaluator on T-001"),
    ],
)
def test_what_cannot_be_judged_again_is_refused(
    run: Run, tmp_path: Path, name: str, sandbox: str, given: dict[str, str], says: str
) -> None:
    environ = lay_out(name, tmp_path).environ() if name else run.site.environ("http://127.0.0.1:1")
    with pytest.raises(UserError, match=says):
        judge_again(lambda url: {**environ, "TILTH_SANDBOX": sandbox}, [], **given)


def test_sessions_of_earlier_versions_are_judged_as_far_as_they_say(tmp_path: Path) -> None:
    judged, refused = {}, []
    for name in NAMES:
        old = lay_out(name, tmp_path / name)
        environ = old.environ()
        before = snapshot(old.directory)
        try:
            again = judge_again(
                lambda url, environ=environ: {**environ, "TILTH_BASE_URL": url},
                lambda request: accept(),
                as_json=False,
            )
        except UserError as fault:
            refused.append(str(fault))
            continue
        assert again.code == 0
        assert snapshot(old.directory) == before
        assert "judged without looking, as it was then" in again.out
        judged[name] = again.out.split("judged  ")[1].strip().split(" recorded")[0]
    assert all("there is nothing to judge again" in said for said in refused)
    assert judged["done"] == "4 of 4"
    assert {"below_bar", "interrupted", "troubled"} <= judged.keys()
