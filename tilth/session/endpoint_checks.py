"""What an endpoint does when it is tried: does it answer, call tools, stream, and how fast.

One answer is a sample: what a model did wrong in it is a warning. What the endpoint refuses fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tilth.base.errors import ProviderError
from tilth.config.settings import Endpoint, Settings
from tilth.model.health import CallError, Failure, may_pass
from tilth.model.messages import Conversation, RetryNotice, Role
from tilth.model.provider import AnthropicModel
from tilth.model.trial import ToolUse, Trial, try_model
from tilth.session.doctor_check import Check, Grade
from tilth.session.endpoints import config_of

# What a first call of about 2,500 tokens, a few files and their edits need beside the answer.
ROOM_TOKENS = 12_000
SLOW_TOKENS_A_SECOND = 10
_LONG_WAIT = 1 / 4
_TELLING_MS = 1000
_LATER = "check the address and the network, or try again later"
_GUIDE = "see docs/local-models.md"

_TOOL_USE = {
    ToolUse.CALLED: "called the one tool on offer, with the right arguments",
    ToolUse.WRONG_ARGUMENTS: "called the tool, but with other arguments than it was told",
    ToolUse.WRONG_NAME: "called a tool that was not on offer",
    ToolUse.SEVERAL: "called the tool several times instead of once",
    ToolUse.AS_TEXT: "wrote the call as JSON text instead of making it: nothing would be run",
    ToolUse.NONE: "called no tool, although it was asked to: a worker can do nothing without",
    ToolUse.CUT: "had not made its call when the answer was cut off",
}
_TOOL_FIX = {
    ToolUse.WRONG_ARGUMENTS: f"expect corrections, or take a larger model; {_GUIDE}",
    ToolUse.WRONG_NAME: f"expect corrections, or take a larger model; {_GUIDE}",
    ToolUse.SEVERAL: f"expect corrections, or take a larger model; {_GUIDE}",
    ToolUse.AS_TEXT: f"start the server with the model's own chat template; {_GUIDE}",
    ToolUse.NONE: f"take a model and a server that can call tools; {_GUIDE}",
    ToolUse.CUT: "raise TILTH_MAX_OUTPUT_TOKENS, or take a model that thinks less",
}


def endpoint_checks(
    settings: Settings, clock: Callable[[], float] = time.monotonic
) -> Iterator[Check]:
    """Try every endpoint that is set, each once, whatever it is needed for."""
    roles: dict[tuple[str, str | None, str], list[Role]] = {}
    known: dict[Role, Endpoint] = {}
    for role in Role:
        endpoint = settings.endpoint(role)
        if endpoint is not None and (role is not Role.EVALUATOR or settings.evaluate):
            key = (endpoint.model, endpoint.base_url, endpoint.api_key.get_secret_value())
            roles.setdefault(key, []).append(role)
            known[role] = endpoint
    if not roles:
        fix = "set TILTH_API_KEY and TILTH_WORKER_MODEL"
        yield Check("endpoint", Grade.FAIL, "cannot be tried without key and model", fix)
    for named in roles.values():
        yield from _tried(known[named[0]], named, settings, clock)


def _tried(
    endpoint: Endpoint, roles: list[Role], settings: Settings, clock: Callable[[], float]
) -> Iterator[Check]:
    answered = _answers(endpoint, roles)
    yield answered
    if answered.grade is Grade.FAIL:
        return
    who = ", ".join(roles)
    try:
        room = settings.max_output_tokens
        trial = try_model(config_of(endpoint), roles[0], max_tokens=room, clock=clock)
    except CallError as failed:
        yield _refused(failed.failure, who)
        return
    yield from graded(trial, who, settings)


def _answers(endpoint: Endpoint, roles: list[Role]) -> Check:
    """Send one request of one token."""
    model = AnthropicModel(config_of(endpoint), sleep=lambda seconds: None)
    head = {"max_tokens": 1, "model": endpoint.model}
    conversation = Conversation.from_head("doctor", roles[0], head)
    conversation.say("Hi")
    who = ", ".join(roles)
    try:
        turn = model.respond(conversation, _give_up)
    except ProviderError as error:
        return Check("endpoint", Grade.FAIL, f"{who}: {error.problem}", error.fix or _LATER)
    finally:
        model.close()
    found = f"{who}: {turn.model} at {model.endpoint} answered in {turn.latency_ms} ms"
    return Check("endpoint", Grade.PASS, found)


def _give_up(notice: RetryNotice) -> None:
    """Stop at the first failed try; an answer of one token may well be empty."""
    if not notice.is_empty:
        raise ProviderError(notice.error, _LATER)


def _refused(failure: Failure, who: str) -> Check:
    found = f"{who}: a call with a tool failed: {failure.text}"
    if may_pass(failure):
        return Check("tools", Grade.WARN, found, _LATER)
    return Check("tools", Grade.FAIL, found, f"take a model that can call tools; {_GUIDE}")


def graded(trial: Trial, who: str, settings: Settings) -> Iterator[Check]:
    """Grade what one answer showed."""
    fix = _TOOL_FIX.get(trial.tools, "")
    grade = Grade.WARN if fix else Grade.PASS
    yield Check("tools", grade, f"{who}: {_TOOL_USE[trial.tools]}", fix)
    yield _stream(trial, who)
    yield _window(trial, who, settings)
    yield _speed(trial, who, settings)


def _stream(trial: Trial, who: str) -> Check:
    fix = "set TILTH_STALL_SECONDS to more than a whole answer takes, 900 for a local model"
    if trial.first_ms is None:
        found = f"{who}: the answer came whole, although a stream was asked for"
        return Check("stream", Grade.WARN, found, fix)
    if trial.total_ms > _TELLING_MS and trial.total_ms - trial.first_ms < trial.total_ms / 20:
        found = f"{who}: the stream came all at once at its end: something on the way holds it back"
        return Check("stream", Grade.WARN, found, fix)
    return Check("stream", Grade.PASS, f"{who}: the answer came as a stream")


def _window(trial: Trial, who: str, settings: Settings) -> Check:
    if trial.window is None:
        found = f"{who}: the endpoint does not tell how large its context is"
        return Check("window", Grade.PASS, found)
    found = f"{who}: {trial.window:,} tokens"
    room = trial.window - settings.max_output_tokens
    if room >= ROOM_TOKENS:
        return Check("window", Grade.PASS, found)
    taken = f"TILTH_MAX_OUTPUT_TOKENS ({settings.max_output_tokens:,})"
    found += f", of which {taken} leaves {max(0, room):,}"
    fix = f"lower it to {max(1000, trial.window // 4)}, or give the server a larger context"
    return Check("window", Grade.WARN, found, fix)


def _speed(trial: Trial, who: str, settings: Settings) -> Check:
    first = trial.total_ms if trial.first_ms is None else trial.first_ms
    found = f"{who}: first word after {first / 1000:.1f} s"
    pace = tokens_a_second(trial)
    found += f", {pace:.0f} tokens a second" if pace else ", tokens are not counted"
    is_slow = 0 < pace < SLOW_TOKENS_A_SECOND
    if is_slow or first > settings.stall_seconds * 1000 * _LONG_WAIT:
        fix = "raise TILTH_STALL_SECONDS (900) and TILTH_MAX_WALL_CLOCK_MINUTES; " + _GUIDE
        return Check("speed", Grade.WARN, found, fix)
    return Check("speed", Grade.PASS, found)


def tokens_a_second(trial: Trial) -> float:
    """Give how fast the answer was written: without the wait for its first word, if it streamed."""
    span = trial.total_ms - (trial.first_ms or 0)
    # A stream that is held back on its way shows its whole length in the wait alone.
    if span < trial.total_ms / 20:
        span = trial.total_ms
    return trial.output_tokens * 1000 / max(1, span)
