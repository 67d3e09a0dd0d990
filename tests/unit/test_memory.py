"""What one pass over a log leaves in memory, and how it spares the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from event_samples import a_session

from tilth.errors import CorruptSession
from tilth.recall.memory import remember
from tilth.summary import fold


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def lines() -> list[dict[str, Any]]:
    return [event.to_line() for event in a_session()]


def test_the_same_pass_counts_all_that_happened() -> None:
    assert remember(lines()).tally.summary() == fold(lines())


def test_what_every_role_spent_is_the_same_by_both_counts() -> None:
    memory = remember(lines())

    spent = memory.tally.whole.by_role
    for role, used in memory.meter().by_role.items():
        assert used.usage == spent[role].usage
        assert used.calls == spent[role].model_calls
        assert used.unpriced_calls == spent[role].cost_unknown_calls
        assert used.cost_usd == pytest.approx(spent[role].cost_usd)


def test_no_search_for_garbage_goes_through_what_was_read() -> None:
    states = []

    def watched() -> Iterator[dict[str, Any]]:
        for line in lines():
            states.append(gc.isenabled())
            yield line

    before = gc.get_freeze_count()
    remember(watched())

    assert set(states) == {False}
    assert gc.isenabled()
    assert gc.get_freeze_count() > before


def test_the_collector_works_again_after_a_log_that_cannot_be_trusted() -> None:
    bad = {**lines()[0], "ts": 7}

    with pytest.raises(CorruptSession):
        remember([bad])

    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()

    remember(lines())

    assert not gc.isenabled()
