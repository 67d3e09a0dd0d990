"""Asking: one model call with everything that belongs to it.

Caps and interrupts are heard before the call, retries are told while it lasts, and its answer is
masked, counted, recorded and appended to the conversation after it.
"""

from __future__ import annotations

from typing import Protocol

from tilth.briefs import TRIM_STUB
from tilth.budget import Caps, Meter, Reading, readings
from tilth.clock import Clock
from tilth.errors import CapReached, PromptTooLong, ProviderError
from tilth.events import Emit
from tilth.interrupt import Interrupt
from tilth.mask import Mask
from tilth.messages import Conversation, Model, RetryNotice, Turn
from tilth.payloads import CapWarning, ContextTrimmed, ModelCall, ModelRetry, PromptAssembled
from tilth.settings import Settings

KEEP_RESULTS = 6


class Account(Protocol):
    """Be what a call is charged to: its limits, its spend and its record. A bench is one."""

    @property
    def settings(self) -> Settings: ...

    @property
    def emit(self) -> Emit: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def mask(self) -> Mask: ...

    @property
    def meter(self) -> Meter: ...

    @property
    def interrupt(self) -> Interrupt: ...

    @property
    def started(self) -> float: ...

    @property
    def warned(self) -> set[str]: ...


def open_conversation(conversation: Conversation, model: Model, emit: Emit) -> None:
    """Record a conversation's head and first messages, whole."""
    emit(
        PromptAssembled(
            conversation=conversation.id,
            role=conversation.role,
            endpoint=model.endpoint,
            head=conversation.head,
            messages=tuple(conversation.messages),
        )
    )


def ask(account: Account, model: Model, conversation: Conversation, emit: Emit) -> Turn:
    """Have one answer from a model, or raise what stops the session."""
    while True:
        account.interrupt.check()
        check_caps(account)
        try:
            turn = model.respond(conversation, _teller(conversation, emit))
            break
        except PromptTooLong as error:
            if not _trim(conversation, emit):
                fix = "nothing is left to leave out: use a model with more room"
                raise ProviderError(f"{error}; {fix}") from error
    turn = turn.model_copy(update={"content": tuple(account.mask.data(list(turn.content)))})
    account.meter.add_turn(conversation.role, turn)
    emit(_record(conversation, turn))
    conversation.hear(turn.content)
    if turn.filled_window:
        # It was cut for want of room, and so would the next one be.
        _trim(conversation, emit)
    return turn


def check_caps(account: Account) -> None:
    """Raise CapReached at a cap; warn once on the way to it."""
    settings = account.settings
    caps = Caps(
        tokens=settings.max_tokens,
        cost_usd=settings.max_cost_usd,
        wall_clock_s=settings.max_wall_clock_minutes * 60,
    )
    elapsed = account.clock.monotonic() - account.started
    for reading in readings(account.meter, elapsed, caps):
        if reading.reached:
            raise CapReached(reading.reason, _cap_message(reading))
        if reading.near and reading.setting not in account.warned:
            account.warned.add(reading.setting)
            account.emit(CapWarning(cap=reading.reason, used=reading.used, limit=reading.limit))


def _cap_message(reading: Reading) -> str:
    return f"{reading.used:g} of {reading.limit:g} is used; raise {reading.setting} to go on"


def _teller(conversation: Conversation, emit: Emit) -> _Teller:
    return _Teller(conversation, emit)


class _Teller:
    """Record every failed try at one call."""

    def __init__(self, conversation: Conversation, emit: Emit) -> None:
        self._conversation = conversation
        self._emit = emit

    def __call__(self, notice: RetryNotice) -> None:
        self._emit(
            ModelRetry(
                conversation=self._conversation.id,
                role=self._conversation.role,
                attempt=notice.attempt,
                error=notice.error,
                delay_s=notice.delay_s,
            )
        )


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


def _trim(conversation: Conversation, emit: Emit) -> bool:
    """Stub all but the last tool results in one step, rarely, so that the cache lives on.

    Tells whether there was anything to leave out.
    """
    call_ids = _trimmable(conversation)
    if not call_ids:
        return False
    conversation.trim(frozenset(call_ids), TRIM_STUB)
    emit(ContextTrimmed(conversation=conversation.id, call_ids=tuple(call_ids), stub=TRIM_STUB))
    return True


def _trimmable(conversation: Conversation) -> list[str]:
    results = [
        block
        for message in conversation.messages
        if message["role"] == "user"
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    long = [block for block in results if len(block["content"]) > len(TRIM_STUB)]
    kept = {block["tool_use_id"] for block in results[-KEEP_RESULTS:]}
    older = [block["tool_use_id"] for block in long if block["tool_use_id"] not in kept]
    # With nothing old left, the recent ones are what fills the window.
    return older or [block["tool_use_id"] for block in long[:-1]]
