"""Messages: the request a conversation adds up to, and the hash that follows it."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import pytest

from tilth.base.values import canonical
from tilth.contract.case import RAISE_BLOCKER, SUBMIT_CASE
from tilth.contract.ruling import SUBMIT_RULING
from tilth.contract.verdict import SUBMIT_VERDICT
from tilth.model.messages import Conversation, Role, ToolResult, ToolSpec, Turn, Usage

SPECS = (SUBMIT_CASE, RAISE_BLOCKER, SUBMIT_VERDICT, SUBMIT_RULING)


def reference(request: dict[str, Any]) -> str:
    """Hash a request the plain way, without any of the code under test."""
    text = json.dumps(request, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def conversation(**changes: Any) -> Conversation:
    given: dict[str, Any] = {
        "id": "w1",
        "role": Role.WORKER,
        "model": "some-model",
        "max_tokens": 16000,
        "system": 'Be "exact" – and brief.\n',
        "tools": SPECS,
    }
    return Conversation(**(given | changes))


def any_text(dice: random.Random) -> str:
    alphabet = 'ab \n\t"\\{}[],:é漢😀\u2028\x00\x7f'
    return "".join(dice.choice(alphabet) for _ in range(dice.randrange(1, 30)))


def any_json(dice: random.Random, depth: int = 3) -> Any:
    leaves = (None, True, False, dice.randrange(-(10**20), 10**20), dice.random(), any_text(dice))
    kind = dice.randrange(8) if depth else 0
    if kind == 6:
        return [any_json(dice, depth - 1) for _ in range(dice.randrange(4))]
    if kind == 7:
        return {any_text(dice): any_json(dice, depth - 1) for _ in range(dice.randrange(4))}
    return dice.choice(leaves)


def any_answer(dice: random.Random, call_id: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": any_text(dice), "signature": any_text(dice)},
        {"type": "text", "text": dice.choice(["", " \n", any_text(dice)])},
        {"type": "tool_use", "id": call_id, "name": "bash", "input": any_json(dice)},
    ]
    return [block for block in blocks if dice.random() < 0.8]


@pytest.mark.parametrize("asked", [1.0, 0.2, 0.0])
@pytest.mark.parametrize("seed", range(12))
def test_the_hash_is_that_of_the_whole_request_whenever_it_is_asked_for(
    seed: int, asked: float
) -> None:
    dice = random.Random(seed)
    talk = conversation(system=any_text(dice), tools=SPECS[: dice.randrange(5)])
    assert talk.sha256() == reference(talk.request())
    for number in range(25):
        step = dice.randrange(4)
        if step == 0:
            talk.say(any_text(dice))
        elif step == 1:
            talk.hear(any_answer(dice, f"c{number}"))
        elif step == 2:
            result = ToolResult(call_id=f"c{number}", content=any_text(dice), is_error=True)
            talk.reply([result.to_wire()])
        else:
            talk.shorten({f"c{dice.randrange(number + 1)}": "[removed]"})
        if dice.random() < asked:
            assert talk.sha256() == reference(talk.request())
    assert talk.sha256() == reference(talk.request())


@pytest.mark.parametrize("seed", range(6))
def test_a_conversation_rebuilt_from_its_head_hashes_alike(seed: int) -> None:
    dice = random.Random(seed)
    talk = conversation(system=any_text(dice))
    # as it comes back from a log
    head = json.loads(json.dumps(talk.head))
    again = Conversation.from_head("w1", Role.WORKER, head)
    for number in range(10):
        for each in (talk, again):
            each.say(f"{seed} {number}")
            each.hear([{"type": "text", "text": f"answer {number} 漢"}])
        assert again.request() == talk.request()
        assert again.sha256() == talk.sha256() == reference(again.request())


@pytest.mark.parametrize(
    "head",
    [{}, {"model": "m"}, {"a": 1}, {"max_tokens": 5, "model": "m", "zeta": [1], "alpha": {"b": 2}}],
)
def test_any_head_at_all_hashes_as_it_was_sent(head: dict[str, Any]) -> None:
    talk = Conversation.from_head("e1", Role.EVALUATOR, head)
    talk.say("one")
    talk.say("two")
    assert talk.sha256() == reference({**head, "messages": talk.messages})


def test_messages_given_at_the_start_count_in_the_hash() -> None:
    first = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    talk = conversation(messages=first)
    spoken = conversation()
    spoken.say("hello")
    assert talk.sha256() == spoken.sha256() == reference(talk.request())


def test_half_a_surrogate_pair_can_be_hashed() -> None:
    talk = conversation()
    talk.say("half \ud83d")
    assert talk.sha256() == reference(talk.request())


def test_asking_for_the_hash_does_not_change_it() -> None:
    talk = conversation()
    talk.say("hello")
    assert talk.sha256() == talk.sha256()


def test_every_request_is_an_extension_of_the_one_before() -> None:
    talk = conversation()
    before = canonical(talk.messages)[:-1]
    for number in range(5):
        talk.say(f"message {number}")
        talk.hear([{"type": "text", "text": "yes"}])
        now = canonical(talk.messages)
        assert now.startswith(before)
        before = now[:-1]


def test_blank_text_is_left_out_of_what_is_sent_back() -> None:
    talk = conversation()
    call = {"type": "tool_use", "id": "c1", "name": "bash", "input": {}}
    talk.hear([{"type": "text", "text": " \n"}, call, {"type": "text", "text": ""}])
    assert talk.messages == [{"role": "assistant", "content": [call]}]


@pytest.mark.parametrize("content", [[], [{"type": "text", "text": "\t"}]])
def test_an_answer_with_nothing_in_it_leaves_no_message(content: list[dict[str, Any]]) -> None:
    talk = conversation()
    talk.say("hello")
    before = talk.sha256()
    talk.hear(content)
    assert len(talk.messages) == 1
    assert talk.sha256() == before


def test_provider_blocks_are_echoed_as_they_came() -> None:
    blocks = [
        {"type": "thinking", "thinking": "", "signature": "abc=="},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "  kept with its spaces ", "citations": None},
    ]
    talk = conversation()
    talk.hear(blocks)
    assert talk.messages[0]["content"] == blocks


def test_trimming_stubs_the_named_results_and_nothing_else() -> None:
    talk = conversation()
    talk.hear([{"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "c1"}}])
    results = [
        ToolResult(call_id="c1", content="long " * 99, is_error=True),
        ToolResult(call_id="c2", content="kept"),
    ]
    talk.reply([result.to_wire() for result in results])
    answer = talk.messages[0]
    talk.shorten(dict.fromkeys(("c1", "never"), "[removed]"))
    assert talk.messages[0] == answer
    assert talk.messages[1]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "[removed]", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c2", "content": "kept"},
    ]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_tool_schema_has_an_object_at_its_root(spec: ToolSpec) -> None:
    wire = spec.to_wire()
    assert wire["input_schema"]["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf", "$ref"} & set(wire["input_schema"])
    assert "oneOf" not in json.dumps(wire)
    assert set(wire["input_schema"]["required"]) <= set(wire["input_schema"]["properties"])
    assert all(wire["input_schema"]["properties"].values())


def turn(*content: dict[str, Any], stop_reason: str | None = "end_turn") -> Turn:
    return Turn(content=content, stop_reason=stop_reason, usage=Usage(), model="m", latency_ms=1)


def test_a_turn_gives_its_text_and_its_calls_in_order() -> None:
    answer = turn(
        {"type": "text", "text": "one"},
        {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
        {"type": "text", "text": "two"},
        {"type": "tool_use", "id": "c2", "name": "grep"},
    )
    assert answer.text == "one\ntwo"
    assert [(call.id, call.name, call.arguments) for call in answer.tool_calls] == [
        ("c1", "bash", {"command": "ls"}),
        ("c2", "grep", None),
    ]
    assert not answer.is_empty


@pytest.mark.parametrize(
    "content",
    [(), ({"type": "text", "text": " "},), ({"type": "thinking", "thinking": "…"},)],
)
def test_a_turn_without_text_or_calls_is_empty(content: tuple[dict[str, Any], ...]) -> None:
    assert turn(*content).is_empty


@pytest.mark.parametrize(
    ("reason", "cut"),
    [
        ("max_tokens", True),
        ("model_context_window_exceeded", True),
        ("end_turn", False),
        ("tool_use", False),
        (None, False),
    ],
)
def test_a_turn_knows_whether_it_was_cut(reason: str | None, cut: bool) -> None:
    assert turn(stop_reason=reason).was_cut is cut


def test_usage_adds_up_and_cache_reads_do_not_count() -> None:
    one = Usage(
        input_tokens=1,
        output_tokens=10,
        cache_read_tokens=100,
        cache_write_tokens=1000,
        reasoning_tokens=5,
    )
    both = one + one
    assert both == Usage(
        input_tokens=2,
        output_tokens=20,
        cache_read_tokens=200,
        cache_write_tokens=2000,
        reasoning_tokens=10,
    )
    assert both.counted == 2022
