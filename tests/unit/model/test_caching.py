"""Caching: what an endpoint should have read from its cache, and the block that kept it from it."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.base.tool_schema import tool_schema
from tilth.base.values import Value
from tilth.model.caching import CacheLoss, CacheTrail, Place, life_s
from tilth.model.messages import Conversation, Role, ToolSpec, Usage


class _Path(Value):
    path: str


READ = ToolSpec(name="read_file", description="Read.", input_schema=tool_schema(_Path))


def conversation(**changes: Any) -> Conversation:
    how = {"id": "c", "role": Role.WORKER, "model": "m", "max_tokens": 9, "system": "Work."}
    made = Conversation(**{**how, "tools": [READ], **changes})
    made.say("Begin.")
    return made


def step(talk: Conversation, number: int) -> None:
    """Read a file, and be given it."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "read_file", "input": {"path": "x"}}
    talk.hear([call])
    talk.reply([{"type": "tool_result", "tool_use_id": f"t{number}", "content": "text " * 50}])


class Talk:
    """Ask and be answered, every ten seconds."""

    def __init__(self) -> None:
        self.conversation = conversation()
        self.trail = CacheTrail()
        self.now = 0.0
        self.steps = 0

    def ask(self, *, total: int, read: int, after_s: float = 10.0) -> CacheLoss | None:
        self.now += after_s
        usage = Usage(input_tokens=10, cache_read_tokens=read, cache_write_tokens=total - read - 10)
        loss = self.trail.after(self.conversation, usage, asked=self.now, answered=self.now + 1)
        step(self.conversation, self.steps)
        self.steps += 1
        return loss


def test_reads_that_keep_up_are_no_loss() -> None:
    talk = Talk()
    assert talk.ask(total=10_000, read=0) is None
    assert talk.ask(total=11_000, read=9_990) is None
    assert talk.ask(total=12_000, read=10_990) is None


def test_one_miss_is_no_loss_and_two_in_a_row_are() -> None:
    talk = Talk()
    talk.ask(total=10_000, read=0)
    assert talk.ask(total=11_000, read=0) is None
    assert talk.ask(total=12_000, read=10_990) is None
    assert talk.ask(total=13_000, read=0) is None
    loss = talk.ask(total=14_000, read=100)
    assert loss == CacheLoss(expected_tokens=13_000, read_tokens=100, differs=None)


def test_the_first_block_that_changed_is_named() -> None:
    talk = Talk()
    for total in (10_000, 11_000, 12_000):
        talk.ask(total=total, read=total - 1_000 if total > 10_000 else 0)
    talk.conversation.shorten({"t1": "[removed]"})
    assert talk.ask(total=12_500, read=0) is None
    loss = talk.ask(total=13_000, read=0)
    assert loss is not None
    assert loss.differs == Place(message=4, block=0, kind="tool_result", name="read_file")


def test_a_head_that_changed_is_named_by_its_key() -> None:
    talk = Talk()
    talk.ask(total=10_000, read=0)
    talk.conversation._head = {**talk.conversation.head, "system": "Work well."}
    talk.ask(total=11_000, read=0)
    loss = talk.ask(total=12_000, read=0)
    assert loss is not None
    assert loss.differs == Place(message=None, block=0, kind="system")


def test_a_gap_longer_than_the_cache_lives_explains_a_miss() -> None:
    talk = Talk()
    talk.ask(total=10_000, read=0)
    assert talk.ask(total=11_000, read=0, after_s=400) is None
    assert talk.ask(total=12_000, read=0, after_s=400) is None
    assert talk.ask(total=13_000, read=0) is None


def test_what_is_too_short_to_be_cached_is_never_missed() -> None:
    talk = Talk()
    for total in (100, 200, 300, 400):
        assert talk.ask(total=total, read=0) is None


@pytest.mark.parametrize(("asked", "seconds"), [("5m", 300), ("1h", 3600)])
def test_a_conversation_says_how_long_it_is_kept(asked: Any, seconds: float) -> None:
    made = conversation(cached_for=asked)
    assert life_s(made) == seconds
    assert ("ttl" in made.head["cache_control"]) is (asked == "1h")
