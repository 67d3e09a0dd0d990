"""A session that was stopped goes on where it was."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import resume, start
from support.flow_site import (
    Run,
    Site,
    accept,
    block,
    git,
    reject,
    solution,
    solve,
    submit,
    task,
)
from support.light_gate import light_site, whole_gate
from support.messages_api import MessagesServer, Reply, Request, by_role, call, error

from tilth.base.errors import CorruptSession, SessionBusy, UnknownSession
from tilth.session.store import Lock


class Endpoint:
    """One endpoint for a run and its resumes: the address stays, the script can be replaced."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.play: dict[str, list[Reply]] = {"worker": [], "evaluator": []}
        self.server = MessagesServer(self._answer)

    def _answer(self, request: Request) -> Reply:
        script = self.play[request.role]
        return script.pop(0) if script else error(400, "the script is at its end")

    def run(self, target: Path, **script: list[Reply]) -> Run:
        return self._go(
            lambda environ: start(target, self.site.repo, {}, new=True, environ=environ), script
        )

    def resume(
        self, *, fresh: bool = False, settings: dict[str, str] | None = None, **script: list[Reply]
    ) -> Run:
        return self._go(
            lambda environ: resume(None, {}, fresh=fresh, environ=environ), script, settings or {}
        )

    def _go(
        self, body: object, script: dict[str, list[Reply]], settings: dict[str, str] | None = None
    ) -> Run:
        self.play = {"worker": [], "evaluator": [], **script}
        before = len(self.server.requests)
        code = body(self.site.environ(self.server.url, **(settings or {})))  # type: ignore[operator]
        return Run(self.site, code, tuple(self.server.requests[before:]))


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


@pytest.fixture
def endpoint(site: Site) -> Iterator[Endpoint]:
    made = Endpoint(site)
    with made.server:
        yield made


