"""The model behind an endpoint that speaks the Messages API, reached through the anthropic SDK.

It streams, reads the answer and waits out failures. It never changes a conversation, never judges
an answer's content, and takes no key, address or header from the environment.
"""

from __future__ import annotations

import functools
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from tilth.base.errors import PromptTooLong, ProviderError, QuotaReached
from tilth.base.values import Value
from tilth.config.secrets import Mask
from tilth.config.settings import DEFAULT_BASE_URL
from tilth.model.activity import Activity
from tilth.model.health import (
    CallError,
    Failure,
    Refusal,
    Spell,
    asks_for_wait,
    decide,
    from_status,
    may_name_quota,
    one_line,
    quota_wait_s,
    retry_after,
)
from tilth.model.messages import Conversation, OnRetry, RetryNotice, Role, Turn, with_new_ids
from tilth.model.prices import cost_usd
from tilth.model.quota import named_wait_s
from tilth.model.shared_limit import SharedLimit
from tilth.model.stream import Answer, from_body, from_events

if TYPE_CHECKING:
    import anthropic
    from anthropic import Anthropic, APIResponse

EMPTY_ANSWERS_ACCEPTED = 3
QUIET_STALLS = 5
_DOCUMENT_S = 10.0
UNPACKED = {"accept-encoding": "identity"}


class ModelConfig(Value):
    """Name a model and how to reach it."""

    model: str
    api_key: str = Field(repr=False)
    base_url: str | None = None
    extra_headers: Mapping[str, str] = Field(default_factory=dict, repr=False)
    patience_s: float = 900.0
    stall_s: float = 120.0
    answer_s: float = 3600.0
    answer_bytes: int = 32 * 1024 * 1024


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
        heard: Callable[[Role, str], None] | None = None,
        limit: SharedLimit | None = None,
    ) -> None:
        self._config = config
        # Told what the model writes while it writes it, for a person to see.
        self._heard = heard
        self._clock = clock
        self._now = now
        self._sleep = sleep
        self._random = random
        self._endpoint = _public(config.base_url or DEFAULT_BASE_URL)
        self._mask = Mask((config.api_key, *config.extra_headers.values()))
        self._opened: Anthropic | None = None
        # Lanes ask at the same time: they share one client, and nobody closes it under another.
        self._sharing = threading.Lock()
        self._limit = limit or SharedLimit(clock, sleep)
        self._asking = 0

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
                with self._limit.turn():
                    turn = self._ask(conversation)
            except CallError as failed:
                empty, failure = 0, failed.failure
            else:
                empty += 1
                if not _is_nothing(turn) or empty == EMPTY_ANSWERS_ACCEPTED:
                    return turn
                failure = Failure(text="the answer was empty", is_empty=True)
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
        """Close the connections, if any were opened and none is in use."""
        with self._sharing:
            if self._opened is not None and not self._asking:
                self._opened.close()
                self._opened = None

    def _wait_or_refuse(
        self, failure: Failure, spell: Spell, role: Role, on_retry: OnRetry
    ) -> None:
        failure = self._with_named_wait(failure)
        shown = failure.model_copy(update={"text": one_line(failure.text, self._mask)})
        self._refuse_quota(shown)
        decision = decide(shown, spell, role)
        if isinstance(decision, Refusal):
            kind = PromptTooLong if decision.is_too_long else ProviderError
            raise kind(f"{self._endpoint}: {decision.problem}", decision.fix)
        delay_s = decision.delay_s
        if failure.is_limit:
            self._limit.wait(delay_s)
        on_retry(
            RetryNotice(
                attempt=spell.attempt,
                error=shown.text,
                delay_s=delay_s,
                is_empty=failure.is_empty,
            )
        )
        self._sleep(delay_s)

    def _refuse_quota(self, failure: Failure) -> None:
        """Leave a long wait to whoever asked: it may end the run, and holds no connection."""
        wait = quota_wait_s(failure)
        if wait is not None:
            self.close()
            self._limit.wait(wait)
            problem = f"{self._endpoint}: {asks_for_wait(failure.text, wait)}"
            raise QuotaReached(problem, "continue with `tilth resume` after that", wait)

    def _with_named_wait(self, failure: Failure) -> Failure:
        if not may_name_quota(failure):
            return failure
        wait_s = named_wait_s({}, failure.text, datetime.fromtimestamp(self._now(), UTC))
        return failure.model_copy(update={"retry_after_s": wait_s})

    def ask_once(self, conversation: Conversation) -> Turn:
        """Try once, and raise CallError where that fails."""
        try:
            return self._ask(conversation)
        except CallError as failed:
            shown = one_line(failed.failure.text, self._mask)
            raise CallError(failed.failure.model_copy(update={"text": shown})) from failed

    def document(self, path: str) -> bytes | None:
        """Give what stands at a path beside the messages, or None where there is nothing."""
        import httpx2

        try:
            with _failures_told(self._now), self._client() as client:
                options: Any = {"timeout": _DOCUMENT_S}
                return client.get(path, cast_to=httpx2.Response, options=options).content
        except CallError:
            return None

    def _ask(self, conversation: Conversation) -> Turn:
        """Try once."""
        with _failures_told(self._now), self._client() as client:
            create = client.messages.with_streaming_response.create
            started = self._clock()
            with create(stream=True, **conversation.request()) as response:
                answer = self._read(response, conversation.role)
                request_id = response.request_id
        latency_ms = round((self._clock() - started) * 1000)
        if not answer.content and answer.stop_reason == "model_context_window_exceeded":
            raise CallError(Failure(text="the conversation fills the model's window", status=413))
        model = answer.model or self._config.model
        return Turn(
            content=with_new_ids(answer.content, conversation.call_ids),
            stop_reason=answer.stop_reason,
            usage=answer.usage,
            model=model,
            latency_ms=latency_ms,
            cost_usd=cost_usd(answer.usage, model, self._endpoint),
            request_id=request_id,
        )

    def _read(self, response: APIResponse[Any], role: Role) -> Answer:
        spoke = self._clock()
        longest = QUIET_STALLS * self._config.stall_s

        def alive(kind: str) -> None:
            # Pings keep a connection open for ever; a model that only pings says nothing.
            nonlocal spoke
            now = self._clock()
            if kind != "ping":
                spoke = now
            elif now - spoke > longest:
                text = f"no word in {longest:g} s, only signs of life"
                raise CallError(Failure(text=text))

        heard = self._heard
        watch = Activity(lambda activity: heard(role, activity)).take if heard else None
        return _read(response, alive, watch)

    @contextmanager
    def _client(self) -> Iterator[Anthropic]:
        with self._sharing:
            if self._opened is None:
                self._opened = _open_client(self._config, self._clock)
            self._asking += 1
        try:
            yield self._opened
        finally:
            with self._sharing:
                self._asking -= 1


