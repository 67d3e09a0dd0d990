"""Quota resets: read from headers and from the words common gateways use."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tilth.model.quota import named_wait_s

NOW = datetime(2026, 11, 17, 1, 0, tzinfo=UTC)
EPOCH = int(NOW.timestamp())


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "120"}, 120),
        ({"Retry-After": " 7.5 "}, 7.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Tue, 17 Nov 2026 03:00:00 GMT"}, 7200),
        ({"anthropic-ratelimit-requests-reset": "2026-11-17T05:00:00Z"}, 14400),
        ({"anthropic-ratelimit-unified-reset": str(EPOCH + 600)}, 600),
        ({"x-ratelimit-reset": str((EPOCH + 60) * 1000)}, 60),
        ({"x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-reset-requests": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Tue, 17 Nov 2020 03:00:00 GMT"}, None),
        ({"anthropic-ratelimit-tokens-reset": "2026-11-16T23:00:00Z"}, None),
        ({"anthropic-ratelimit-tokens-reset": "tomorrow"}, None),
        ({}, None),
    ],
)
def test_a_header_names_the_wait(headers: dict[str, str], wait: float | None) -> None:
    assert named_wait_s(headers, "", NOW) == (None if wait is None else pytest.approx(wait))


def test_only_a_limit_that_is_used_up_counts() -> None:
    headers = {
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-11-17T09:00:00Z",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-11-17T01:10:00Z",
    }
    assert named_wait_s(headers, "", NOW) == 600


def test_of_two_that_disagree_the_later_is_taken() -> None:
    headers = {
        "retry-after": "30",
        "anthropic-ratelimit-unified-remaining": "0",
        "anthropic-ratelimit-unified-reset": str(EPOCH + 7200),
    }
    assert named_wait_s(headers, "", NOW) == 7200


def test_a_reset_of_a_limit_that_is_not_used_up_does_not_lengthen_the_wait() -> None:
    headers = {
        "retry-after": "30",
        "anthropic-ratelimit-requests-remaining": "4",
        "anthropic-ratelimit-requests-reset": "2026-11-17T09:00:00Z",
    }
    assert named_wait_s(headers, "", NOW) == 30


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Rate limit reached for requests. Please try again in 6m0s.", 360),
        ("Rate limit reached on tokens per min. Please try again in 1.898s. Visit", 1.898),
        ("You have exhausted your quota, please retry after 55 seconds.", 55),
        ("No deployments available. Try again in 60 seconds. Passed model=x", 60),
        ("Usage limit reached, resets in 2 hours and 5 minutes", 7500),
        ("Claude AI usage limit reached|" + str(EPOCH + 3600), 3600),
        ("Your quota resets at 2026-11-17T03:00:00Z.", 7200),
        ("limit hit; try again at 2026-11-17 02:00:00 UTC", 3600),
        ("Please wait for 20 ms", 0.02),
        ("Too many requests", None),
        ("resets at midnight", None),
        ("context of 6m0s", None),
        ("Your quota reset at 2020-11-17T03:00:00Z.", None),
    ],
)
def test_the_words_of_a_gateway_name_the_wait(message: str, wait: float | None) -> None:
    assert named_wait_s({}, message, NOW) == (None if wait is None else pytest.approx(wait))


def test_headers_are_believed_before_words() -> None:
    assert named_wait_s({"retry-after": "9"}, "Please try again in 6m0s.", NOW) == 9


def test_a_reset_in_ten_years_is_given_as_it_is() -> None:
    headers = {"anthropic-ratelimit-requests-reset": "2036-11-17T01:00:00Z"}
    wait = named_wait_s(headers, "", NOW)
    assert wait is not None
    assert wait > 9 * 365 * 86400
