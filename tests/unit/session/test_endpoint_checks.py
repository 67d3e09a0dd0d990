"""An endpoint that is tried: what it does well passes, what it does badly is named with its fix."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.messages_api import (
    Answer,
    MessagesServer,
    Reply,
    Request,
    call,
    drop,
    error,
    say,
    think,
)

from tilth.config.settings import Settings, load
from tilth.model.trial import ToolUse, Trial
from tilth.session.doctor_check import Check, Grade
from tilth.session.endpoint_checks import endpoint_checks, graded

KEY = "sk-test-0123456789abcdef"
TRAINED = {"id": "m", "meta": {"n_ctx_train": 131072}}
PROPS = {"default_generation_settings": {"n_ctx": 16384, "params": {"seed": 1}}}


def right(request: Request) -> Answer:
    """Make the call that is asked for, as a model that reads does."""
    (tool,) = request.body["tools"]
    question = request.body["messages"][0]["content"][0]["text"]
    words = question.rpartition(": ")[2].rstrip(".").split(", ")
    return call(tool["name"], words=words, count=len(words))


def ticking() -> Callable[[], float]:
    """A clock on which every look takes a thousandth of a second, on any machine."""
    looks = itertools.count()
    return lambda: next(looks) / 1000


def tried(
    tmp_path: Path,
    answer: Any,
    documents: Mapping[str, Any] | None = None,
    **environ: str,
) -> dict[str, Check]:
    """Try an endpoint that answers a ping, and this to a call with a tool."""

    def reply(request: Request) -> Reply:
        if not request.tools:
            return say("H")
        return answer(request) if callable(answer) else answer

    with MessagesServer(reply, documents) as server:
        found = list(endpoint_checks(settings(tmp_path, server.url, **environ), ticking()))
    return {check.name: check for check in found}


def settings(tmp_path: Path, url: str, **environ: str) -> Settings:
    known = {"HOME": str(tmp_path), "TILTH_HOME": str(tmp_path), "TILTH_BASE_URL": url}
    return load({}, {**known, "TILTH_API_KEY": KEY, "TILTH_WORKER_MODEL": "m", **environ})


def test_an_endpoint_that_does_well_passes_everything(tmp_path: Path) -> None:
    found = tried(tmp_path, lambda request: think("hm") + say("Noting.") + right(request))
    assert list(found) == ["endpoint", "tools", "stream", "window", "speed"]
    assert {name: check.grade for name, check in found.items()} == dict.fromkeys(found, Grade.PASS)
    assert all(check.found.startswith("worker, evaluator, seeder: ") for check in found.values())
    assert "does not tell" in found["window"].found
    assert "tokens a second" in found["speed"].found


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (say("I have noted the words."), "called no tool"),
        (Answer(stop_reason="end_turn"), "called no tool"),
        (say('{"name": "note_words", "arguments": {"words": []}}'), "JSON text"),
        (say('```json\n{"words": ["harrow"], "count": 1}\n```'), "JSON text"),
        (call("noteWords", words=[], count=0), "not on offer"),
        (call("note_words", words="harrow", count="24"), "other arguments"),
        (call("note_words", words=[], count=0).but(stop_reason="max_tokens"), "cut off"),
        (lambda request: right(request) + right(request), "several times"),
    ],
)
def test_a_model_that_does_not_make_the_one_call_is_a_warning(
    tmp_path: Path, answer: Any, said: str
) -> None:
    found = tried(tmp_path, answer)
    assert found["endpoint"].grade is Grade.PASS
    assert found["tools"].grade is Grade.WARN
    assert said in found["tools"].found
    assert found["tools"].fix


def test_an_endpoint_that_does_not_stream_is_a_warning(tmp_path: Path) -> None:
    found = tried(tmp_path, lambda request: right(request).but(streamed=False))
    assert found["tools"].grade is Grade.PASS
    assert found["stream"].grade is Grade.WARN
    assert "TILTH_STALL_SECONDS" in found["stream"].fix


@pytest.mark.parametrize(
    ("reply", "grade", "said"),
    [
        (error(400, "this model does not support tools"), Grade.FAIL, "does not support tools"),
        (error(500, f"tool parser crashed on {KEY}"), Grade.WARN, "tool parser crashed"),
        (drop(), Grade.WARN, "connection failed"),
    ],
)
def test_an_endpoint_that_fails_at_a_call_with_a_tool_says_so_and_no_more(
    tmp_path: Path, reply: Reply, grade: Grade, said: str
) -> None:
    found = tried(tmp_path, reply)
    assert list(found) == ["endpoint", "tools"]
    assert found["tools"].grade is grade
    assert said in found["tools"].found
    assert found["tools"].fix
    assert KEY not in found["tools"].found


def test_an_endpoint_that_does_not_answer_at_all_is_not_tried_further(tmp_path: Path) -> None:
    with MessagesServer([error(401, "no such key")]) as server:
        (check,) = endpoint_checks(settings(tmp_path, server.url))
    assert check.grade is Grade.FAIL
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("documents", "size"),
    [
        ({"/v1/models/m": {"id": "m", "max_input_tokens": 200000}}, "200,000"),
        ({"/v1/models": {"data": [{"id": "x"}, {"id": "m", "max_model_len": 65536}]}}, "65,536"),
        ({"/v1/models": {"data": [TRAINED]}, "/props": PROPS}, "16,384"),
    ],
)
def test_the_window_is_told_where_the_endpoint_tells_it(
    tmp_path: Path, documents: Mapping[str, Any], size: str
) -> None:
    found = tried(tmp_path, right, documents, TILTH_MAX_OUTPUT_TOKENS="4000")
    assert found["window"].found == f"worker, evaluator, seeder: {size} tokens"
    assert found["window"].grade is Grade.PASS


@pytest.mark.parametrize("bad", [[], "words", {"data": "x"}, {"data": [1]}, {"n_ctx": "many"}])
def test_a_document_that_tells_nothing_is_passed_over(tmp_path: Path, bad: Any) -> None:
    found = tried(tmp_path, right, {"/v1/models": bad, "/props": bad})
    assert "does not tell" in found["window"].found


def test_a_window_that_the_answer_alone_would_fill_is_a_warning(tmp_path: Path) -> None:
    found = tried(tmp_path, right, {"/props": PROPS})
    assert found["window"].grade is Grade.WARN
    assert "leaves 384" in found["window"].found
    assert "4096" in found["window"].fix


@pytest.mark.parametrize(
    ("first_ms", "total_ms", "tokens", "stream", "speed", "said"),
    [
        (500, 2500, 100, Grade.PASS, Grade.PASS, "0.5 s, 50 tokens a second"),
        (500, 20_500, 100, Grade.PASS, Grade.WARN, "5 tokens a second"),
        (2450, 2500, 100, Grade.WARN, Grade.PASS, "2.5 s, 40 tokens a second"),
        (None, 2500, 100, Grade.WARN, Grade.PASS, "2.5 s, 40 tokens a second"),
        (40_000, 45_000, 100, Grade.PASS, Grade.WARN, "first word after 40.0 s"),
        (500, 2500, 0, Grade.PASS, Grade.PASS, "tokens are not counted"),
    ],
)
def test_speed_and_stream_are_graded_by_when_the_words_came(
    tmp_path: Path,
    first_ms: int | None,
    total_ms: int,
    tokens: int,
    stream: Grade,
    speed: Grade,
    said: str,
) -> None:
    trial = Trial(
        model="m",
        endpoint="http://127.0.0.1",
        tools=ToolUse.CALLED,
        total_ms=total_ms,
        first_ms=first_ms,
        output_tokens=tokens,
        window=None,
    )
    found = {c.name: c for c in graded(trial, "worker", settings(tmp_path, "http://127.0.0.1"))}
    assert (found["stream"].grade, found["speed"].grade) == (stream, speed)
    assert said in found["speed"].found
    assert all(check.fix for check in found.values() if check.grade is Grade.WARN)
