"""Cache gaps: an hour's life is asked for only where the recorded gaps make it cheaper."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from support.event_samples import SESSION, model_call

from tilth.log.cache_gaps import CacheGaps
from tilth.log.events import Event, ModelCall, Scope
from tilth.log.state import SessionState, apply
from tilth.model.messages import Role, Usage

EVENING = datetime(2026, 11, 16, 22, 0, tzinfo=UTC)


def gaps_after(
    *calls: tuple[float, int], caches: bool = True, conversation: str = "c1"
) -> CacheGaps:
    """Follow one conversation: when each call was answered, and how many tokens it was sent."""
    state = SessionState()
    for seq, (second, tokens) in enumerate(calls, start=1):
        usage = Usage(cache_write_tokens=tokens) if caches else Usage(input_tokens=tokens)
        said = model_call()
        assert isinstance(said, ModelCall)
        said = said.model_copy(
            update={"usage": usage, "latency_ms": 1000, "conversation": conversation}
        )
        ts = (EVENING + timedelta(seconds=second)).isoformat()
        state = apply(state, Event(seq, ts, SESSION, Scope("T-001"), said))
    return state.cache_gaps


def test_quick_turns_are_kept_for_five_minutes() -> None:
    seen = gaps_after((0, 10_000), (30, 12_000), (60, 14_000), (90, 16_000))
    assert seen.life(Role.WORKER) == "5m"


def test_gaps_of_more_than_five_minutes_call_for_an_hour_once_it_pays() -> None:
    # 10,000 new tokens cost 7,500 more for an hour; twice 10,000 written again cost 23,000.
    seen = gaps_after((0, 10_000), (600, 10_000), (1200, 10_000))
    assert seen.life(Role.WORKER) == "1h"
    assert seen.life(Role.EVALUATOR) == "5m"


def test_one_gap_in_a_growing_conversation_does_not_pay() -> None:
    seen = gaps_after((0, 10_000), (600, 20_000), (630, 40_000), (660, 60_000))
    assert seen.life(Role.WORKER) == "5m"


def test_a_gap_of_more_than_an_hour_is_helped_by_neither() -> None:
    seen = gaps_after((0, 10_000), (4000, 10_000), (9000, 10_000))
    assert seen.life(Role.WORKER) == "5m"


def test_an_endpoint_that_tells_of_no_cache_is_asked_for_none_longer() -> None:
    seen = gaps_after((0, 10_000), (600, 10_000), (1200, 10_000), caches=False)
    assert seen.life(Role.WORKER) == "5m"
