"""`tilth info`: every session in a row, one in detail, and what is wrong said plainly."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.event_samples import SESSION, model_call, rejection, session_start, stop, verdict
from support.session_files import HOSTILE, Noon, Shelf, append_line, log_of, snapshot, task

from tilth.base.errors import CorruptSession, UnknownSession
from tilth.contract.outcomes import StopReason
from tilth.log.events import OperatorRequested, SessionResume, Taken, TaskDone
from tilth.show.info import info

OLDER = "20261115-010101-0a0a0a"
NEWER = "20261117-010101-0b0b0b"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def listed(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert info(None, as_json=False, environ=shelf.environ, clock=Noon()) == 0
    return capsys.readouterr().out.splitlines()


def detailed(shelf: Shelf, capsys: pytest.CaptureFixture[str], wanted: str = "latest") -> str:
    assert info(wanted, as_json=False, environ=shelf.environ, clock=Noon()) == 0
    return capsys.readouterr().out


def document(shelf: Shelf, capsys: pytest.CaptureFixture[str], wanted: str | None = None) -> Any:
    assert info(wanted, as_json=True, environ=shelf.environ, clock=Noon()) == 0
    return json.loads(capsys.readouterr().out)


def test_sessions_are_listed_the_newest_first(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (SESSION, OLDER, NEWER):
        shelf.add(name)
    head, *rows = listed(shelf, capsys)
    assert head.split() == ["session", "status", "tasks", "cost", "age", "repo", "feature"]
    assert [row.split()[0] for row in rows] == [NEWER, SESSION, OLDER]
    assert rows[0].split() == [NEWER, "done", "1/1", "$1.25", "13h", "~/repo", "slugs"]


def test_without_a_session_the_list_is_empty_and_says_how_to_start(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    assert info(None, as_json=False, environ=shelf.environ) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no session in" in captured.err
    assert document(shelf, capsys)["sessions"] == []


def test_a_session_that_runs_is_told_from_one_that_was_killed(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(status="running")
    with shelf.held():
        assert listed(shelf, capsys)[1].split()[1] == "running"
    assert listed(shelf, capsys)[1].split()[1] == "interrupted"


def test_looking_takes_the_lock_from_nobody(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(status="running")
    listed(shelf, capsys)
    with shelf.held():
        listed(shelf, capsys)
        assert listed(shelf, capsys)[1].split()[1] == "running"


def test_the_cost_of_a_running_session_is_not_given_as_final(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(status="running")
    shelf.add(OLDER, status="running", usage={})
    shelf.add(NEWER, usage={"worker": {"calls": 1, "cost_usd": 0, "unpriced_calls": 1}})
    costs = [row.split()[3] for row in listed(shelf, capsys)[1:]]
    assert costs == ["?", "$1.25+", "?"]


def test_a_task_below_the_bar_shows_in_the_list(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(tasks=[task(1, "done", quality_flag="below-bar"), task(2, "done")])
    assert "done, 1 below bar" in listed(shelf, capsys)[1]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("checkpoint.json", "{", "checkpoint.json: cannot be read"),
        ("checkpoint.json", "[]", "checkpoint.json"),
        ("checkpoint.json", '{"schema_version": 99}', "written in schema 99"),
        ("prd.json", '{"tasks": [{"id": "T-001"}]}', "prd.json"),
        ("prd.json", None, "prd.json: the file is missing"),
        ("checkpoint.json", None, "checkpoint.json: the file is missing"),
        ("checkpoint.json", "{", f"`tilth resume {SESSION}` writes it anew from the log"),
        ("events.jsonl", "", "events.jsonl: the log is empty"),
    ],
)
def test_a_broken_session_is_one_row_and_the_others_still_show(
    shelf: Shelf,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: str | None,
    said: str,
) -> None:
    shelf.add(OLDER)
    broken = shelf.add(SESSION) / name
    broken.unlink() if content is None else broken.write_text(content)
    rows = listed(shelf, capsys)[1:]
    assert len(rows) == 2
    assert rows[0].split()[:2] == [SESSION, "broken"]
    assert said in rows[0]
    assert rows[1].split()[:2] == [OLDER, "done"]
    assert said in document(shelf, capsys)["sessions"][0]["fault"]


@pytest.mark.parametrize("name", ["checkpoint.json", "prd.json"])
def test_a_session_with_a_pipe_in_a_files_place_is_broken_and_nobody_waits_for_it(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    shelf.add(OLDER)
    broken = shelf.add(SESSION) / name
    broken.unlink()
    os.mkfifo(broken)
    rows = listed(shelf, capsys)[1:]
    assert [row.split()[:2] for row in rows] == [[SESSION, "broken"], [OLDER, "done"]]
    assert f"{name}: cannot be read" in rows[0]
    assert "no ordinary file" in rows[0]


@pytest.mark.parametrize("name", ["lock", "summary.json", "progress.txt", "report.md"])
def test_a_pipe_in_the_place_of_a_lesser_file_keeps_no_list_waiting(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    place = shelf.add(SESSION) / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    assert listed(shelf, capsys)[1].split()[:2] == [SESSION, "done"]


def test_a_pipe_in_the_place_of_a_log_is_an_error_that_names_it(shelf: Shelf) -> None:
    log = shelf.add() / "events.jsonl"
    log.unlink(missing_ok=True)
    os.mkfifo(log)
    with pytest.raises(CorruptSession, match=r"events\.jsonl: cannot be read: it is no ordinary"):
        info("latest", as_json=False, environ=shelf.environ)


def test_a_broken_session_in_detail_is_an_error(shelf: Shelf) -> None:
    (shelf.add() / "checkpoint.json").write_text("{")
    with pytest.raises(CorruptSession, match=r"checkpoint\.json: cannot be read"):
        info("latest", as_json=False, environ=shelf.environ)


def test_one_session_in_detail_says_all_there_is(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add_story()
    said = detailed(shelf, capsys)
    lines = dict(line.split(None, 1) for line in said.split("\n\n")[0].splitlines())
    assert lines["session"] == SESSION
    assert lines["status"] == "failed"
    assert lines["stopped"] == "iter_cap (exit 1): T-002 used 37 of 37 iterations"
    assert lines["worker"] == "worker-model"
    assert lines["evaluator"] == "evaluator-model"
    assert lines["sandbox"] == "bwrap"
    assert lines["tasks"] == "1 of 3 done"
    assert lines["tokens"] == "40.5k of 2M"
    assert lines["cost"] == "$0.18 of $10"
    assert lines["retries"] == "1"
    assert "failed (iter_cap)" in said
    assert "acceptance_gap 55 → accept 91" in said
    assert f"tilth resume {SESSION}" in said


def test_the_limits_are_those_the_session_ran_under(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    first = session_start(settings={"TILTH_MAX_COST_USD": "2", "TILTH_MAX_TOKENS": "5000"})
    again = SessionResume(
        last_stop="cost_cap",
        retried=(),
        pending=(),
        unwound_commit=None,
        settings={"TILTH_MAX_COST_USD": "3"},
    )
    shelf.add(events=log_of(first, model_call(cost_usd=1.5)))
    assert "$1.50 of $2" in detailed(shelf, capsys)
    shelf.add(NEWER, events=log_of(first, model_call(cost_usd=1.5), again))
    said = document(shelf, capsys, NEWER)["caps"]
    assert {cap["name"]: cap["limit"] for cap in said}["cost"] == 3
    silent = again.model_copy(update={"settings": {}})
    shelf.add("20261118-010101-0b0b0b", events=log_of(first, model_call(cost_usd=1.5), silent))
    assert "$1.50 of $2" in detailed(shelf, capsys)


def test_iterations_are_shown_against_what_the_task_may_have(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {
        "TILTH_MAX_ITERATIONS_PER_TASK": "8",
        "TILTH_ITERATION_BONUS_PER_REJECTION": "2",
    }
    log = log_of(session_start(settings=settings), model_call(), rejection(), model_call())
    shelf.add(events=log)
    assert " 2/10 " in detailed(shelf, capsys)


def test_below_the_bar_and_not_evaluated_are_said_plainly(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    unseen = TaskDone(commit=None, score=None, iterations=1, evaluated=False)
    start = session_start(evaluate=False, evaluator_model=None)
    tasks = [task(1, "done"), task(2, "done", quality_flag="below-bar", score=41)]
    shelf.add(tasks=tasks, events=log_of(start, unseen))
    said = detailed(shelf, capsys)
    assert "done, not evaluated" in said
    assert "done BELOW BAR" in said
    assert "NOT EVALUATED" in said


def test_many_verdicts_are_shown_by_the_first_and_the_last(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    rejections = [rejection(score=score) for score in range(10, 19)]
    shelf.add(events=log_of(session_start(), *rejections, verdict(score=90)))
    said = detailed(shelf, capsys)
    assert "acceptance_gap 10 → … 5 more … → acceptance_gap 16 →" in said
    assert "→ accept 90" in said


def test_an_open_question_is_shown_with_the_command_that_answers_it(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = OperatorRequested(request="R-001", kind="blocked", text="Which one?")
    directory = shelf.add(
        status="waiting", tasks=[task(1, "failed")], events=log_of(session_start(), ask)
    )
    line = {
        "ts": "",
        "request": "R-001",
        "task_id": "T-001",
        "kind": "blocked",
        "text": "Which one?",
    }
    (directory / "operator-requests.jsonl").write_text(json.dumps(line) + "\n")
    said = detailed(shelf, capsys)
    assert said.startswith("for you  R-001 (T-001): Which one?\n")
    assert f'next     tilth answer {SESSION} R-001 "…"' in said


def test_the_log_counts_where_the_summary_is_stale_or_broken(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    (shelf.add_story() / "summary.json").write_text("{")
    assert document(shelf, capsys, "latest")["summary"]["iterations"] == 7


def test_a_half_written_last_line_is_passed_over(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    append_line(shelf.add_story(), '{"seq": 40, "ts": "20')
    assert document(shelf, capsys, "latest")["last_stop"]["reason"] == "iter_cap"


def test_a_bad_line_in_the_middle_is_named(shelf: Shelf) -> None:
    append_line(shelf.add(events=log_of(session_start())), 'junk\n{"seq": 3}\n')
    with pytest.raises(CorruptSession, match=r"events\.jsonl: line 2 is not JSON"):
        info("latest", as_json=False, environ=shelf.environ)


def test_a_log_of_a_newer_schema_is_refused(shelf: Shelf) -> None:
    shelf.add(events=log_of(session_start(schema_version=99)))
    with pytest.raises(CorruptSession, match="written in schema 99"):
        info("latest", as_json=False, environ=shelf.environ)


def test_a_log_that_is_gone_is_not_an_empty_one(shelf: Shelf) -> None:
    (shelf.add() / "events.jsonl").unlink()
    with pytest.raises(CorruptSession, match=r"events\.jsonl: the file is missing"):
        info("latest", as_json=False, environ=shelf.environ)


def test_an_emptied_log_is_lost_and_no_branch_is_to_be_moved(shelf: Shelf) -> None:
    (shelf.add() / "events.jsonl").write_text("")
    with pytest.raises(CorruptSession, match=r"events\.jsonl: the log is empty") as told:
        info("latest", as_json=False, environ=shelf.environ)
    assert "git" not in str(told.value)


def test_a_session_is_found_by_any_unique_prefix(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(OLDER)
    shelf.add(SESSION)
    assert document(shelf, capsys, "20261115")["session"] == OLDER
    assert document(shelf, capsys, "latest")["session"] == SESSION
    with pytest.raises(UnknownSession, match="could be 2 sessions"):
        info("2026", as_json=False, environ=shelf.environ)
    for wrong in ("2025", "../x", "", "T-001"):
        with pytest.raises(UnknownSession, match="no session starts with"):
            info(wrong, as_json=False, environ=shelf.environ)


def test_hostile_text_is_shown_as_text(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    shelf.add(
        feature=HOSTILE,
        source=f"/tmp/{HOSTILE}",
        tasks=[task(1, title=HOSTILE)],
        events=log_of(session_start(), stop(StopReason.ERROR, 2, HOSTILE)),
    )
    for said in ("\n".join(listed(shelf, capsys)), detailed(shelf, capsys)):
        assert "␛[31mred" in said
        assert "[bold]loud[/bold]" in said
        assert "\x1b" not in said
        assert "\u202e" not in said
    assert info("latest", as_json=True, environ=shelf.environ) == 0
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert json.loads(out)["feature"] == HOSTILE


def test_a_key_that_is_known_by_now_is_hidden_in_the_list(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other = "zQ8sWxT4nB7vLp2kRd9m", "Kp3mVt6yHc1xFw5rJd8q"
    shelf.add(feature=f"ask with {key} or {other}")
    (shelf.root / "home" / "evaluators.toml").write_text(
        '[strict]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\napi_key_env = "STRICT_KEY"\n'
    )
    environ = {**shelf.environ, "TILTH_EVALUATOR_API_KEY": key, "STRICT_KEY": other}
    for as_json in (False, True):
        assert info(None, as_json=as_json, environ=environ, clock=Noon()) == 0
        said = capsys.readouterr().out
        assert "ask with [hidden: 20 characters] or [hidden: 20 characters]" in said


def test_looking_changes_nothing(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    append_line(shelf.add_story(), '{"torn')
    before = snapshot(shelf.root)
    listed(shelf, capsys)
    detailed(shelf, capsys)
    assert snapshot(shelf.root) == before


def test_a_start_lasts_until_it_stops_and_not_until_its_work_is_taken(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    took = Taken(branch="main", before="a", after="b", tasks=("T-001",), commits=(), how="anew")
    hours = ("01:00:00", "01:01:30", "09:00:00")
    log = zip(log_of(session_start(), stop(), took), hours, strict=True)
    shelf.add(events=[event._replace(ts=f"2026-11-16T{hour}.000Z") for event, hour in log])
    said = {cap["name"]: cap["used"] for cap in document(shelf, capsys, SESSION)["caps"]}
    assert said["time"] == 1.5