@functools.cache
def load_early() -> None:
    """Begin to import the SDK beside whatever else a start does; it takes longer than all of it."""
    # It may be in the middle of it when the run is over: nothing waits for it then.
    threading.Thread(target=_load, name="load the SDK", daemon=True).start()


def _load() -> None:
    from anthropic import Anthropic

    from tilth.model.http_client import BoundedClient, Bounds

    # Its parts are imported when they are first asked for, and the client has certificates to read.
    client = BoundedClient(Bounds(0, 0.0, time.monotonic))
    _ = Anthropic(api_key="none", http_client=client).messages


def _open_client(config: ModelConfig, clock: Callable[[], float]) -> Anthropic:
    # Imported here because it takes longer than everything else in a start together.
    from anthropic import Anthropic, Timeout

    from tilth.model.http_client import BoundedClient, Bounds

    client = Anthropic(
        api_key=config.api_key,
        base_url=config.base_url or DEFAULT_BASE_URL,
        timeout=Timeout(connect=10.0, read=config.stall_s, write=120.0, pool=10.0),
        http_client=BoundedClient(Bounds(config.answer_bytes, config.answer_s, clock)),
        max_retries=0,
        open_telemetry=False,
    )
    # Set afterwards because the constructor mixes ANTHROPIC_CUSTOM_HEADERS into what it is given,
    # and there is no public way to say no: nothing may be sent that the user did not give Tilth.
    client._custom_headers = {**UNPACKED, **config.extra_headers}
    return client


@contextmanager
def _failures_told(now: Callable[[], float]) -> Iterator[None]:
    """Turn what the SDK and its transport raise into failures to decide on."""
    import anthropic
    import httpx2

    try:
        yield
    except anthropic.APIStatusError as error:
        failure = from_status(error.status_code, error.body, _asked_wait(error, now()))
        raise CallError(failure) from error
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


def _asked_wait(error: anthropic.APIStatusError, now: float) -> float | None:
    headers = error.response.headers
    if error.status_code in (429, 529):
        return named_wait_s(headers, "", datetime.fromtimestamp(now, UTC))
    return retry_after(headers, now)


def _impossible(why: str, fix: str | None = None) -> Failure:
    return Failure(text=f"no request can be made: {why}", is_setup=True, fix=fix)


def _unreached(error: BaseException) -> Failure:
    import httpx2

    never = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.TooManyRedirects)
    if isinstance(error, never):
        return _impossible(str(error))
    what = "no byte in time" if isinstance(error, httpx2.TimeoutException) else "connection failed"
    text = f"{what}: {type(error).__name__}: {error}".rstrip(": ")
    nobody = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout))
    return Failure(text=text, is_unreached=nobody)


def _read(
    response: APIResponse[Any],
    alive: Callable[[str], None],
    watch: Callable[[dict[str, Any]], None] | None,
) -> Answer:
    import httpx2
    from anthropic import Stream

    kind = response.headers.get("content-type", "").lower()
    if "json" in kind:
        return from_body(response.read())
    if "html" in kind:
        text = "the body is no Messages answer: it is an HTML page"
        raise CallError(Failure(text=text, is_unreached=True))
    events = Stream.raw_events(response.http_response)
    try:
        data = (event.data for event in _heard(events, alive) if event.data)
        answer = from_events(data, watch)
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


def _heard(events: Iterator[Any], alive: Callable[[str], None]) -> Iterator[Any]:
    for event in events:
        alive(event.event or "")
        yield event


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
