"""The mask: known keys everywhere, what looks like a key in tool results alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tilth.config.secrets import Mask, hidden, is_weak, shortened
from tilth.log.events import ModelCall
from tilth.model.messages import Role, Usage

KEY = "sk-ant-0123456789abcdef"


@pytest.mark.parametrize(
    "text", [KEY, f"x{KEY}y", f"{KEY}{KEY}", f"Authorization: Bearer {KEY}\n", json.dumps([KEY])]
)
def test_a_known_key_is_hidden_wherever_it_stands(text: str) -> None:
    masked = Mask([KEY]).known(text)
    assert KEY not in masked
    assert masked == text.replace(KEY, "[hidden: 23 characters]")


def test_a_key_in_the_type_of_a_block_is_hidden_and_the_shape_of_data_stays() -> None:
    short = "hunter22"
    mask = Mask([KEY, short, "tool_use"])
    block = {"type": f"x {KEY}", "input": {"type": KEY}, "more": [{"type": short}]}
    assert mask.data([block]) == [
        {
            "type": f"x {hidden(KEY)}",
            "input": {"type": hidden(KEY)},
            "more": [{"type": hidden(short)}],
        }
    ]
    assert mask.data({"type": "tool_use", "name": "tool_use"})["type"] == "tool_use"


def test_text_without_a_key_is_left_alone() -> None:
    assert Mask([KEY]).known("sk-ant-0123456789abcdeX") == "sk-ant-0123456789abcdeX"
    assert Mask().known(KEY) == KEY


def test_of_two_keys_that_overlap_none_leaves_a_rest() -> None:
    assert Mask(["secret-1", "secret-1-long"]).known("secret-1-long") == hidden("secret-1-long")


@pytest.mark.parametrize(
    "secret", ['pass"word', "back\\slash", "schlüssel", "tab\tkey-long-enough"]
)
def test_a_key_is_hidden_in_its_json_forms_too(secret: str) -> None:
    mask = Mask([secret])
    for text in (json.dumps({"k": secret}), json.dumps({"k": secret}, ensure_ascii=False)):
        assert mask.known(text) == json.dumps({"k": hidden(secret)})


@pytest.mark.parametrize("secret", ["", "x", "abcde"])
def test_what_is_too_short_to_be_a_key_is_not_hidden(secret: str) -> None:
    assert Mask([secret]).known("an xabcdex text") == "an xabcdex text"


@pytest.mark.parametrize(
    "looks",
    [
        "sk-abcdefghijklmnop1234",
        "sk-proj-AbC_dEf-0123456789",
        "ghp_" + "a1" * 18,
        "github_pat_" + "a1" * 20,
        "xoxb-0123456789-abcdefgh",
        "AKIA" + "ABCD1234" * 2,
    ],
)
def test_what_looks_like_a_key_is_hidden_in_results_only(looks: str) -> None:
    mask = Mask([KEY])
    assert mask.result(f"KEY={looks}\n") == f"KEY={hidden(looks)}\n"
    assert mask.known(f"KEY={looks}\n") == f"KEY={looks}\n"
    assert mask.data([looks]) == [looks]


@pytest.mark.parametrize(
    "text", ["task-0123456789-abcdefgh", "risk-assessment-of-the-whole", "sk-short", "AKIAabc"]
)
def test_innocent_words_stay(text: str) -> None:
    assert Mask().result(text) == text


def test_results_hide_known_keys_of_any_shape() -> None:
    assert (
        Mask(["plain-password"]).result("it is plain-password!")
        == f"it is {hidden('plain-password')}!"
    )


def test_keys_are_hidden_at_any_depth_and_the_rest_is_the_same() -> None:
    data: Any = {"a": [1, None, True, 2.5, {"deep": f"<{KEY}>", KEY: "key of an object"}]}
    masked = Mask([KEY]).data(data)
    assert masked == {
        "a": [1, None, True, 2.5, {"deep": f"<{hidden(KEY)}>", hidden(KEY): "key of an object"}]
    }
    assert data["a"][4]["deep"] == f"<{KEY}>"


def test_a_key_of_digits_leaves_numbers_whole() -> None:
    data = {"latency_ms": 12345678, "text": "it is 12345678"}
    assert Mask(["12345678"]).data(data) == {
        "latency_ms": 12345678,
        "text": f"it is {hidden('12345678')}",
    }


def test_a_value_is_masked_as_a_value_and_keeps_its_enums() -> None:
    call = ModelCall(
        conversation="w1",
        role=Role.WORKER,
        request_sha256="0" * 64,
        content=({"type": "text", "text": "ask the worker"},),
        stop_reason=None,
        usage=Usage(input_tokens=3),
        model="m",
        latency_ms=1,
        cost_usd=None,
    )
    masked = Mask(["worker"]).data(call)
    assert masked.content == ({"type": "text", "text": f"ask the {hidden('worker')}"},)
    assert (masked.role, masked.usage) == (Role.WORKER, Usage(input_tokens=3))


@pytest.mark.parametrize("secret", ["ollama", "Ollama", "abc123", "placeholder", "no-key-needed"])
def test_a_short_or_plain_key_is_hidden_only_where_it_stands_alone(secret: str) -> None:
    mask = Mask([secret])
    assert is_weak(secret)
    for alone in (secret, f"KEY={secret}", f"'{secret}'", f"Bearer {secret}.", f"{secret}\n"):
        assert mask.known(alone) == alone.replace(secret, hidden(secret))
    for part in (
        f"{secret}s",
        f"my_{secret}",
        f"{secret}-python",
        f"a/{secret}/b",
        f"{secret}.com",
    ):
        assert mask.known(part) == part
    assert mask.data({secret: [secret]}) == {secret: [hidden(secret)]}


@pytest.mark.parametrize(
    "secret", ["0123456789ab", "correcthorsebatterystaplewords", "abcdefGhijkl"]
)
def test_a_long_key_is_hidden_inside_a_word_too(secret: str) -> None:
    assert not is_weak(secret)
    assert Mask([secret]).known(f"x{secret}y") == f"x{hidden(secret)}y"


@pytest.mark.parametrize("secret", ["hidden", "characters", "5 charact", KEY])
def test_hiding_twice_changes_nothing(secret: str) -> None:
    mask = Mask([secret])
    once = mask.result(f"<{secret}> and sk-abcdefghijklmnop1234")
    assert once != f"<{secret}> and sk-abcdefghijklmnop1234"
    assert mask.result(once) == mask.known(once) == once


def test_the_token_of_a_header_and_its_form_in_a_url_are_hidden() -> None:
    mask = Mask(["Bearer abc/def+0123456789"])
    text = "https://x:abc%2Fdef%2B0123456789@host and abc/def+0123456789"
    assert mask.known(text) == "https://x:[hidden: 18 characters]@host and [hidden: 18 characters]"


def test_a_short_secret_is_shown_by_nothing_and_a_long_one_by_its_end() -> None:
    assert shortened("abcdef") == "…"
    assert shortened("0123456789abcdef") == "…cdef"
