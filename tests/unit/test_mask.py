"""The mask: known keys everywhere, what looks like a key in tool results alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tilth.mask import HIDDEN, Mask
from tilth.messages import Role, Usage
from tilth.payloads import ModelCall

KEY = "sk-ant-0123456789abcdef"


@pytest.mark.parametrize(
    "text", [KEY, f"x{KEY}y", f"{KEY}{KEY}", f"Authorization: Bearer {KEY}\n", json.dumps([KEY])]
)
def test_a_known_key_is_hidden_wherever_it_stands(text: str) -> None:
    masked = Mask([KEY]).known(text)
    assert KEY not in masked
    assert HIDDEN in masked


def test_text_without_a_key_is_left_alone() -> None:
    assert Mask([KEY]).known("sk-ant-0123456789abcdeX") == "sk-ant-0123456789abcdeX"
    assert Mask().known(KEY) == KEY


def test_of_two_keys_that_overlap_none_leaves_a_rest() -> None:
    assert Mask(["secret-1", "secret-1-long"]).known("secret-1-long") == HIDDEN


@pytest.mark.parametrize("secret", ['pass"word', "back\\slash", "schlüssel", "tab\tkey"])
def test_a_key_is_hidden_in_its_json_forms_too(secret: str) -> None:
    mask = Mask([secret])
    for text in (json.dumps({"k": secret}), json.dumps({"k": secret}, ensure_ascii=False)):
        assert mask.known(text) == json.dumps({"k": HIDDEN})


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
    assert mask.result(f"KEY={looks}\n") == f"KEY={HIDDEN}\n"
    assert mask.known(f"KEY={looks}\n") == f"KEY={looks}\n"
    assert mask.data([looks]) == [looks]


@pytest.mark.parametrize(
    "text", ["task-0123456789-abcdefgh", "risk-assessment-of-the-whole", "sk-short", "AKIAabc"]
)
def test_innocent_words_stay(text: str) -> None:
    assert Mask().result(text) == text


def test_results_hide_known_keys_of_any_shape() -> None:
    assert Mask(["plain-password"]).result("it is plain-password!") == f"it is {HIDDEN}!"


def test_keys_are_hidden_at_any_depth_and_the_rest_is_the_same() -> None:
    data: Any = {"a": [1, None, True, 2.5, {"deep": f"<{KEY}>", KEY: "key of an object"}]}
    masked = Mask([KEY]).data(data)
    assert masked == {
        "a": [1, None, True, 2.5, {"deep": f"<{HIDDEN}>", HIDDEN: "key of an object"}]
    }
    assert data["a"][4]["deep"] == f"<{KEY}>"


def test_a_key_of_digits_leaves_numbers_whole() -> None:
    data = {"latency_ms": 12345678, "text": "it is 12345678"}
    assert Mask(["12345678"]).data(data) == {"latency_ms": 12345678, "text": f"it is {HIDDEN}"}


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
    assert masked.content == ({"type": "text", "text": f"ask the {HIDDEN}"},)
    assert (masked.role, masked.usage) == (Role.WORKER, Usage(input_tokens=3))
