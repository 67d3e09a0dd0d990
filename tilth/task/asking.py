"""Asking: one model call with everything that belongs to it.

Caps and interrupts are heard before the call, retries are told while it lasts, and its answer is
masked, counted, recorded and appended to the conversation after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tilth.base.errors import CapReached, PromptTooLong, ProviderError, QuotaReached
from tilth.config.secrets import Mask
from tilth.contract.outcomes import StopReason
from tilth.log.events import (
    CacheWarning,
    CapWarning,
    ContextTrimmed,
    Emit,
    ModelCall,
    ModelRetry,
    PromptAssembled,
)
from tilth.model.caching import CacheTrail
from tilth.model.messages import (
    Block,
    Conversation,
    Model,
    OnRetry,
    RetryNotice,
    Turn,
    call_ids,
    with_new_ids,
)
from tilth.task.budget import CapReading, Caps, Meter, readings
from tilth.task.night import UNTIL
from tilth.task.quota_wait import Sleeper, go_on_waiting, wait_for_quota
from tilth.task.trimming import shorter_calls, shorter_results

_MORE_ROOM = (
    "use a model with more room, or lower TILTH_MAX_OUTPUT_TOKENS; `tilth doctor --online` shows "
    "how much there is"
)
# What a warning about the cache is remembered by, so that it is given once.
CACHE = "prompt cache"


class Account(Sleeper, Protocol):
    """Be what a call is charged to: its limits, its spend and its record. A bench is one."""

    @property
    def emit(self) -> Emit: ...

    @property
    def mask(self) -> Mask: ...

    @property
    def meter(self) -> Meter: ...

    @property
    def started(self) -> float: ...

    @property
    def warned(self) -> set[str]: ...


def open_conversation(
    conversation: Conversation,
    model: Model,
    emit: Emit,
    *,
    second: bool = False,
    unshown: tuple[str, ...] = (),
) -> None:
    """Record a conversation's head and first messages, whole."""
    emit(
        PromptAssembled(
            conversation=conversation.id,
            role=conversation.role,
            endpoint=model.endpoint,
            head=conversation.head,
            messages=tuple(conversation.messages),
            second=second,
            unshown=unshown,
        )
    )


def ask(account: Account, model: Model, conversation: Conversation, emit: Emit) -> Turn:
    """Have one answer from a model, or raise what stops the session."""
    slept_s = go_on_waiting(account, model, emit)
    while True:
        account.interrupt.check()
        check_caps(account)
        try:
            turn = model.respond(conversation, _on_retry(account, conversation, emit))
            break
        except QuotaReached as reached:
            slept_s = wait_for_quota(account, model, conversation.role, reached, emit, slept_s)
        except PromptTooLong as error:
            if not _trim(conversation, emit):
                fix = f"nothing is left to leave out: {_MORE_ROOM}"
                raise ProviderError(f"{error}; {fix}") from error
    _watch_cache(account, conversation, turn, emit)
    content = _masked(account.mask, conversation, turn)
    emit(_record(conversation, turn.model_copy(update={"content": content})))
    conversation.hear(content)
    if turn.was_cut:
        _shorten_cut_calls(conversation, content, emit)
    if turn.filled_window:
        # It was cut for want of room, and so would the next one be.
        _trim(conversation, emit)
    return turn.named_as(content)


def _masked(mask: Mask, conversation: Conversation, turn: Turn) -> tuple[Block, ...]:
    """Give an answer as it is recorded and sent back: without keys.

    The tools get what the model wrote, but for ids: a result has to name its call as it is sent.
    """
    content = tuple(mask.data(list(turn.content)))
    if list(call_ids(content)) == list(call_ids(turn.content)):
        return content
    # Two ids may come out of the mask as one.
    return with_new_ids(content, conversation.call_ids)


def check_stop(account: Account, pause_s: float = 0) -> None:
    """Hear between two steps of an answer that a person or the clock says stop.

    What would come only after a pause that is longer than the time left is not waited for.
    """
    account.interrupt.check()
    for reading in _readings(account):
        if reading.reason != StopReason.WALL_CLOCK:
            continue
        if reading.reached:
            raise CapReached(reading.reason, _cap_message(reading))
        if reading.used + pause_s / 60 >= reading.limit:
            raise CapReached(reading.reason, _pause_message(reading, pause_s))


