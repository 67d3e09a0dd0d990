"""Messages as the semantic conventions for generative AI have them, in JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_MOST_CHARS = 16_000


def instructions(system: Any) -> str:
    """Write a system prompt, a text or blocks."""
    return _json(list(_parts(system)))


def messages(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Write the messages that begin a conversation."""
    found = [
        {"role": said.get("role", "user"), "parts": list(_parts(said.get("content")))}
        for said in blocks
    ]
    return _json(found)


def answer(content: Iterable[Mapping[str, Any]], stop_reason: str | None) -> str:
    """Write what a model answered."""
    parts = list(_parts(content))
    return _json([{"role": "assistant", "parts": parts, "finish_reason": stop_reason or ""}])


def _parts(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, str):
        yield {"type": "text", "content": content[:_MOST_CHARS]}
        return
    for block in content or ():
        yield _part(block)


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    match block.get("type"):
        case "text":
            return {"type": "text", "content": str(block.get("text"))[:_MOST_CHARS]}
        case "thinking":
            return {"type": "reasoning", "content": str(block.get("thinking"))[:_MOST_CHARS]}
        case "tool_use":
            given = _json(block.get("input"))
            arguments = block.get("input") if len(given) <= _MOST_CHARS else given[:_MOST_CHARS]
            about = {"id": block.get("id"), "name": block.get("name")}
            return {"type": "tool_call", **about, "arguments": arguments}
        case "tool_result":
            said = _json(block.get("content"))[:_MOST_CHARS]
            return {"type": "tool_call_response", "id": block.get("tool_use_id"), "response": said}
    return {"type": str(block.get("type"))}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
