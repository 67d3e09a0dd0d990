"""Trimming: what of a long conversation is left out when it no longer fits.

Decides; changes nothing. What carries memory stays: cases, verdicts, blockers, seeds and questions
with their results, and everything a person said. Of the rest the oldest results go first and in
bulk, so that the prompt cache lives on; the newest is only cut, and only when nothing else is left.

Everything after the first result that goes must be written to the cache again. Where leaving out
old results saves less than that costs, it would only have to be done again soon: the recent ones go
with them then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilth.base.values import canonical
from tilth.model.messages import Block

KEEP_RESULTS = 6
# Calls whose words and results are what the two sides agreed on so far.
MEMORY = frozenset({"submit_case", "submit_verdict", "raise_blocker", "ask_user", "write_seed"})

# What a request costs, in parts of its price: read from the cache, or written to it again; and how
# many more requests a conversation that has filled its window may well see.
_READ, _WRITTEN = 0.1, 1.25
_LATER_REQUESTS = 40
_SHORTEST_END = 500
_LONGEST_ARGUMENT = 80
_LONGEST_CUT_CALL = 400


@dataclass(frozen=True)
class _Result:
    """Hold one tool result and the call it answers."""

    call_id: str
    content: str
    call: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.call.get("name", "a tool"))

    def stub(self) -> str:
        """Say what the result was and how to have it again."""
        return (
            f"[removed to make room: what {self._said()} gave, {len(self.content)} characters; "
            "make the call again if you still need it]"
        )

    def cut(self) -> str | None:
        """Give its head and tail, a quarter of it at most; None if there is nothing to cut."""
        end = max(_SHORTEST_END, len(self.content) // 8)
        removed = len(self.content) - 2 * end
        if removed <= _SHORTEST_END:
            return None
        note = (
            f"[{removed} characters of what {self._said()} gave are removed here to make room; "
            "ask for a smaller part if you need them]"
        )
        return f"{self.content[:end]}\n{note}\n{self.content[-end:]}"

    def _said(self) -> str:
        arguments = self.call.get("input")
        shown = next(iter(arguments.values()), "") if isinstance(arguments, dict) else ""
        line = " ".join(str(shown).split())
        short = line if len(line) <= _LONGEST_ARGUMENT else f"{line[:_LONGEST_ARGUMENT]}…"
        return f"{self.name} `{short}`" if short else self.name


def shorter_results(messages: Sequence[Block]) -> dict[str, str]:
    """Give the results to replace and what takes their place; empty if nothing is left."""
    results = [result for result in _results(messages) if result.name not in MEMORY]
    stubs = {result.call_id: result.stub() for result in results}
    long = [result for result in results if len(result.content) > len(stubs[result.call_id])]
    recent = {result.call_id for result in results[-KEEP_RESULTS:]}
    older = [result for result in long if result.call_id not in recent]
    # With little old left, the recent ones are what fills the window.
    going = older if len(older) == len(long) or pays(messages, older) else long[:-1]
    if going:
        return {result.call_id: stubs[result.call_id] for result in going}
    newest = long[-1].cut() if long else None
    return {long[-1].call_id: newest} if newest is not None else {}


def pays(messages: Sequence[Block], going: Sequence[_Result]) -> bool:
    """Tell whether leaving results out saves more than writing the rest anew costs."""
    if not going:
        return False
    gone = {result.call_id for result in going}
    saved = sum(len(result.content) - len(result.stub()) for result in going)
    blocks = [block for message in messages for block in message["content"]]
    first = next(n for n, block in enumerate(blocks) if block.get("tool_use_id") in gone)
    anew = sum(len(canonical(block)) for block in blocks[first:]) - saved
    return saved * _READ * _LATER_REQUESTS >= anew * (_WRITTEN - _READ)


def shorter_calls(content: Sequence[Block]) -> dict[str, dict[str, str]]:
    """Give the arguments to send back for long calls of an answer that was cut off."""
    return {
        block["id"]: {"cut_off": f"{text[:_LONGEST_CUT_CALL]}…"}
        for block in content
        if block.get("type") == "tool_use"
        and len(text := canonical(block.get("input"))) > 2 * _LONGEST_CUT_CALL
    }


def _results(messages: Sequence[Block]) -> list[_Result]:
    calls: dict[str, Block] = {}
    found = []
    for message in messages:
        for block in message["content"]:
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result":
                call_id = block["tool_use_id"]
                found.append(_Result(call_id, str(block["content"]), calls.get(call_id, {})))
    return found