def _readings(account: Account) -> tuple[CapReading, ...]:
    elapsed_s = account.clock.monotonic() - account.started - account.night.slept_s
    time, *spends = readings(account.meter, elapsed_s, Caps.of(account.settings))
    return (account.night.reading(account.clock.now()) or time, *spends)


def check_caps(account: Account) -> None:
    """Raise CapReached at a cap; warn once on the way to it."""
    for reading in _readings(account):
        if reading.reached:
            raise CapReached(reading.reason, _cap_message(reading))
        if reading.near and _first_to_warn(account, reading.setting):
            account.emit(CapWarning(cap=reading.reason, used=reading.used, limit=reading.limit))


def _first_to_warn(account: Account, setting: str) -> bool:
    # One step, so that of several lanes one alone is the first.
    before = len(account.warned)
    account.warned.add(setting)
    return len(account.warned) > before


def _cap_message(reading: CapReading) -> str:
    if reading.setting == UNTIL:
        return "the time given by --until is over; go on with `tilth resume`, with a later --until"
    return f"{reading.used:g} of {reading.limit:g} is used; raise {reading.setting} to go on"


def _pause_message(reading: CapReading, pause_s: float) -> str:
    late = f"the model does not answer, and the next try in {pause_s:.0f} s would be after"
    if reading.setting == UNTIL:
        return f"{late} the time given by --until; go on with `tilth resume`, with a later --until"
    return f"{late} {reading.limit:g} minutes; raise {reading.setting} to go on"


def _on_retry(account: Account, conversation: Conversation, emit: Emit) -> OnRetry:
    """Record every failed try at one call; no pause before the next one outlasts the time."""

    def record(notice: RetryNotice) -> None:
        emit(
            ModelRetry(
                conversation=conversation.id,
                role=conversation.role,
                attempt=notice.attempt,
                error=notice.error,
                delay_s=notice.delay_s,
            )
        )
        check_stop(account, notice.delay_s)

    return record


def _record(conversation: Conversation, turn: Turn) -> ModelCall:
    return ModelCall(
        conversation=conversation.id,
        role=conversation.role,
        request_sha256=conversation.sha256(),
        content=turn.content,
        stop_reason=turn.stop_reason,
        usage=turn.usage,
        model=turn.model,
        latency_ms=turn.latency_ms,
        cost_usd=turn.cost_usd,
        request_id=turn.request_id,
    )


def _watch_cache(account: Account, conversation: Conversation, turn: Turn, emit: Emit) -> None:
    """Warn once where the endpoint does not read what it was sent before."""
    trail = conversation.trail = conversation.trail or CacheTrail()
    now = account.clock.monotonic()
    asked = now - turn.latency_ms / 1000
    loss = trail.after(conversation, turn.usage, asked=asked, answered=now)
    # Where nothing is known to cost anything, as with a model of one's own, nothing is lost.
    if loss is None or turn.cost_usd is None or CACHE in account.warned:
        return
    account.warned.add(CACHE)
    role, model = conversation.role, turn.model
    emit(CacheWarning(conversation=conversation.id, role=role, model=model, **dict(loss)))


def _trim(conversation: Conversation, emit: Emit) -> bool:
    """Leave out what can be had again; tells whether there was anything to leave out."""
    contents = shorter_results(conversation.messages)
    if not contents:
        return False
    conversation.shorten(contents)
    emit(ContextTrimmed(conversation=conversation.id, call_ids=tuple(contents), contents=contents))
    return True


def _shorten_cut_calls(conversation: Conversation, content: Sequence[Block], emit: Emit) -> None:
    """Keep a call that was never made from being sent back whole with every later request."""
    inputs = shorter_calls(content)
    if inputs:
        conversation.shorten({}, inputs)
        emit(ContextTrimmed(conversation=conversation.id, call_ids=tuple(inputs), inputs=inputs))
