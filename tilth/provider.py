"""The model behind an endpoint that speaks the Messages API, reached through the anthropic SDK.

It streams, reads the answer and waits out failures. It never changes a conversation, never judges
an answer's content, and takes no key, address or header from the environment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from tilth.endpoint.health import (
    CallError,
    Failure,
    Refusal,
    Spell,
    decide,
    from_status,
    one_line,
    retry_after,
)
from tilth.endpoint.prices import cost_usd
from tilth.endpoint.stream import Answer, from_body, from_events
from tilth.errors import PromptTooLong, ProviderError
from tilth.messages import Conversation, OnRetry, RetryNotice, Role, Turn
from tilth.values import Value

if TYPE_CHECKING:
    from anthropic import Anthropic, APIResponse

DEFAULT_BASE_URL = "https://api.anthropic.com"
EMPTY_ANSWERS_ACCEPTED = 3


class ModelConfig(Value):
    """Name a model and how to reach it."""

    model: str
    api_key: str = Field(repr=False)
    base_url: str | None = None
    extra_headers: Mapping[str, str] = Field(default_factory=dict, repr=False)
    patience_s: float = 900.0
    stall_s: float = 120.0


class AnthropicModel:
    """Answer conversations; wait out what passes, and refuse with a fix what does not."""

    def __init__(
        self,
        config: ModelConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._config = config
        self._clock = clock
        self._now = now
        self._sleep = sleep
        self._random = random
        self._endpoint = _public(config.base_url or DEFAULT_BASE_URL)
        self._secrets = _secrets(config)
        self._opened: Anthropic | None = None

    @property
    def name(self) -> str:
        return self._config.model

    @property
    def endpoint(self) -> str:
        """Give the endpoint's address without credentials."""
        return self._endpoint

    def respond(self, conversation: Conversation, on_retry: OnRetry) -> Turn:
        """Ask until there is an answer, the endpoint refuses, or patience runs out."""
        attempt, empty, failing_since = 0, 0, None
        while True:
            attempt += 1
            try:
                turn = self._ask(conversation)
            except CallError as failed:
                empty, failure = 0, failed.failure
            else:
                empty += 1
                if not _is_nothing(turn) or empty == EMPTY_ANSWERS_ACCEPTED:
                    return turn
                failure = Failure(text="the answer was empty")
            if failing_since is None:
                failing_since = self._clock()
            spell = Spell(
                attempt=attempt,
                failing_s=self._clock() - failing_since,
                patience_s=self._config.patience_s,
                jitter=self._random(),
            )
            self._wait_or_refuse(failure, spell, conversation.role, on_retry)

    def close(self) -> None:
        """Close the connections, if any were opened."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _wait_or_refuse(
        self, failure: Failure, spell: Spell, role: Role, on_retry: OnRetry
    ) -> None:
        shown = failure.model_copy(update={"text": one_line(failure.text, self._secrets)})
        decision = decide(shown, spell, role)
        if isinstance(decision, Refusal):
            kind = PromptTooLong if decision.is_too_long else ProviderError
            raise kind(f"{self._endpoint}: {decision.message}")
        delay_s = decision.delay_s
        on_retry(RetryNotice(attempt=spell.attempt, error=shown.text, delay_s=delay_s))
        self._sleep(delay_s)

    def _ask(self, conversation: Conversation) -> Turn:
        """Try once."""
        with _failures_told(self._now):
            create = self._client().messages.with_streaming_response.create
            started = self._clock()
            with create(stream=True, **conversation.request()) as response:
                answer, request_id = _read(response), response.request_id
        latency_ms = round((self._clock() - started) * 1000)
        if not answer.content and answer.stop_reason == "model_context_window_exceeded":
            raise CallError(Failure(text="the conversation fills the model's window", status=413))
        model = answer.model or self._config.model
        return Turn(
            content=answer.content,
            stop_reason=answer.stop_reason,
            usage=answer.usage,
            model=model,
            latency_ms=latency_ms,
            cost_usd=cost_usd(answer.usage, model, self._endpoint),
            request_id=request_id,
        )

    def _client(self) -> Anthropic:
        if self._opened is None:
            self._opened = _open_client(self._config)
        return self._opened


def _open_client(config: ModelConfig) -> Anthropic:
    # Imported here because it takes longer than everything else in a start together.
    from anthropic import Anthropic, Timeout

    client = Anthropic(
        api_key=config.api_key,
        base_url=config.base_url or DEFAULT_BASE_URL,
        timeout=Timeout(connect=10.0, read=config.stall_s, write=120.0, pool=10.0),
        max_retries=0,
        open_telemetry=False,
    )
    # Set afterwards because the constructor mixes ANTHROPIC_CUSTOM_HEADERS into what it is given,
    # and there is no public way to say no: nothing may be sent that the user did not give Tilth.
    client._custom_headers = dict(config.extra_headers)
    return client


@contextmanager
def _failures_told(now: Callable[[], float]) -> Iterator[None]:
    """Turn what the SDK and its transport raise into failures to decide on."""
    import anthropic
    import httpx2

    try:
        yield
    except anthropic.APIStatusError as error:
        wait_s = retry_after(error.response.headers, now())
        raise CallError(from_status(error.status_code, error.body, wait_s)) from error
    except anthropic.APIConnectionError as error:
        raise CallError(_unreached(error.__cause__ or error)) from error
    except httpx2.HTTPError as error:
        raise CallError(_unreached(error)) from error
    except httpx2.InvalidURL as error:
        raise CallError(_impossible(str(error))) from error
    except UnicodeEncodeError as error:
        fix = "take it out of the file it came from"
        what = "the conversation holds half a surrogate pair, which UTF-8 cannot carry"
        raise CallError(_impossible(what, fix)) from error


def _impossible(why: str, fix: str | None = None) -> Failure:
    return Failure(text=f"no request can be made: {why}", is_setup=True, fix=fix)


def _unreached(error: BaseException) -> Failure:
    import httpx2

    never = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.TooManyRedirects)
    if isinstance(error, never):
        return _impossible(str(error))
    what = "no byte in time" if isinstance(error, httpx2.TimeoutException) else "connection failed"
    return Failure(text=f"{what}: {type(error).__name__}: {error}".rstrip(": "))


def _read(response: APIResponse[Any]) -> Answer:
    import httpx2
    from anthropic import Stream

    kind = response.headers.get("content-type", "").lower()
    if "json" in kind:
        return from_body(response.read())
    if "html" in kind:
        raise CallError(Failure(text="the body is no Messages answer: it is an HTML page"))
    events = Stream.raw_events(response.http_response)
    try:
        answer = from_events(event.data for event in events if event.data)
    except UnicodeDecodeError as error:
        text = "the body is no Messages answer: it is no UTF-8"
        raise CallError(Failure(text=text)) from error
    try:
        # Read to the end so that the connection can be used again; the answer is complete.
        for _ in events:
            pass
    except (httpx2.HTTPError, UnicodeDecodeError):
        pass
    return answer


def _is_nothing(turn: Turn) -> bool:
    # a refusal says something without content
    return not turn.content and turn.stop_reason != "refusal"


def _public(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an unreadable address"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _secrets(config: ModelConfig) -> frozenset[str]:
    values = {config.api_key, *config.extra_headers.values()}
    # "Bearer abc" hides abc too
    return frozenset(values | {value.rpartition(" ")[2] for value in values})
