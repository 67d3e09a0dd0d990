"""`tilth events`: one line an event, filtered, followed, and in constant memory."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest
from support.event_samples import SAMPLES, SESSION, a_session, session_start, stop, tool_result
from support.session_files import HOSTILE, Shelf, append_line, log_of, snapshot

from tilth.base.errors import CorruptSession, UserError
from tilth.log.events import EVENT_TYPES, Event, GateSteered, Payload, Scope
from tilth.log.reader import parse_event
from tilth.session.store import Lock
from tilth.show.events import events
from tilth.show.lines import full, lines
from tilth.show.progress import Progress


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def told(shelf: Shelf, capsys: pytest.CaptureFixture[str], **asked: object) -> list[str]:
    assert events("latest", environ=shelf.environ, **asked) == 0
    return capsys.readouterr().out.splitlines()


def written(payload: Payload, seq: int = 1) -> str:
    line = Event(seq, "2026-11-16T22:15:30.000Z", SESSION, Scope(), payload).to_line()
    return json.dumps(line) + "\n"


def test_every_event_is_one_line(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    shelf.add_story()
    lines = told(shelf, capsys)
    assert len(lines) == len(list(a_session()))
    assert lines[0].split()[:4] == ["1", "22:15:01.000Z", "-", "session_start"]
    assert lines[-1].endswith("iter_cap, exit 1 · T-002 used 37 of 37 iterations")


def test_times_are_those_of_the_reader_with_the_zone_said(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.add_story()
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert told(shelf, capsys)[0].split()[1] == "03:45:01.000+05:30"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_kind_of_event_has_words_of_its_own(kind: str) -> None:
    said = full(parse_event(json.loads(written(SAMPLES[kind]))))
    assert said
    assert "{" not in said
    assert "\n" not in said


def test_a_gate_that_is_steered_twice_is_told_by_both() -> None:
    steered = GateSteered(files=("conftest.py",), earlier=("pyproject.toml",), notes=("a note",))
    said = [note.text for note in lines(steered, Progress())]
    assert said == [
        "STEERING: the change reaches what steers a gate: conftest.py",
        "proven by what an earlier task changed: pyproject.toml",
    ]
    whole = full(parse_event(json.loads(written(steered))))
    assert "conftest.py" in whole
    assert "pyproject.toml" in whole
    assert whole.count("a note") == 1


def test_a_kind_nobody_knows_still_gets_its_line(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    line = json.loads(written(stop())) | {"type": "moon_phase", "payload": {"full": True}}
    (shelf.add() / "events.jsonl").write_text(json.dumps(line) + "\n")
    assert told(shelf, capsys)[0].split()[3:] == ["moon_phase", '{"full":true}']


def test_events_are_picked_by_type_and_task(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add_story()
    kinds = [line.split()[3] for line in told(shelf, capsys, types=["commit", "stop"])]
    assert kinds == ["commit", "commit", "stop"]
    of_second = told(shelf, capsys, types=["commit"], task_id="T-002")
    assert len(of_second) == 1
    assert "FAILED (iter_cap) T-002" in of_second[0]


def test_an_unknown_type_or_task_is_refused_with_those_there_are(shelf: Shelf) -> None:
    shelf.add_story()
    with pytest.raises(
        UserError, match=r"no event type 'commits'; did you mean commit\? there are"
    ):
        events("latest", types=["commits"], environ=shelf.environ)
    with pytest.raises(UserError, match=r"no task 'T-9'; it has T-001, T-002, T-003"):
        events("latest", task_id="T-9", environ=shelf.environ)


def test_raw_lines_are_those_of_the_file(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    directory = shelf.add_story()
    lines = told(shelf, capsys, raw=True)
    assert lines == (directory / "events.jsonl").read_text().splitlines()


def test_hostile_text_does_not_act_and_raw_lines_keep_their_value(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{HOSTILE} \x9b31m \ud800"
    line = json.loads(written(tool_result("bash", text)))
    raw = json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass")
    directory = shelf.add()
    (directory / "events.jsonl").write_bytes(raw + b"\n")
    said = told(shelf, capsys)[0]
    assert "␛[31mred" in said
    assert said.isprintable()
    kept = told(shelf, capsys, raw=True)[0]
    assert kept.isprintable()
    assert json.loads(kept)["payload"]["content"] == text


def test_a_key_that_is_known_by_now_is_hidden_in_every_line(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    key, number = "zQ8sWxT4nB7vLp2kRd9m", "175398520124"
    long = f"{'word ' * 17}{key} and more"
    directory = shelf.add(events=log_of(tool_result("bash", long, duration_ms=int(number))))
    known = {"TILTH_EVALUATOR_API_KEY": key, "TILTH_API_KEY": number}
    environ = {**shelf.environ, **known}
    assert events("latest", environ=environ) == 0
    shown = capsys.readouterr().out
    assert key[:8] not in shown
    assert "[hidden: 20" in shown
    assert events("latest", raw=True, environ=environ) == 0
    raw = capsys.readouterr().out
    assert key not in raw
    kept = json.loads((directory / "events.jsonl").read_text())
    kept["payload"]["content"] = long.replace(key, "[hidden: 20 characters]")
    assert json.loads(raw) == kept


def test_a_half_written_last_line_is_passed_over_and_left_alone(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    append_line(shelf.add(events=log_of(session_start(), stop())), '{"seq": 3, "ts')
    before = snapshot(shelf.root)
    assert len(told(shelf, capsys)) == 2
    assert len(told(shelf, capsys, follow=True)) == 2
    assert snapshot(shelf.root) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("junk\n{}\n", "line 2 is not JSON"),
        ("[]\n", "line 2 is not an object"),
        ('{"seq": 7}\n', "line 2 has seq 7, expected 2"),
        (written(session_start(schema_version=99), 2), "written in schema 99"),
    ],
)
def test_a_line_that_cannot_be_trusted_stops_the_reading(
    shelf: Shelf, text: str, said: str
) -> None:
    append_line(shelf.add(events=log_of(session_start())), text)
    for follow in (False, True):
        with pytest.raises(CorruptSession, match=said):
            events("latest", follow=follow, environ=shelf.environ)


def test_following_prints_what_comes_and_ends_with_the_session(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = shelf.add(status="running", events=log_of(session_start()))
    lock = Lock(directory / "lock")
    lock.acquire()
    steps = iter(range(1, 10))
    seen = []

    def wait(seconds: float) -> None:
        """Be the run: half a line, then the rest of it, then the stop, then let go."""
        seen.append(len(capsys.readouterr().out.splitlines()))
        line = written(tool_result("bash"), 2)
        match next(steps):
            case 1:
                append_line(directory, line[:40])
            case 2:
                append_line(directory, line[40:])
            case 3:
                append_line(directory, written(stop(), 3))
            case 4:
                lock.release()

    assert events("latest", follow=True, environ=shelf.environ, sleep=wait) == 0
    assert seen == [1, 0, 1, 1]
    assert capsys.readouterr().err == ""


def test_what_is_written_just_before_the_lock_is_free_is_not_lost(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = shelf.add(status="running", events=log_of(session_start()))
    lock = Lock(directory / "lock")
    lock.acquire()

    def wait(seconds: float) -> None:
        append_line(directory, written(stop(), 2))
        lock.release()

    assert events("latest", follow=True, environ=shelf.environ, sleep=wait) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_following_a_session_nobody_works_on_ends_and_says_so(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.add(status="running", events=log_of(session_start()))
    assert events("latest", follow=True, environ=shelf.environ) == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 1
    assert "did not stop by itself" in captured.err


def test_a_long_log_costs_no_more_memory_than_a_short_one(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tool_result("bash", "x" * 20_000)
    shelf.add(events=log_of(*[result] * 1000))
    told(shelf, capsys, types=["stop"])
    tracemalloc.start()
    try:
        told(shelf, capsys, types=["stop"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