@whole_gate
def test_an_open_task_goes_on_in_the_same_conversation(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(site.bundle(1), worker=[call("bash", command="ls"), solve(1)])
    assert first.code == 5
    agent = first.tasks["T-001"]["agent"]
    second = endpoint.resume(worker=[submit(1)], evaluator=[accept()])
    assert second.code == 0
    sent = second.asked("worker")[0].body["messages"]
    before = first.asked("worker")[-1].body["messages"]
    assert sent == before
    assert second.tasks["T-001"]["agent"] == agent
    assert second.of("task_done")[0]["iterations"] == 3
    assert second.of("session_resume")[0]["reattached"] == "T-001"
    assert second.of("session_resume")[0]["last_stop"] == "provider_failure"


_opened: list[str] = []


@pytest.fixture(scope="module")
def opened() -> list[str]:
    """Name every file that is opened by name to be read, until the process ends."""

    def note(event: str, about: tuple[object, ...]) -> None:
        if event == "open" and about[1] in ("r", "rb"):
            _opened.append(Path(str(about[0])).name)

    # There is no way to take one back; it costs next to nothing.
    sys.addaudithook(note)
    return _opened


def test_the_log_of_both_starts_is_one_and_read_once(
    site: Site, endpoint: Endpoint, opened: list[str]
) -> None:
    endpoint.run(site.bundle(1), worker=[solve(1)])
    opened.clear()
    run = endpoint.resume(worker=[submit(1)], evaluator=[accept()])
    assert opened.count("events.jsonl") == 1
    assert [event["seq"] for event in run.events] == list(range(1, len(run.events) + 1))
    assert run.types.count("session_start") == 1
    assert run.types.count("seed_committed") == 1


def test_tokens_go_on_adding_up(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    second = endpoint.resume(worker=[submit(1)], evaluator=[accept()])
    assert first.code == 5
    assert second.checkpoint["usage"]["worker"]["calls"] == 2
    summary = json.loads((second.session / "summary.json").read_text(encoding="utf-8"))
    assert summary["tasks"]["T-001"]["iterations"] == 2


@whole_gate
def test_a_failed_task_is_retried_with_its_work_and_its_verdicts(
    site: Site, endpoint: Endpoint
) -> None:
    first = endpoint.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[reject(), reject(), reject()],
    )
    assert first.code == 1
    failed = git(site.repo, "rev-parse", first.branch)
    second = endpoint.resume(worker=[submit(1)], evaluator=[accept()])
    assert second.code == 0
    assert second.subjects == ["seed: 1 task(s), 1 test(s)", "T-001: Add feature 1"]
    resumed = second.of("session_resume")[0]
    assert (resumed["retried"], resumed["unwound_commit"]) == (["T-001"], failed)
    message = second.asked("worker")[0].body["messages"]
    assert len(message) == 1
    assert "Negative numbers are not handled." in message[0]["content"][0]["text"]
    assert len(second.ledger(1)) == 4


def test_a_retried_task_gets_a_fresh_budget(site: Site, endpoint: Endpoint) -> None:
    site.settings["TILTH_MAX_ITERATIONS_PER_TASK"] = "2"
    first = endpoint.run(site.bundle(1), worker=[call("bash", command="ls"), solve(1)])
    assert first.code == 1
    second = endpoint.resume(worker=[call("bash", command="ls"), submit(1)], evaluator=[accept()])
    assert second.code == 0


def test_a_task_set_aside_comes_back_with_its_work(site: Site, endpoint: Endpoint) -> None:
    site.settings.update(TILTH_MAX_ITERATIONS_PER_TASK="1", TILTH_ON_EXHAUSTED="skip")
    first = endpoint.run(
        site.bundle(1, 2), worker=[solve(1), solve(2) + submit(2)], evaluator=[accept()]
    )
    assert first.code == 1
    second = endpoint.resume(worker=[submit(1)], evaluator=[accept()])
    assert second.code == 0
    assert second.subjects[1:] == ["T-002: Add feature 2", "T-001: Add feature 1"]
    assert git(site.repo, "for-each-ref", "refs/tilth") == ""


def test_work_set_aside_that_no_longer_fits_is_left_and_said(
    site: Site, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    site.settings.update(TILTH_MAX_ITERATIONS_PER_TASK="1", TILTH_ON_EXHAUSTED="skip")
    clash = call("write_file", path="shared.py", content="one = 1\n")
    other = call("write_file", path="shared.py", content="two = 2\n")
    first = endpoint.run(
        site.bundle(1, 2),
        worker=[clash, other + solve(2) + submit(2)],
        evaluator=[accept()],
    )
    assert first.tasks["T-001"]["status"] == "failed"
    second = endpoint.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert second.code == 0
    assert second.of("context_reset")[-1]["set_aside"] == "no_longer_fits"
    assert "no longer fits" in capsys.readouterr().out
    assert git(site.repo, "show", f"{second.branch}:shared.py") == "two = 2"


def test_fresh_starts_the_task_anew_with_its_ledger_in_view(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(
        site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[reject("weak_test")]
    )
    assert first.code == 5
    look = call("bash", command="ls")
    second = endpoint.resume(fresh=True, worker=[look, solve(1) + submit(1)], evaluator=[accept()])
    assert second.code == 0
    # From the task's base: what stood in the files is kept, and not in the way.
    (seen,) = (one["content"] for one in second.of("tool_result") if one["name"] == "bash")
    assert "feature1.py" not in seen
    kept = f"refs/tilth/{second.session.name}/T-001.fresh"
    assert git(site.repo, "show", f"{kept}:feature1.py") == solution(1).strip()
    messages = second.asked("worker")[0].body["messages"]
    assert len(messages) == 1
    assert "weak_test" in messages[0]["content"][0]["text"]


def test_a_changed_worker_model_starts_anew_and_says_so(site: Site, endpoint: Endpoint) -> None:
    endpoint.run(site.bundle(1), worker=[solve(1)])
    second = endpoint.resume(
        settings={"TILTH_WORKER_MODEL": "claude-opus-5-5"},
        worker=[solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert second.code == 0
    (resumed,) = second.of("session_resume")
    assert resumed["fresh_reason"] == "model_changed"
    assert resumed["anew"] == ["T-001"]
    assert git(site.repo, "for-each-ref", f"refs/tilth/{second.session.name}/T-001.fresh")
    assert resumed["now"] == "claude-opus-5-5"
    assert len(second.asked("worker")[0].body["messages"]) == 1


@pytest.mark.parametrize("link_to", [None, "elsewhere", "nowhere"])
def test_a_lost_worktree_is_rebuilt_from_the_branch(
    site: Site, endpoint: Endpoint, tmp_path: Path, link_to: str | None
) -> None:
    endpoint.run(site.bundle(1), worker=[solve(1)])
    workspace, precious = site.session() / "workspace", tmp_path / "elsewhere" / "precious.txt"
    shutil.rmtree(workspace)
    precious.parent.mkdir()
    precious.write_text("mine\n")
    if link_to:
        workspace.symlink_to(tmp_path / link_to)
    second = endpoint.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert second.code == 0
    (resumed,) = second.of("session_resume")
    assert (resumed["worktree_lost"], resumed["fresh_reason"]) == (True, "worktree_lost")
    assert resumed["notes"] == []
    assert workspace.is_dir()
    assert not workspace.is_symlink()
    assert list(precious.parent.iterdir()) == [precious]


def test_a_deleted_branch_is_refused_with_the_command_that_brings_it_back(
    site: Site, endpoint: Endpoint
) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    tip = git(site.repo, "rev-parse", first.branch)
    git(site.repo, "update-ref", "-d", f"refs/heads/{first.branch}")
    second = endpoint.resume()
    assert second.code == 2
    assert f"git branch {first.branch} {tip}" in second.of("stop")[-1]["detail"]
    git(site.repo, "branch", first.branch, tip)
    assert endpoint.resume(worker=[submit(1)], evaluator=[accept()]).code == 0


def test_a_moved_branch_is_refused(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    git(site.repo, "update-ref", f"refs/heads/{first.branch}", "main")
    second = endpoint.resume()
    assert second.code == 2
    assert "was moved" in second.of("stop")[-1]["detail"]


def test_a_broken_checkpoint_is_rebuilt_from_the_log(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    (first.session / "checkpoint.json").write_text("{", encoding="utf-8")
    code = resume(
        first.session.name,
        {},
        fresh=False,
        environ=site.environ(endpoint.server.url),
    )
    assert code == 5
    assert first.checkpoint["status"] == "stopped"


def test_a_torn_last_line_is_set_aside(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    with (first.session / "events.jsonl").open("ab") as log:
        log.write(b'{"seq": 99, "ty')
    second = endpoint.resume(worker=[submit(1)], evaluator=[accept()])
    assert second.code == 0
    assert (second.session / "events.jsonl.torn").read_bytes() == b'{"seq": 99, "ty\n'


def test_a_bad_line_in_the_middle_is_refused_and_nothing_changes(
    site: Site, endpoint: Endpoint
) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    log = first.session / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[3] = b"garbage\n"
    log.write_bytes(b"".join(lines))
    with pytest.raises(CorruptSession, match="line 4"):
        endpoint.resume()
    assert log.read_bytes() == b"".join(lines)


def test_a_live_session_is_refused_at_once_with_the_pid(site: Site, endpoint: Endpoint) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    lock = Lock(first.session / "lock")
    with lock, pytest.raises(SessionBusy, match=r"process \d+"):
        resume(first.session.name, {}, fresh=False, environ=site.environ(endpoint.server.url))


def test_a_session_that_is_all_done_says_so(
    site: Site, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    first = endpoint.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    before = first.events
    for wanted in (first.session.name, None):
        capsys.readouterr()
        code = resume(wanted, {}, fresh=False, environ=site.environ(endpoint.server.url))
        assert code == 0
        assert "all done" in capsys.readouterr().err
    assert first.events == before


def test_without_any_session_there_is_nothing_to_resume(site: Site, endpoint: Endpoint) -> None:
    with pytest.raises(UnknownSession, match="can be resumed"):
        endpoint.resume()


def test_a_cap_says_which_setting_to_raise_and_then_goes_on(site: Site, endpoint: Endpoint) -> None:
    site.settings["TILTH_MAX_TOKENS"] = "14"
    first = endpoint.run(site.bundle(1), worker=[solve(1)])
    assert first.code == 3
    assert "TILTH_MAX_TOKENS" in first.of("stop")[0]["detail"]
    assert endpoint.resume().code == 3
    site.settings["TILTH_MAX_TOKENS"] = "9999"
    assert endpoint.resume(worker=[submit(1)], evaluator=[accept()]).code == 0


def test_a_blocked_task_waits_and_can_be_taken_up(site: Site, endpoint: Endpoint) -> None:
    ruling = call("submit_ruling", contract_at_fault=True, reason="It contradicts itself.")
    first = endpoint.run(site.bundle(1), worker=[block("No.")], evaluator=[ruling])
    assert first.code == 6
    second = endpoint.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert second.tasks["T-001"]["status"] == "done"


@whole_gate
def test_dependents_still_wait_after_a_resume(site: Site, endpoint: Endpoint) -> None:
    tasks = [task(1), task(2, depends_on=["T-001"])]
    endpoint.run(site.bundle(1, 2, tasks=tasks), worker=[solve(1)])
    second = endpoint.resume(
        worker=[submit(1), solve(2) + submit(2)], evaluator=[accept(), accept()]
    )
    assert second.code == 0
    assert second.subjects[1:] == ["T-001: Add feature 1", "T-002: Add feature 2"]


def test_a_running_session_with_a_bad_checkpoint_does_not_keep_others_from_starting(
    site: Site, endpoint: Endpoint
) -> None:
    other = site.sessions / "20260101-000000-abcdef"
    other.mkdir(parents=True)
    (other / "checkpoint.json").write_text("{", encoding="utf-8")
    with (
        Lock(other / "lock"),
        MessagesServer(by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])) as server,
    ):
        environ = site.environ(server.url)
        code = start(site.bundle(1), site.repo, {}, new=True, environ=environ)
    assert code == 0
