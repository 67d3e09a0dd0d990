"""Answers without bounds: too deep, too large, too long, and what makes no answer at all."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.messages_api import (
    EVENT_STREAM,
    Broken,
    MessagesServer,
    Reply,
    Whole,
    block,
    json_body,
    say,
)

from tilth.base.errors import ProviderError
from tilth.model.messages import Conversation, RetryNotice, Role, Turn
from tilth.model.provider import AnthropicModel, ModelConfig


class Bench:
    """A scripted server, a model pointed at it, and a clock that moves with every look at it."""

    def __init__(self, server: MessagesServer, tick_s: float = 0.0, **config: object) -> None:
        self.server = server
        self.time = 1000.0
        self.tick_s = tick_s
        self.notices: list[RetryNotice] = []
        settings = {"model": "claude-sonnet-5", "api_key": "key-0123456789", "base_url": server.url}
        self.model = AnthropicModel(
            ModelConfig.model_validate({**settings, **config}),
            clock=self.clock,
            sleep=lambda seconds: None,
            random=lambda: 0.5,
        )
        self.talk = Conversation(
            id="c", role=Role.WORKER, model="claude-sonnet-5", max_tokens=9, system="s", tools=[]
        )
        self.talk.say("hello")

    def clock(self) -> float:
        self.time += self.tick_s
        return self.time

    def ask(self) -> Turn:
        return self.model.respond(self.talk, self.notices.append)


MakeBench = Callable[..., Bench]


def endless(event: dict[str, Any]) -> Broken:
    """Begin an answer and say one event until the client has gone."""
    again = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    return Broken(say("x"), after=2, then=itertools.repeat(again))


@pytest.fixture
def bench() -> Iterator[MakeBench]:
    made: list[Bench] = []

    def make(*replies: Reply, **config: Any) -> Bench:
        server = MessagesServer(replies)
        made.append(Bench(server.__enter__(), **config))
        return made[-1]

    yield make
    for one in made:
        one.model.close()
        one.server.__exit__(None, None, None)


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("depth", [65, 300, 960, 100_000])
def test_streamed_tool_input_nested_without_end_is_no_input(bench: MakeBench, depth: int) -> None:
    turn = bench(block(type="tool_use", name="bash", input=nested(depth))).ask()
    assert turn.tool_calls[0].arguments == {"INVALID_JSON": nested(depth)}


def whole(depth: int) -> Whole:
    message = {"content": [{"type": "tool_use", "id": "t", "name": "bash", "input": "HERE"}]}
    body = json.dumps(message).replace('"HERE"', nested(depth)).encode()
    return Whole(200, body, {"content-type": "application/json"})


# In between it is Python's version, and how deep it stands, that decides which of the two it is.
@pytest.mark.parametrize("depth", [65, 300])
def test_whole_tool_input_nested_without_end_is_no_input(bench: MakeBench, depth: int) -> None:
    turn = bench(whole(depth), say("fine")).ask()
    said = {"INVALID_JSON": "nested more than 64 deep"}
    assert [call.arguments for call in turn.tool_calls] == [said]


def test_what_even_the_reader_of_json_will_not_take_is_no_answer(bench: MakeBench) -> None:
    one = bench(whole(100_000), say("fine"))
    turn = one.ask()
    assert (turn.text, turn.tool_calls) == ("fine", ())
    assert len(one.server.requests) == 2


def test_tool_input_as_deep_as_it_may_be_is_taken(bench: MakeBench) -> None:
    turn = bench(block(type="tool_use", name="bash", input=nested(60))).ask()
    assert turn.tool_calls[0].arguments == json.loads(nested(60))


@pytest.mark.parametrize("count", ["1" + "0" * 400, "1e300", "1000000000001"])
def test_a_count_no_model_could_reach_makes_no_answer(bench: MakeBench, count: str) -> None:
    message = {"content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": "HERE"}}
    body = json.dumps(message).replace('"HERE"', count).encode()
    one = bench(Whole(200, body, {"content-type": "application/json"}), say("fine"))
    assert one.ask().text == "fine"
    assert "input_tokens is no count of tokens" in one.notices[0].error


@pytest.mark.parametrize(
    "strange",
    [
        {"type": "text", "text": 5},
        {"type": "text", "text": ["x"]},
        {"type": "thinking", "thinking": {"a": 1}, "signature": "s"},
    ],
)
def test_text_that_is_no_string_makes_no_answer(bench: MakeBench, strange: Any) -> None:
    body = json_body(200, {"content": [strange]})
    one = bench(body, say("fine"))
    assert one.ask().text == "fine"
    assert "the body is no Messages answer" in one.notices[0].error


def test_a_delta_to_a_text_that_is_no_string_makes_no_answer(bench: MakeBench) -> None:
    events = [
        {"type": "message_start", "message": {}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": 5}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "message_stop"},
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    one = bench(Whole(200, stream, EVENT_STREAM), say("fine"))
    assert one.ask().text == "fine"
    assert "a 'text' that is no text" in one.notices[0].error


def test_calls_with_one_id_get_ids_of_their_own(bench: MakeBench) -> None:
    same = [block(type="tool_use", id="call_0", name="bash", input={"n": n}) for n in range(4)]
    one = bench(same[0] + same[1], same[2] + say("again"), same[3])
    calls = []
    for _ in range(3):
        turn = one.ask()
        one.talk.hear(turn.content)
        calls += turn.tool_calls
    named = [(call.id, call.arguments["n"]) for call in calls]
    assert named == [("call_0", 0), ("call_0_2", 1), ("call_0_3", 2), ("call_0_4", 3)]


def test_a_stream_of_pings_alone_is_a_stall(bench: MakeBench) -> None:
    one = bench(endless({"type": "ping"}), say("fine"), tick_s=1.0, stall_s=10.0)
    assert one.ask().text == "fine"
    assert one.notices[0].error == "no word in 50 s, only signs of life"


def test_an_answer_may_take_only_so_long(bench: MakeBench) -> None:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}}
    one = bench(endless(delta), say("fine"), tick_s=1.0, answer_s=60.0)
    assert one.ask().text == "fine"
    assert one.notices[0].error.endswith("the answer took more than 60 s")


def test_an_answer_may_only_be_so_large(bench: MakeBench) -> None:
    text = {"type": "text_delta", "text": "x" * 1000}
    delta = {"type": "content_block_delta", "index": 0, "delta": text}
    one = bench(endless(delta), say("fine"), answer_bytes=100_000)
    assert one.ask().text == "fine"
    assert one.notices[0].error.endswith("the answer is larger than 100000 bytes")


@pytest.mark.parametrize("status", [200, 500])
def test_a_body_that_came_whole_may_only_be_so_large(bench: MakeBench, status: int) -> None:
    big = json_body(status, {"error": {"message": "x" * 200_000}})
    one = bench(big, say("fine"), answer_bytes=100_000)
    assert one.ask().text == "fine"
    assert one.notices[0].error.endswith("the answer is larger than 100000 bytes")


@pytest.mark.parametrize("status", [200, 500])
def test_a_compressed_body_is_not_unpacked(bench: MakeBench, status: int) -> None:
    packed = gzip.compress(b'{"error": {"message": "' + b"x" * 5_000_000 + b'"}}')
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    one = bench(Whole(status, packed, headers), say("fine"))
    assert one.ask().text == "fine"
    assert one.server.requests[0].headers["accept-encoding"] == "identity"
    assert one.notices[0].error.endswith("the answer is packed (gzip), which was not asked for")


def test_an_endpoint_that_never_says_a_word_is_given_up(bench: MakeBench) -> None:
    one = bench(*[endless({"type": "ping"})] * 50, tick_s=5.0, stall_s=10.0)
    with pytest.raises(ProviderError, match=r"failed for .* no word in 50 s"):
        one.ask()
