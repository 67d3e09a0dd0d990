"""What the provider sends and what it makes of an answer, over real HTTP with the real SDK."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from support.messages_api import Answer, MessagesServer, Script, block, by_role, call, say, think

from tilth.base.values import canonical
from tilth.model.messages import Conversation, RetryNotice, Role, ToolSpec, Turn, Usage
from tilth.model.provider import AnthropicModel, ModelConfig

KEY = "key-0123456789"
BASH = ToolSpec(name="bash", description="Run it.", input_schema={"type": "object"})


def conversation(text: str = "hello", role: Role = Role.WORKER) -> Conversation:
    talk = Conversation(
        id="c1",
        role=role,
        model="claude-sonnet-5",
        max_tokens=100,
        system="You are a worker. Ünïcödé 🌱",
        tools=[BASH],
    )
    talk.say(text)
    return talk


def never(notice: RetryNotice) -> None:
    raise AssertionError(f"retried: {notice}")


class Bench:
    """A server with a script and a model pointed at it."""

    def __init__(self, script: Script, **config: object) -> None:
        self.server = MessagesServer(script)
        settings = {"model": "claude-sonnet-5", "api_key": KEY, "base_url": self.server.url}
        self.model = AnthropicModel(ModelConfig.model_validate({**settings, **config}))

    def ask(self, talk: Conversation | None = None) -> Turn:
        return self.model.respond(talk or conversation(), never)


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(*replies: Answer, **config: object) -> Bench:
        one = Bench(replies, **config)
        one.server.__enter__()
        made.append(one)
        return one

    yield make
    for one in made:
        one.model.close()
        one.server.__exit__(None, None, None)


MakeBench = Callable[..., Bench]


def test_text_becomes_a_turn(bench: MakeBench) -> None:
    turn = bench(say("Hello 🌍, wörld.", model="claude-sonnet-5-20260101")).ask()
    assert turn.text == "Hello 🌍, wörld."
    assert turn.stop_reason == "end_turn"
    assert turn.model == "claude-sonnet-5-20260101"
    assert turn.request_id == "req_0001"


def test_several_calls_come_in_order_with_their_arguments(bench: MakeBench) -> None:
    turn = bench(
        say("I look.")
        + call("bash", command="ls 'ä'")
        + call("noop")
        + call("edit", lines=[1, 2.5, None], name="x")
    ).ask()
    assert [(c.id, c.name, c.arguments) for c in turn.tool_calls] == [
        ("toolu_0001", "bash", {"command": "ls 'ä'"}),
        ("toolu_0002", "noop", {}),
        ("toolu_0003", "edit", {"lines": [1, 2.5, None], "name": "x"}),
    ]
    assert turn.stop_reason == "tool_use"


def test_thinking_is_sent_back_as_it_came(bench: MakeBench) -> None:
    thinking = "Weigh it 🤔\n\tthen \u2028 act." * 20
    one = bench(think(thinking, "sig+/=abc") + call("bash", command="ls"), say("done"))
    talk = conversation()
    turn = one.ask(talk)
    talk.hear(turn.content)
    talk.reply([{"type": "tool_result", "tool_use_id": "toolu_0001", "content": "ok"}])
    one.ask(talk)
    assert one.server.requests[1].body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": thinking, "signature": "sig+/=abc"},
        {"type": "tool_use", "id": "toolu_0001", "name": "bash", "input": {"command": "ls"}},
    ]


def test_blocks_and_fields_nobody_knows_are_kept(bench: MakeBench) -> None:
    strange = {"type": "glimpse", "payload": {"deep": [1, {"x": None}]}, "mark": "ü"}
    known = {"type": "text", "text": "hi", "citations": None, "future": {"a": 1}}
    redacted = {"type": "redacted_thinking", "data": "AAAA"}
    answer = block(**strange) + block(**known) + block(**redacted)
    assert bench(answer).ask().content == (strange, known, redacted)


def test_the_wire_carries_the_conversation_and_nothing_else(bench: MakeBench) -> None:
    one, talk = bench(say("hi")), conversation("ask 🌱 \u2028 \x00")
    one.ask(talk)
    assert one.server.requests[0].body == {**talk.request(), "stream": True}
    assert one.server.requests[0].body["cache_control"] == {"type": "ephemeral"}


def test_the_hash_of_a_request_is_the_hash_of_what_was_sent(bench: MakeBench) -> None:
    one, talk = bench(think("hm") + call("bash", command="ls"), say("done")), conversation()
    hashes = [talk.sha256()]
    talk.hear(one.ask(talk).content)
    talk.reply([{"type": "tool_result", "tool_use_id": "toolu_0001", "content": "ä"}])
    hashes.append(talk.sha256())
    one.ask(talk)
    bodies = [dict(request.body) for request in one.server.requests]
    assert all(body.pop("stream") is True for body in bodies)
    assert [hashlib.sha256(canonical(body).encode()).hexdigest() for body in bodies] == hashes


def test_a_request_extends_the_one_before_byte_for_byte(bench: MakeBench) -> None:
    one, talk = bench(say("one"), say("two")), conversation()
    talk.hear(one.ask(talk).content)
    talk.say("and now?")
    one.ask(talk)
    first, second = (request.raw for request in one.server.requests)
    end = first.index(b'],"model"')
    assert second.startswith(first[:end])


def test_turns_share_one_connection(bench: MakeBench) -> None:
    one = bench(say("a"), call("bash", command="x" * 500).but(packet=7), say("c", streamed=False))
    for _ in range(3):
        one.ask()
    assert one.server.connections == 1


def test_the_key_is_sent_as_a_bearer_token(bench: MakeBench) -> None:
    one = bench(say("hi"))
    one.ask()
    headers = one.server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in headers
    assert headers["anthropic-version"]


def test_extra_headers_are_added_and_override(bench: MakeBench) -> None:
    extra = {"x-api-key": "other", "Anthropic-Version": "2023-06-01", "X-Team": "night"}
    one = bench(say("hi"), extra_headers=extra)
    one.ask()
    headers = one.server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["x-api-key"] == "other"
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["x-team"] == "night"


def test_an_extra_authorization_header_replaces_the_key(bench: MakeBench) -> None:
    one = bench(say("hi"), extra_headers={"authorization": "Basic abc"})
    one.ask()
    assert one.server.requests[0].headers["authorization"] == "Basic abc"
    assert KEY not in str(one.server.requests[0].headers)


def test_nothing_of_the_environment_is_sent(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Foreign: 1\nAuthorization: Bearer foreign")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "foreign")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "foreign")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    one = bench(say("hi"))
    one.ask()
    headers = one.server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "x-foreign" not in headers
    assert "foreign" not in str(headers)


def test_usage_counts_cache_and_reasoning(bench: MakeBench) -> None:
    usage = {
        "input_tokens": 1000,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 3000,
        "output_tokens": 500,
        "output_tokens_details": {"thinking_tokens": 123},
    }
    turn = bench(say("hi", usage=usage)).ask()
    assert turn.usage == Usage(
        input_tokens=1000,
        cache_read_tokens=2000,
        cache_write_tokens=3000,
        output_tokens=500,
        reasoning_tokens=123,
    )
    # $2 input, $0.20 cache read, $2.50 cache write and $10 output a million
    assert turn.cost_usd == pytest.approx(0.002 + 0.0004 + 0.0075 + 0.005)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"input_tokens": 0, "output_tokens": 0},
        {"input_tokens": None, "output_tokens": None, "output_tokens_details": None},
        {"input_tokens": "many", "output_tokens": -1, "output_tokens_details": 7},
        {"input_tokens": 0, "output_tokens": 9},
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_usage_that_is_missing_is_no_tokens_and_no_known_cost(
    bench: MakeBench, usage: dict[str, object] | None, streamed: bool
) -> None:
    turn = bench(say("hi", usage=usage, streamed=streamed)).ask()
    assert turn.usage.input_tokens == 0
    assert turn.cost_usd is None


def test_a_model_without_a_price_has_an_unknown_cost(bench: MakeBench) -> None:
    turn = bench(say("hi", model="home-grown-7b")).ask()
    assert turn.usage.output_tokens == 5
    assert turn.cost_usd is None


@pytest.mark.parametrize("split", [1, 2, 3])
def test_characters_cut_in_two_by_deltas_are_whole_again(bench: MakeBench, split: int) -> None:
    text = "a🌱bé🇩🇪漢"
    answer = think(text) + say(text) + call("bash", command=text)
    one, talk = bench(answer.but(split=split), say("ok")), conversation()
    turn = one.ask(talk)
    talk.hear(turn.content)
    one.ask(talk)
    sent = one.server.requests[1].body["messages"][1]["content"]
    assert [sent[0]["thinking"], sent[1]["text"], sent[2]["input"]["command"]] == [text] * 3


def test_packets_may_end_anywhere(bench: MakeBench) -> None:
    text = "a🌱bé🇩🇪漢" * 3
    assert bench((say(text) + call("bash", command=text)).but(packet=1)).ask().text == text


def test_half_a_surrogate_pair_is_replaced_so_that_it_can_be_sent_back(bench: MakeBench) -> None:
    one, talk = bench(say("a\ud83cb") + call("bash", command="\udf31"), say("ok")), conversation()
    talk.hear(one.ask(talk).content)
    one.ask(talk)
    sent = one.server.requests[1].body["messages"][1]["content"]
    assert sent[0]["text"] == "a\ufffdb"
    assert sent[1]["input"] == {"command": "\ufffd"}


@pytest.mark.parametrize("written", ['{"command": "ls', '{"x": NaN}', '{"x": 1e999}', "ls -l"])
def test_tool_input_that_is_no_json_is_kept_as_text(bench: MakeBench, written: str) -> None:
    cut_call = block(type="tool_use", name="bash", input=written)
    one, talk = bench(cut_call.but(stop_reason="max_tokens"), say("ok")), conversation()
    turn = one.ask(talk)
    assert turn.was_cut
    assert turn.tool_calls[0].arguments == {"INVALID_JSON": written}
    talk.hear(turn.content)
    one.ask(talk)
    assert one.server.requests[1].body["messages"][1]["content"] == list(turn.content)


def test_json_instead_of_a_stream_is_read_too(bench: MakeBench) -> None:
    answer = think("hm", "sig") + say("I look. 🌱") + call("bash", command="ls")
    streamed, whole = bench(answer).ask(), bench(answer.but(streamed=False)).ask()
    assert whole.content == streamed.content
    assert (whole.usage, whole.stop_reason) == (streamed.usage, "tool_use")
    assert (whole.model, whole.cost_usd) == (streamed.model, streamed.cost_usd)


def test_blank_text_beside_a_call_is_left_out(bench: MakeBench) -> None:
    turn = bench(say("\n\n") + call("bash", command="ls") + say("")).ask()
    assert [one["type"] for one in turn.content] == ["tool_use"]


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "refusal", "stop_sequence", "new"])
def test_the_stop_reason_is_handed_on(bench: MakeBench, reason: str) -> None:
    assert bench(say("hi", stop_reason=reason)).ask().stop_reason == reason


def test_a_refusal_without_content_is_an_answer(bench: MakeBench) -> None:
    turn = bench(Answer(stop_reason="refusal")).ask()
    assert (turn.content, turn.stop_reason) == ((), "refusal")


def test_each_role_has_its_own_script() -> None:
    verdict = ToolSpec(name="submit_verdict", description="Judge.", input_schema={"type": "object"})
    case = ToolSpec(name="submit_case", description="Claim.", input_schema={"type": "object"})
    script = by_role(worker=[say("w1"), say("w2")], evaluator=[say("e1")])
    with MessagesServer(script) as server:
        config = ModelConfig(model="claude-sonnet-5", api_key=KEY, base_url=server.url)
        model, heard = AnthropicModel(config), []
        for tool in (case, verdict, case):
            talk = Conversation(
                id="c", role=Role.WORKER, model="m", max_tokens=9, system="s", tools=[tool]
            )
            talk.say("go")
            heard.append(model.respond(talk, never).text)
        model.close()
    assert heard == ["w1", "e1", "w2"]
    assert [request.role for request in server.requests] == ["worker", "evaluator", "worker"]


def test_name_and_endpoint_show_no_credentials() -> None:
    config = ModelConfig(
        model="m1", api_key=KEY, base_url="https://me:secret@gate.example:8443/api/?token=1"
    )
    model = AnthropicModel(config)
    assert (model.name, model.endpoint) == ("m1", "https://gate.example:8443/api")
    assert KEY not in repr(config)
    unreadable = ModelConfig(model="m", api_key=KEY, base_url="http://me:secret@[")
    assert AnthropicModel(unreadable).endpoint == "an unreadable address"
    assert AnthropicModel(ModelConfig(model="m", api_key=KEY)).endpoint.startswith("https://api.")


def test_importing_the_provider_imports_nothing_heavy() -> None:
    heavy = "{'anthropic', 'genai_prices', 'httpx2'}"
    code = f"import sys, tilth.model.provider; sys.exit(str({heavy} & set(sys.modules) or ''))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_the_raw_body_is_what_the_server_parsed(bench: MakeBench) -> None:
    one = bench(say("hi"))
    one.ask()
    assert json.loads(one.server.requests[0].raw) == one.server.requests[0].body
