"""Bare `tilth`: where things stand in a few lines, and one command to type next."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.event_samples import SESSION, a_session, session_start, stop
from support.git_repo import Repo
from support.session_files import Noon, Shelf, append_line, log_of, snapshot, task

from tilth.contract.outcomes import StopReason
from tilth.show.overview import welcome


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def said(shelf: Shelf, capsys: pytest.CaptureFixture[str], **environ: str) -> list[str]:
    assert welcome(environ={**shelf.environ, **environ}, clock=Noon()) == 0
    return capsys.readouterr().out.splitlines()


def test_without_a_session_it_says_what_to_type_first(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(shelf, capsys)
    assert lines[0] == "No session yet."
    assert [line.split()[2] for line in lines[1:]] == ["demo", "init", "prep-feature"]
    ready = said(shelf, capsys, TILTH_API_KEY="sk-0123456789", TILTH_WORKER_MODEL="m")
    assert not any("init" in line for line in ready)
    assert not (shelf.root / "home").exists()


def test_the_latest_session_is_told_in_two_lines(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add("20261115-010101-0a0a0a")
    shelf.add()
    assert said(shelf, capsys) == [
        f"{SESSION} is done · 1 of 1 task done",
        "slugs · ~/repo · cost $1.25 · 13h ago",
        "1 other session: tilth info",
        f"next  tilth take {SESSION}",
    ]


def test_work_that_began_on_no_branch_is_to_be_taken_into_a_named_one(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(base_branch=None)
    assert said(shelf, capsys)[-1] == f"next  tilth take {SESSION} --into BRANCH"


@pytest.mark.parametrize(
    ("status", "command"),
    [
        ("prepared", "tilth run {root}/repo"),
        ("interviewing", "tilth prep-feature {root}/repo"),
        ("running", f"tilth resume {SESSION}"),
        ("stopped", f"tilth resume {SESSION}"),
        ("failed", f"tilth resume {SESSION}"),
        ("waiting", f'tilth answer {SESSION} R-001 "…"'),
    ],
)
def test_the_next_command_fits_the_status(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], status: str, command: str
) -> None:
    directory = shelf.add(status=status, tasks=[task(1, "failed"), task(2, "done")])
    ask = {"ts": "", "task_id": "T-001", "kind": "blocked", "text": "?"}
    moot = {**ask, "request": "R-002", "task_id": "T-002"}
    lines = [{**ask, "request": "R-001"}, moot] if status == "waiting" else [moot]
    (directory / "operator-requests.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )
    assert said(shelf, capsys)[-1] == f"next  {command.format(root=shelf.root)}"


def test_the_keys_of_reviewers_and_remotes_are_hidden(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    key, token = "Kp3mVt6yHc1xFw5rJd8q", "token-of-the-remote-1234"
    repo = Repo(shelf.root / "repo")
    repo.git("config", "remote.origin.url", f"https://u:{token}@example.org/x.git")
    shelf.add(feature=f"ask with {key} or {token}")
    (shelf.root / "home" / "evaluators.toml").write_text(
        '[strict]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\napi_key_env = "STRICT_KEY"\n'
    )
    lines = said(shelf, capsys, STRICT_KEY=key)
    assert lines[1].startswith("ask with [hidden: 20 characters] or [hidden: 24 characters] · ")


@pytest.mark.parametrize("torn", ["", '{"seq": 3, "type": "st'])
def test_the_next_command_fits_why_it_stopped(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], torn: str
) -> None:
    stopped = stop(StopReason.COST_CAP, 3)
    directory = shelf.add(status="stopped", events=log_of(session_start(), stopped))
    append_line(directory, torn)
    command = f"raise TILTH_MAX_COST_USD, then: tilth resume {SESSION}"
    assert said(shelf, capsys)[-1] == f"next  {command}"


@pytest.mark.parametrize("log", ["", "junk\n", "[]\n", "x" * 100_000])
def test_a_log_that_cannot_be_read_does_not_keep_it_from_answering(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], log: str
) -> None:
    append_line(shelf.add(status="stopped"), log)
    assert said(shelf, capsys)[-1] == f"next  tilth resume {SESSION}"


def test_a_session_that_runs_can_be_followed(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(status="running")
    with shelf.held():
        assert said(shelf, capsys)[-1] == f"next  tilth events {SESSION} --follow"


def test_a_broken_session_is_named_with_the_command_that_mends_it(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    (shelf.add() / "checkpoint.json").write_text("{")
    before = snapshot(shelf.root)
    lines = said(shelf, capsys)
    assert lines[0].startswith(f"{SESSION} is broken: ")
    assert lines[-1] == f"next  tilth resume {SESSION}"
    assert snapshot(shelf.root) == before


def test_a_session_without_its_log_is_named_without_a_command_that_would_refuse_it(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    (shelf.add() / "events.jsonl").unlink()
    lines = said(shelf, capsys)
    assert "events.jsonl: the file is missing, although the session was at work" in lines[0]
    give_up = f"tilth reset {SESSION}"
    assert lines[-1] == f"next  put events.jsonl back, or give the session up: {give_up}"


def test_a_session_that_ended_says_what_to_look_at_first_and_what_is_asked_whole(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = shelf.add_story()
    text = "Which of the two criteria holds? " * 30
    ask = {"ts": "", "task_id": "T-002", "kind": "blocked", "request": "R-001", "text": text}
    (directory / "operator-requests.jsonl").write_text(json.dumps(ask) + "\n")
    lines = said(shelf, capsys)
    assert lines[2].startswith("stopped: a task used up its iterations")
    assert lines[3].startswith("look at  T-002")
    assert "failed (iter_cap)" in lines[3]
    assert f"asked    R-001 (T-002): {text}" in lines
    assert f'         tilth answer {SESSION} R-001 "…"' in lines


def test_the_latest_session_is_one_that_runs_else_the_one_that_was_last_active(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    older, newer = "20261115-010101-0a0a0a", "20261116-010101-0b0b0b"
    first, second = shelf.add(older), shelf.add(newer, status="interviewing")
    for directory, moment in ((first, 2_000), (second, 1_000)):
        for name in ("events.jsonl", "checkpoint.json"):
            os.utime(directory / name, (moment, moment))
    assert said(shelf, capsys)[0].startswith(older)
    with shelf.held(newer):
        assert said(shelf, capsys)[0].startswith(newer)


def test_an_interview_that_was_given_up_is_not_the_latest_session(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    older, newer = "20261115-010101-0a0a0a", "20261116-010101-0b0b0b"
    shelf.add(older)
    (shelf.add(newer, status="interviewing") / "prd.json").unlink()
    assert said(shelf, capsys)[0].startswith(older)


def test_while_it_runs_the_cost_so_far_comes_from_the_log(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = shelf.add(status="running", events=a_session(), usage={})
    with shelf.held():
        assert " · cost $0.18 so far · " in said(shelf, capsys)[1]
    append_line(directory, "{\n{\n")
    assert " · cost ? · " in said(shelf, capsys)[1]
