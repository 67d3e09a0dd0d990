"""The event log: numbers without a gap, no key in it, and a reader that vouches for both."""

from __future__ import annotations

import json
import random
import signal
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from support.event_samples import (
    SAMPLES,
    SESSION,
    model_call,
    says,
    session_start,
    stop,
    tool_result,
)

from tilth.base.clock import SystemClock, stamp
from tilth.base.errors import CorruptSession, DiskError
from tilth.config.secrets import Mask, hidden
from tilth.log.events import Event, Scope
from tilth.log.reader import read_events
from tilth.log.state import SessionState, fold
from tilth.log.writer import Emitter, EventLog
from tilth.model.messages import Role

KEY = "sk-ant-0123456789abcdef"


class FixedClock:
    """Stand still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 16, 22, 15, 30, 987_654, UTC)

    def monotonic(self) -> float:
        return 0.0


class Heard:
    """Keep every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def take(self, event: Event) -> None:
        self.events.append(event)


def open_log(
    path: Path, *sinks: Heard, key: str = KEY, before: SessionState | None = None
) -> EventLog:
    return EventLog(
        path,
        session=SESSION,
        clock=FixedClock(),
        mask=Mask([key]),
        sinks=sinks,
        before=before,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def test_an_event_has_the_fields_of_the_contract(path: Path) -> None:
    log = open_log(path)
    log.record(stop(detail="done"), Scope("T-001", 3, "trace", "span"))
    log.close()
    line = json.loads(path.read_text("utf-8"))
    assert line == {
        "seq": 1,
        "ts": "2026-11-16T22:15:30.987Z",
        "type": "stop",
        "session": SESSION,
        "task_id": "T-001",
        "iter": 3,
        "trace_id": "trace",
        "span_id": "span",
        "payload": {"reason": "all_done", "exit_code": 0, "detail": "done"},
    }
    assert " ".join(line) == "seq ts type session task_id iter trace_id span_id payload"


def test_events_are_numbered_from_one_and_go_on_after_a_resume(path: Path) -> None:
    log = open_log(path)
    for sample in SAMPLES.values():
        log.record(sample, Scope())
    log.close()
    again = open_log(path, before=fold(read_events(path)))
    again.record(stop(), Scope())
    again.close()
    assert [event.seq for event in read_events(path)] == list(range(1, len(SAMPLES) + 2))


def test_sinks_hear_every_event_after_it_was_written(path: Path) -> None:
    class Reader(Heard):
        def take(self, event: Event) -> None:
            assert len(list(read_events(path))) == event.seq
            super().take(event)

    sinks = (Reader(), Reader())
    log = open_log(path, *sinks)
    given = [log.record(sample, Scope()) for sample in SAMPLES.values()]
    log.close()
    assert sinks[0].events == sinks[1].events == given


def test_a_bound_emitter_narrows_its_scope_and_shares_the_numbers(path: Path) -> None:
    log = open_log(path)
    emit = Emitter(log)
    task = emit.bind(task_id="T-001", trace_id="t", iter=0)
    step = task.bind(iter=2, span_id="s")
    for each in (emit, task, step, step.bind(), emit):
        each(stop())
    log.close()
    assert [(event.seq, *event.scope) for event in read_events(path)] == [
        (1, None, None, None, None),
        (2, "T-001", 0, "t", None),
        (3, "T-001", 2, "t", "s"),
        (4, "T-001", 2, "t", "s"),
        (5, None, None, None, None),
    ]


def test_a_known_key_reaches_neither_the_file_nor_a_sink(path: Path) -> None:
    heard = Heard()
    log = open_log(path, heard)
    call = {"type": "tool_use", "id": "c1", "name": "bash", "input": {KEY: [f"echo {KEY}"]}}
    payloads = [
        tool_result("bash", f"KEY={KEY}"),
        model_call(says(f"The key is {KEY}."), call),
        session_start(settings={"TILTH_API_KEY": KEY}),
    ]
    given = [log.record(payload, Scope()) for payload in payloads]
    log.close()
    assert KEY not in path.read_text("utf-8")
    assert all(KEY not in repr(event) for event in heard.events)
    assert heard.events == given
    assert given == list(read_events(path))
    first = heard.events[0].to_line()["payload"]
    assert first["content"] == f"KEY={hidden(KEY)}"


def test_what_only_looks_like_a_key_is_left_to_whoever_made_the_result(path: Path) -> None:
    log = open_log(path)
    log.record(model_call(says("sk-ant-99999999999999999999")), Scope())
    log.close()
    assert "sk-ant-99999999999999999999" in path.read_text("utf-8")


@pytest.mark.parametrize("key", ["123456", "000000", "worker", "content", 'a"key\\', "schlüssel"])
def test_a_key_of_any_shape_leaves_a_log_that_can_be_read(path: Path, key: str) -> None:
    heard = Heard()
    log = open_log(path, heard, key=key)
    log.record(model_call(says(f"<{key}>"), latency_ms=123456), Scope())
    log.record(tool_result("bash", f"<{key}>"), Scope())
    log.close()
    call, result = (event.payload.model_dump() for event in read_events(path))
    assert call["content"][0]["text"] == f"<{hidden(key)}>"
    assert (call["latency_ms"], call["role"]) == (123456, Role.WORKER)
    assert result["content"] == f"<{hidden(key)}>"
    assert len(heard.events) == 2


def test_every_sample_survives_the_file_and_comes_back_the_same(path: Path) -> None:
    log = open_log(path)
    given = [log.record(sample, Scope(task_id="T-001")) for sample in SAMPLES.values()]
    log.close()
    assert list(read_events(path)) == given


def test_text_of_any_kind_comes_back_as_it_was(path: Path) -> None:
    text = 'é 漢 😀 \u2028 \x00 \x7f "quoted" \\ \r\n half \ud83d'
    log = open_log(path)
    log.record(tool_result("bash", text), Scope())
    log.record(stop(), Scope())
    log.close()
    first, second = read_events(path)
    assert first.payload.model_dump()["content"] == text
    assert second.seq == 2


def test_a_number_is_not_used_up_by_a_write_that_failed(tmp_path: Path) -> None:
    log_path = tmp_path / "events.jsonl"
    log = open_log(log_path)
    log.record(stop(), Scope())
    log.close()
    with pytest.raises(DiskError):
        log.record(stop(), Scope())
    again = open_log(log_path, before=fold(read_events(log_path)))
    assert again.record(stop(), Scope()).seq == 2
    again.close()


def test_an_interrupt_at_any_moment_leaves_neither_a_gap_nor_a_repeat(path: Path) -> None:
    class AtOnceError(Exception):
        pass

    def at_once(*_: object) -> None:
        raise AtOnceError

    dice, log = random.Random(7), open_log(path)
    before = signal.signal(signal.SIGALRM, at_once)
    try:
        for _ in range(1500):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + dice.random() * 4e-4)
                log.record(stop(), Scope())
                signal.setitimer(signal.ITIMER_REAL, 0)
            except AtOnceError:
                continue
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    last = log.record(stop(), Scope())
    log.close()
    assert len(list(read_events(path))) == last.seq


