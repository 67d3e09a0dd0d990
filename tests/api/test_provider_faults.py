"""How the provider bears an endpoint that fails, over real HTTP with the real SDK."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
from support.messages_api import (
    Answer,
    Broken,
    MessagesServer,
    Reply,
    Request,
    Whole,
    block,
    call,
    cut,
    drop,
    error,
    html,
    json_body,
    nothing,
    say,
    stall,
    stream_error,
)

from tilth.base.errors import PromptTooLong, ProviderError
from tilth.base.interrupt import Interrupt
from tilth.config.secrets import hidden
from tilth.config.settings import load
from tilth.model.messages import Conversation, RetryNotice, Role, Turn
from tilth.model.provider import AnthropicModel, ModelConfig
from tilth.session.endpoints import model_at

KEY = "key-0123456789"
NOW = 1_700_000_000.0
EMPTY = Answer()


class Bench:
    """A scripted server, a model pointed at it, and a clock that only sleeping moves."""

    def __init__(self, server: MessagesServer, **config: object) -> None:
        self.server = server
        self.time = 1000.0
        self.slept: list[float] = []
        self.notices: list[RetryNotice] = []
        settings = {"model": "claude-sonnet-5", "api_key": KEY, "base_url": server.url}
        self.model = AnthropicModel(
            ModelConfig.model_validate({**settings, **config}),
            clock=lambda: self.time,
            now=lambda: NOW,
            sleep=self.sleep,
            random=lambda: 0.5,
        )

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def note(self, notice: RetryNotice) -> None:
        self.notices.append(notice)

    def ask(self, role: Role = Role.WORKER) -> Turn:
        return self.model.respond(conversation(role), self.note)


def conversation(role: Role = Role.WORKER) -> Conversation:
    talk = Conversation(
        id="c", role=role, model="claude-sonnet-5", max_tokens=9, system="s", tools=[]
    )
    talk.say("hello")
    return talk


MakeBench = Callable[..., Bench]


@pytest.fixture
def bench() -> Iterator[MakeBench]:
    made: list[Bench] = []

    def make(*replies: Reply, **config: object) -> Bench:
        server = MessagesServer(replies)
        made.append(Bench(server.__enter__(), **config))
        return made[-1]

    yield make
    for one in made:
        one.model.close()
        one.server.__exit__(None, None, None)


PASSING: dict[str, tuple[Whole | Broken | Answer, str]] = {
    "408": (error(408, "too slow"), "HTTP 408: too slow"),
    "409": (error(409, "conflict"), "HTTP 409: conflict"),
    "429": (error(429, "slow down", "rate_limit_error"), "HTTP 429: slow down"),
    "500": (error(500, "oops"), "HTTP 500: oops"),
    "502 html": (html(502), "HTTP 502: an HTML page, 'Bad Gateway'"),
    "503 empty": (nothing(503), "HTTP 503: no message"),
    "529": (error(529, "Overloaded", "overloaded_error"), "HTTP 529: Overloaded"),
    "bare 500": (json_body(500, {"error": {"message": "bare"}}), "HTTP 500: bare"),
    "detail": (json_body(503, {"detail": "warming up"}), "HTTP 503: warming up"),
    "error event": (stream_error("overloaded_error", "Busy"), "overloaded_error: Busy"),
    "strange error": (stream_error("gremlin", "Boo", after=0), "gremlin: Boo"),
    "cut": (cut(say("half")), "connection failed: RemoteProtocolError"),
    "cut cleanly": (cut(say("half"), cleanly=True), "the stream ended before message_stop"),
    "cut call": (cut(call("bash", command="rm -rf x"), 4), "connection failed"),
    "no stop": (cut(say("half"), after=6, cleanly=True), "ended before message_stop"),
    "dropped": (drop(), "connection failed: RemoteProtocolError"),
    "html": (html(200), "the body is no Messages answer: it is an HTML page"),
    "empty body": (nothing(200), "the stream ended before message_stop"),
    "json list": (json_body(200, [1]), "the body is no JSON object"),
    "json of another API": (json_body(200, {"choices": []}), "missing 'content'"),
    "json error": (json_body(200, {"error": {"type": "api_error", "message": "no"}}), "no"),
    "not JSON": (Whole(200, b"{", {"content-type": "application/json"}), "it is no JSON"),
    "bad event": (Broken(say("x"), 2, [b"data: {oops\n\n"]), "it is no JSON"),
    "not UTF-8": (Broken(say("x"), 2, [b"data: \xff\xfe\n\n"]), "it is no UTF-8"),
    "nameless call": (block(type="tool_use", id="t1", input={}), "missing 'name'"),
    "empty answer": (EMPTY, "the answer was empty"),
    "blank answer": (say(" \n"), "the answer was empty"),
}


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_tried_again_with_the_same_request(bench: MakeBench, case: str) -> None:
    fault, told = PASSING[case]
    one = bench(fault, say("fine"))
    assert one.ask().text == "fine"
    assert [notice.attempt for notice in one.notices] == [1]
    assert told in one.notices[0].error
    first, second = one.server.requests
    assert first.raw == second.raw


def test_a_silent_endpoint_counts_as_failed(bench: MakeBench) -> None:
    one = bench(stall(), stall(after=4), say("fine"), stall_s=1.0)
    assert one.ask().text == "fine"
    assert ["no byte in time: ReadTimeout" in notice.error for notice in one.notices] == [True] * 2


def test_the_user_says_how_long_an_endpoint_may_be_silent(tmp_path: Path) -> None:
    with MessagesServer([stall(), say("fine")]) as server:
        settings = load(
            {"home": tmp_path},
            {
                "TILTH_API_KEY": KEY,
                "TILTH_BASE_URL": server.url,
                "TILTH_WORKER_MODEL": "claude-sonnet-5",
                "TILTH_STALL_SECONDS": "1",
            },
        )
        model = model_at(settings.require_endpoint(Role.WORKER), Interrupt())
        notices: list[RetryNotice] = []
        assert model.respond(conversation(), notices.append).text == "fine"
        model.close()
    assert ["ReadTimeout" in notice.error for notice in notices] == [True]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_and_nothing_reaches_where_it_leads(
    bench: MakeBench, status: int
) -> None:
    with MessagesServer([say("stolen")]) as other:
        away = Whole(status, headers={"location": f"{other.url}/v1/messages"})
        one = bench(away, extra_headers={"x-api-key": "gateway-password-1"})
        with pytest.raises(
            ProviderError, match=f"HTTP {status}.*set TILTH_BASE_URL to the address"
        ):
            one.ask()
        assert (other.requests, other.connections) == ([], 0)
    assert len(one.server.requests) == 1


def test_an_endpoint_that_is_not_there_is_tried_again() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        one = Bench(MessagesServer([]).__enter__(), base_url=url, patience_s=3.0)
        with pytest.raises(ProviderError, match="connection failed: ConnectError"):
            one.ask()
        one.server.__exit__(None, None, None)
        one.model.close()
    assert len(one.notices) > 1


def test_the_wait_doubles_up_to_a_minute_with_jitter(bench: MakeBench) -> None:
    one = bench(*[error(500, "oops")] * 9, say("fine"))
    one.ask()
    assert one.slept == [0.75 * ceiling for ceiling in (1, 2, 4, 8, 16, 32, 60, 60, 60)]
    assert [notice.delay_s for notice in one.notices] == one.slept
    assert [notice.attempt for notice in one.notices] == list(range(1, 10))


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "99"}, 1.5),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.75),
        ({"retry-after": "soon"}, 0.75),
        ({"retry-after": "-3"}, 0.75),
        ({"retry-after": "0"}, 0.75),
        ({"retry-after": "nan"}, 0.75),
        ({"retry-after": "inf"}, 0.75),
    ],
)
def test_retry_after_is_honoured(bench: MakeBench, headers: dict[str, str], wait: float) -> None:
    one = bench(Whole(503, b"", headers), say("fine"))
    one.ask()
    assert one.slept == [wait]


def test_patience_ends_after_fifteen_minutes_of_failure(bench: MakeBench) -> None:
    one = bench(*[error(529, "Overloaded")] * 60)
    with pytest.raises(ProviderError) as told:
        one.ask()
    assert sum(one.slept) == pytest.approx(900)
    assert str(told.value) == (
        f"{one.server.url}: failed for 15 minutes, the last time with: HTTP 529: Overloaded; "
        "continue with `tilth resume` when it is back"
    )


def test_patience_is_measured_from_the_first_failure_of_each_call(bench: MakeBench) -> None:
    one = bench(error(500, "a"), say("one"), error(500, "b"), say("two"), patience_s=2.0)
    one.ask()
    one.time += 5000
    assert one.ask().text == "two"


def test_a_wait_longer_than_the_patience_left_stops_at_once(bench: MakeBench) -> None:
    one = bench(error(500, "a"), error(503, "Closed", retry_after="3600"), say("late"))
    with pytest.raises(ProviderError, match=r"HTTP 503: Closed; it asks for a wait of 60 m"):
        one.ask()
    assert len(one.slept) == 1


@pytest.mark.parametrize(
    ("status", "role", "fix"),
    [
        (400, Role.WORKER, "check TILTH_WORKER_MODEL, TILTH_BASE_URL and TILTH_EXTRA_HEADERS"),
        (401, Role.WORKER, "check TILTH_API_KEY"),
        (401, Role.EVALUATOR, "check TILTH_EVALUATOR_API_KEY (without one, TILTH_API_KEY)"),
        (401, Role.SEEDER, "check TILTH_PREP_API_KEY (without one, TILTH_API_KEY)"),
        (403, Role.WORKER, "check that TILTH_API_KEY may use TILTH_WORKER_MODEL"),
        (404, Role.EVALUATOR, "check TILTH_EVALUATOR_MODEL and TILTH_EVALUATOR_BASE_URL"),
        (418, Role.SEEDER, "check TILTH_PREP_MODEL, TILTH_PREP_BASE_URL"),
    ],
)
def test_a_refusal_is_not_tried_again_and_names_the_fix(
    bench: MakeBench, status: int, role: Role, fix: str
) -> None:
    one = bench(error(status, "No, because."), say("never asked"))
    with pytest.raises(ProviderError) as told:
        one.ask(role)
    assert str(told.value).startswith(f"{one.server.url}: HTTP {status}: No, because.; {fix}")
    assert not isinstance(told.value, PromptTooLong)
    assert (len(one.server.requests), one.slept, one.notices) == (1, [], [])


@pytest.mark.parametrize(
    ("charset", "said"),
    [
        *(
            (name, "no \ufffd word")
            for name in ("rot13", "hex", "zip", "idna", "undefined", "none")
        ),
        ("latin-1", "no é word"),
    ],
)
def test_an_error_in_whatever_encoding_it_names_is_a_refusal(
    bench: MakeBench, charset: str, said: str
) -> None:
    body = '{"error": {"message": "no é word"}}'.encode("latin-1")
    one = bench(Whole(400, body, {"content-type": f"application/json; charset={charset}"}))
    with pytest.raises(ProviderError, match=f"HTTP 400: {said}"):
        one.ask()


def test_a_refusal_inside_a_stream_is_not_tried_again(bench: MakeBench) -> None:
    one = bench(stream_error("authentication_error", "bad key"), say("never asked"))
    with pytest.raises(ProviderError, match="authentication_error: bad key; check TILTH_API_KEY"):
        one.ask()
    assert len(one.server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        error(400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"),
        error(400, "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000"),
        json_body(400, {"error": {"message": "the request exceeds the available context size"}}),
        html(413, "<html>too large</html>"),
        stream_error("invalid_request_error", "prompt is too long"),
        stream_error("request_too_large", "Request exceeds the maximum size"),
        Answer(stop_reason="model_context_window_exceeded"),
    ],
)
def test_a_prompt_that_is_too_long_is_told_apart(bench: MakeBench, reply: Reply) -> None:
    one = bench(reply, say("never asked"))
    with pytest.raises(PromptTooLong):
        one.ask()
    assert (len(one.server.requests), one.slept) == (1, [])


def test_a_full_window_with_content_is_an_answer(bench: MakeBench) -> None:
    turn = bench(say("as far as I got", stop_reason="model_context_window_exceeded")).ask()
    assert turn.was_cut
    assert turn.text == "as far as I got"


def test_the_third_empty_answer_in_a_row_is_handed_on(bench: MakeBench) -> None:
    one = bench(EMPTY, say("\n"), EMPTY, say("never asked"))
    turn = one.ask()
    assert (turn.content, turn.stop_reason, len(one.slept)) == ((), "end_turn", 2)


def test_empty_answers_that_are_not_in_a_row_do_not_add_up(bench: MakeBench) -> None:
    one = bench(EMPTY, EMPTY, error(500, "oops"), EMPTY, EMPTY, say("fine"))
    assert one.ask().text == "fine"


def test_the_provider_s_words_are_one_bounded_line_without_the_key(bench: MakeBench) -> None:
    words = f"bad key {KEY}\x1b[31m\r\n\u202eand {'more ' * 200}"
    one = bench(error(401, words), extra_headers={"x-api-key": "Bearer hidden-value"})
    with pytest.raises(ProviderError) as told:
        one.ask()
    line = str(told.value)
    assert f"bad key {hidden(KEY)}" in line
    assert KEY not in line
    assert line.isprintable()
    assert len(line.removeprefix(f"{one.server.url}: ").partition(";")[0]) <= 300
    one = bench(error(500, f"x {KEY} hidden-value"), say("fine"))
    one.ask()
    assert one.notices[0].error == f"HTTP 500: x {hidden(KEY)} hidden-value"


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://127.0.0.1/", "http://127.0.0.1:x/"])
def test_an_address_that_cannot_be_asked_is_refused_at_once(bench: MakeBench, url: str) -> None:
    one = bench(base_url=url)
    with pytest.raises(ProviderError, match=r"no request can be made.*TILTH_BASE_URL"):
        one.ask()
    assert one.slept == []


def test_a_key_that_is_no_header_is_refused_at_once(bench: MakeBench) -> None:
    one = bench(api_key="key-0123\n456789")
    with pytest.raises(ProviderError, match=r"no request can be made.*TILTH_API_KEY"):
        one.ask()
    assert one.slept == []


def test_half_a_surrogate_pair_in_the_conversation_is_refused(bench: MakeBench) -> None:
    one = bench(say("never asked"))
    talk = Conversation(id="c", role=Role.WORKER, model="m", max_tokens=9, system="s", tools=[])
    talk.say("broken \ud83c")
    with pytest.raises(ProviderError, match="half a surrogate pair"):
        one.model.respond(talk, one.note)


def test_a_script_that_is_used_up_is_a_clear_refusal(bench: MakeBench) -> None:
    with pytest.raises(ProviderError, match="the script has no answer left"):
        bench().ask()


def test_an_interrupt_passes_through_and_closes_the_stream() -> None:
    replies: Iterator[Reply] = iter([stall(after=4), say("fine")])
    main = threading.main_thread().ident
    assert main is not None

    def script(request: Request) -> Reply:
        reply = next(replies)
        if isinstance(reply, Broken):
            threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
        return reply

    with MessagesServer(script) as server:
        one = Bench(server)
        with pytest.raises(KeyboardInterrupt):
            one.ask()
        assert one.notices == []
        assert one.ask().text == "fine"
        one.model.close()
        assert server.connections == 2
