"""A run that meets what nobody thought of: it stops, says why, and can go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Site, accept, solve, submit
from support.light_gate import light_site
from support.messages_api import Answer, call

from tilth.base.clock import SystemClock
from tilth.git.workspace import Workspace


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


@pytest.mark.parametrize("fault", [RuntimeError("odd"), RecursionError("deep"), OSError(5, "bad")])
def test_a_fault_nobody_expected_is_a_recorded_stop_and_the_session_goes_on(
    site: Site, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def broken(self: Workspace, base: str) -> None:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "freeze", broken)
        run = site.run(site.bundle(1), worker=[solve(1) + submit(1)])
    assert run.code == 2
    assert run.types[-1] == "stop"
    stop = run.of("stop")[0]
    assert (stop["reason"], stop["exit_code"]) == ("error", 2)
    assert stop["detail"].startswith(f"internal error: {type(fault).__name__}: ")
    assert "test_robust.py:" in stop["detail"]
    assert run.checkpoint["status"] == "stopped"
    assert site.resume(worker=[solve(1) + submit(1)], evaluator=[accept()]).code == 0


def test_the_wall_clock_is_heard_between_two_calls_of_one_answer(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def monotonic(self: SystemClock) -> float:
        marks = list(site.root.glob("home/sessions/*/workspace/mark"))
        return 1e6 if marks else 0.0

    calls = call("bash", command="touch mark") + call("bash", command="touch late") + submit(1)
    with monkeypatch.context() as patched:
        patched.setattr(SystemClock, "monotonic", monotonic)
        run = site.run(site.bundle(1), worker=[calls])
    assert run.code == 3
    assert run.of("stop")[0]["reason"] == "wall_clock"
    assert [made["arguments"] for made in run.of("tool_call")] == [{"command": "touch mark"}]
    assert not (run.session / "workspace" / "late").exists()


def test_what_cannot_enter_the_tree_is_told_to_worker_evaluator_and_person(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = f"n={'d' * 200}; for i in $(seq 30); do mkdir $n && cd $n; done; echo 1 > lost.py"
    odd = call("bash", command=f"mkfifo pipe; {deep}")
    run = site.run(
        site.bundle(1), worker=[odd + submit(1), solve(1) + submit(1)], evaluator=[accept()]
    )
    assert run.code == 0
    [submitted] = run.of("case_submitted")
    assert sorted(submitted["left_out"].values()) == ["special", "too deep"]
    pipe = "pipe: not in this change: neither a file nor a directory nor a link"
    for told in (
        run.last_user_text("worker", 1),
        run.last_user_text("evaluator", 0),
        capsys.readouterr().out,
    ):
        assert pipe in told
        assert "not in this change: nested deeper than a change may go" in told
    # Nothing of it stays for the next task.
    assert not (run.session / "workspace" / "pipe").exists()


def test_calls_with_one_id_each_get_their_own_result(site: Site) -> None:
    same = Answer(
        blocks=tuple(
            {"type": "tool_use", "id": "call_0", "name": "bash", "input": {"command": f"echo {n}"}}
            for n in ("one", "two")
        )
    )
    run = site.run(site.bundle(1), worker=[same, solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    sent = run.requests[1].body["messages"][-1]["content"]
    assert [(block["tool_use_id"], block["content"].split()[0]) for block in sent] == [
        ("call_0", "one"),
        ("call_0_2", "two"),
    ]
