"""Limits: a named wait of five seconds or more is left to whoever asks, and holds no connection."""

from __future__ import annotations

import pytest
from support.messages_api import MessagesServer, Reply, Whole, error, say, stream_error

from tilth.base.errors import QuotaReached
from tilth.model.messages import Conversation, Role, Turn
from tilth.model.provider import AnthropicModel, ModelConfig

NOW = 1_700_000_000.0


class Asker:
    """A model at a scripted endpoint, whose sleeps are written down."""

    def __init__(self, server: MessagesServer) -> None:
        self.slept: list[float] = []
        config = ModelConfig(model="claude-sonnet-5-5", api_key="key-01234567", base_url=server.url)
        self.model = AnthropicModel(config, now=lambda: NOW, sleep=self.slept.append)

    def ask(self) -> Turn:
        head = {"max_tokens": 100, "model": "claude-sonnet-5-5"}
        conversation = Conversation.from_head("c", Role.WORKER, head)
        conversation.say("Hello")
        return self.model.respond(conversation, lambda notice: None)


@pytest.mark.parametrize("status", [429, 529])
def test_a_named_wait_below_five_seconds_is_a_retry_like_any_other(status: int) -> None:
    with MessagesServer([error(status, "slow down", retry_after="4.9"), say("fine")]) as server:
        asker = Asker(server)
        assert asker.ask().text == "fine"
        asker.model.close()
    assert asker.slept == [4.9]


@pytest.mark.parametrize("status", [429, 529])
def test_a_longer_one_is_left_to_whoever_asks_and_holds_no_connection(status: int) -> None:
    with MessagesServer([error(status, "Limit reached", retry_after="5"), say("fine")]) as server:
        asker = Asker(server)
        with pytest.raises(QuotaReached, match=r"Limit reached; it asks for a wait of 5 s") as told:
            asker.ask()
        assert told.value.wait_s == 5
        assert asker.slept == []
        assert asker.ask().text == "fine"
        asker.model.close()
    assert server.connections == 2


@pytest.mark.parametrize(
    ("reply", "wait_s"),
    [
        (stream_error("rate_limit_error", "Please try again in 2h30m."), 9000),
        (error(429, "Claude AI usage limit reached|1700007200", "rate_limit_error"), 7200),
        (Whole(429, b"", {"x-ratelimit-reset-requests": "6m0s"}), 360),
        (error(429, "a " * 300 + "Please retry after 60 seconds."), 60),
        (error(429, "x", retry_after="30", anthropic_ratelimit_tokens_reset="1700000100"), 100),
    ],
)
def test_the_wait_may_stand_in_a_stream_in_words_and_in_other_headers(
    reply: Reply, wait_s: float
) -> None:
    with MessagesServer([reply]) as server:
        asker = Asker(server)
        with pytest.raises(QuotaReached) as told:
            asker.ask()
        asker.model.close()
    assert told.value.wait_s == wait_s