def write(path: Path, *lines: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


@pytest.mark.parametrize(
    ("numbers", "line"),
    [([2], 1), ([0], 1), ([1, 3], 2), ([1, 1], 2), ([1, 2, 2], 3), ([1, None], 2), ([1, "2"], 2)],
)
def test_a_gap_or_a_repeat_in_the_numbers_is_a_corrupt_session(
    path: Path, numbers: list[Any], line: int
) -> None:
    about = {"type": "later", "ts": "", "payload": {}}
    write(path, *({"seq": number, **about} for number in numbers))
    with pytest.raises(CorruptSession, match=f"{path}: line {line} has seq"):
        list(read_events(path))


@pytest.mark.parametrize("version", [2, 99])
def test_a_log_of_a_newer_schema_is_not_guessed_at(path: Path, version: Any) -> None:
    payload = {"schema_version": version}
    write(path, {"seq": 1, "type": "session_start", "payload": payload})
    with pytest.raises(CorruptSession, match="use the newer Tilth"):
        list(read_events(path))


@pytest.mark.parametrize(
    "payload", [[], {}, {"schema_version": None}, {"schema_version": "1"}, {"schema_version": True}]
)
def test_a_session_start_that_names_no_schema_is_none(path: Path, payload: Any) -> None:
    write(path, {"seq": 1, "type": "session_start", "payload": payload})
    with pytest.raises(CorruptSession, match="line 1 is no session start that can be read"):
        list(read_events(path))


def test_an_event_nobody_knows_is_kept_as_it_was_written(path: Path) -> None:
    line = {"seq": 1, "ts": "t", "type": "from_the_future", "payload": {"new": [1]}}
    write(path, line)
    (event,) = read_events(path)
    assert line.items() <= event.to_line().items()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"type": "model_call", "ts": "t", "payload": None}, r"\(model_call\) cannot be trusted"),
        ({"type": "stop", "ts": "t"}, "'payload' is missing"),
        ({"type": "stop", "payload": {}}, "reason: Field required"),
        ({"type": "later", "ts": 7, "payload": {}}, "ts must be a text, got 7"),
    ],
)
def test_a_line_that_is_not_what_it_says_is_named(
    path: Path, line: dict[str, Any], said: str
) -> None:
    write(path, {"seq": 1, **line})
    with pytest.raises(CorruptSession, match=f"{path}: line 1 .*{said}.*restore the file"):
        list(read_events(path))


def test_the_state_is_up_to_date_as_the_log_is_written(path: Path) -> None:
    log = open_log(path)
    for sample in SAMPLES.values():
        log.record(sample, Scope(task_id="T-001"))
    log.close()
    assert log.state == fold(read_events(path))


def test_a_torn_last_line_is_not_an_event(path: Path) -> None:
    log = open_log(path)
    log.record(stop(), Scope())
    log.close()
    with path.open("ab") as file:
        file.write(b'{"seq": 2, "ty')
    assert len(list(read_events(path))) == 1


def test_a_moment_is_written_in_utc_to_the_millisecond() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert stamp(datetime(2026, 1, 1, 3, 0, 0, 1_999, east)) == "2025-12-31T21:30:00.001Z"
    assert SystemClock().now().tzinfo is UTC
