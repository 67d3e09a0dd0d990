"""The decisions on failed tries and on prices, as tables."""

from __future__ import annotations

import pytest

from tilth.config.secrets import Mask
from tilth.model.health import (
    Failure,
    Refusal,
    Retry,
    Spell,
    decide,
    from_error,
    from_status,
    one_line,
)
from tilth.model.messages import Role, Usage
from tilth.model.prices import cost_usd

ANTHROPIC = "https://api.anthropic.com"


def spell(attempt: int = 1, failing_s: float = 0.0, jitter: float = 0.0) -> Spell:
    return Spell(attempt=attempt, failing_s=failing_s, patience_s=900.0, jitter=jitter)


@pytest.mark.parametrize("status", [None, 408, 409, 429, 500, 501, 502, 503, 504, 520, 529, 599])
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    decision = decide(Failure(text="x", status=status), spell(), Role.WORKER)
    assert decision == Retry(delay_s=0.5)


@pytest.mark.parametrize("status", [301, 308, 400, 401, 402, 403, 404, 405, 410, 422, 451])
def test_what_will_not_pass_is_refused(status: int) -> None:
    decision = decide(Failure(text="x", status=status), spell(), Role.WORKER)
    assert isinstance(decision, Refusal)
    assert decision.problem == "x"
    assert "TILTH_" in decision.fix
    assert not decision.is_too_long


@pytest.mark.parametrize(
    ("attempt", "failing_s", "jitter", "delay_s"),
    [
        (1, 0.0, 0.0, 0.5),
        (1, 0.0, 1.0, 1.0),
        (3, 0.0, 1.0, 4.0),
        (5000, 0.0, 1.0, 60.0),
        (9, 899.0, 1.0, 1.0),
    ],
)
def test_the_wait_grows_and_never_outlasts_patience(
    attempt: int, failing_s: float, jitter: float, delay_s: float
) -> None:
    decision = decide(Failure(text="x"), spell(attempt, failing_s, jitter), Role.WORKER)
    assert decision == Retry(delay_s=delay_s)


@pytest.mark.parametrize(
    ("wait", "failing_s", "retried"),
    [(900.0, 0.0, True), (901.0, 0.0, False), (20.0, 881.0, False), (19.0, 881.0, True)],
)
def test_a_wait_asked_for_is_kept_or_refused(wait: float, failing_s: float, retried: bool) -> None:
    failure = Failure(text="x", status=429, retry_after_s=wait)
    decision = decide(failure, spell(failing_s=failing_s), Role.WORKER)
    assert (decision == Retry(delay_s=wait)) is retried
    assert isinstance(decision, Refusal) is not retried


@pytest.mark.parametrize(
    ("status", "text", "too_long"),
    [
        (413, "anything", True),
        (400, "prompt is too long: 3 tokens > 2 maximum", True),
        (400, "Input is too long for requested model.", True),
        (400, "This model's maximum context length is 4096 tokens.", True),
        (400, "error code: context_length_exceeded", True),
        (400, "input length and `max_tokens` exceed context limit: 9 + 9 > 10", True),
        (400, "the request exceeds the available context size, try increasing it", True),
        (500, "Context size has been exceeded.", True),
        (400, "max_tokens: 99999 > 8192, which is the maximum allowed", False),
        (400, "messages: text content blocks must be non-empty", False),
        (400, "tools.0.name: String should have at most 128 characters", False),
        (401, "prompt is too long", False),
        (429, "prompt is too long", False),
        (500, "oops", False),
    ],
)
def test_a_prompt_that_is_too_long_is_recognised(status: int, text: str, too_long: bool) -> None:
    decision = decide(Failure(text=text, status=status), spell(), Role.WORKER)
    assert (isinstance(decision, Refusal) and decision.is_too_long) is too_long


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"type": "error", "error": {"type": "t", "message": "m"}}, "HTTP 500: m"),
        ({"error": {"message": "m"}}, "HTTP 500: m"),
        ({"error": "m"}, "HTTP 500: m"),
        ({"message": "m"}, "HTTP 500: m"),
        ({"detail": "m"}, "HTTP 500: m"),
        ({"odd": 1}, 'HTTP 500: {"odd":1}'),
        ({}, "HTTP 500: no message"),
        ([1], "HTTP 500: [1]"),
        ("plain", "HTTP 500: plain"),
        ("", "HTTP 500: no message"),
        (None, "HTTP 500: no message"),
        ("<!doctype html><TITLE>Down</TITLE>", "HTTP 500: an HTML page, 'Down'"),
        ("<p>Down</p>", "HTTP 500: an HTML page"),
    ],
)
def test_an_error_body_of_any_shape_is_read(body: object, text: str) -> None:
    assert from_status(500, body, None) == Failure(text=text, status=500)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"type": "overloaded_error", "message": "m"}, 529),
        ({"type": "invalid_request_error", "message": "m"}, 400),
        ({"type": "billing_error", "message": "m"}, 402),
        ({"type": "exceed_context_size_error", "code": 400, "message": "m"}, 400),
        ({"type": "new_error", "message": "m"}, 500),
        ({"type": 7, "code": "x"}, 500),
        ("m", 500),
        (None, 500),
    ],
)
def test_an_error_event_counts_as_the_status_it_stands_for(error: object, status: int) -> None:
    assert from_error(error).status == status


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\n\tb  c", "a b c"),
        ("\x1b[31mred\x00\u202e\ud83c", "[31mred"),
        (
            "key is secret-1 and secret-12",
            "key is [hidden: 8 characters] and [hidden: 9 characters]",
        ),
        ("y" * 400, "y" * 299 + "…"),
        ("x", "x"),
    ],
)
def test_words_are_made_fit_to_show(text: str, shown: str) -> None:
    assert one_line(text, Mask(["secret-1", "secret-12", "x"])) == shown


def test_cached_tokens_are_priced_once_and_at_their_own_price() -> None:
    usage = Usage(
        input_tokens=100_000,
        cache_read_tokens=1_000_000,
        cache_write_tokens=200_000,
        output_tokens=10_000,
        reasoning_tokens=9_000,
    )
    # $5 input, $0.50 cache read, $6.25 cache write and $25 output a million
    price = 0.5 + 0.5 + 1.25 + 0.25
    assert cost_usd(usage, "claude-opus-4-5", ANTHROPIC) == pytest.approx(price)


@pytest.mark.parametrize(
    ("model", "endpoint", "known"),
    [
        ("claude-sonnet-5", ANTHROPIC, True),
        ("claude-haiku-4-5-20251001", "http://127.0.0.1:4000", True),
        ("anthropic/claude-sonnet-5", "http://127.0.0.1:4000", True),
        ("anthropic/claude-sonnet-4.5", "https://openrouter.ai/api", True),
        ("gpt-oss-20b", "http://127.0.0.1:8080", False),
        ("claude-of-tomorrow-9", ANTHROPIC, False),
        ("", ANTHROPIC, False),
    ],
)
def test_a_price_is_known_or_none(model: str, endpoint: str, known: bool) -> None:
    cost = cost_usd(Usage(input_tokens=1000, output_tokens=1000), model, endpoint)
    assert (cost is not None) is known
    assert cost != 0


def test_a_call_whose_input_was_not_counted_has_no_known_price() -> None:
    assert cost_usd(Usage(), "claude-sonnet-5", ANTHROPIC) is None
    assert cost_usd(Usage(output_tokens=5), "claude-sonnet-5", ANTHROPIC) is None
