"""The bytes of a stream of the Messages API: events, chunks, and blocks cut into deltas."""

from __future__ import annotations

import json
from typing import Any

Block = dict[str, Any]


def chunk(body: bytes) -> bytes:
    return f"{len(body):x}\r\n".encode() + body + b"\r\n"


def event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def pieces(one: Block, size: int) -> tuple[Block, list[dict[str, Any]]]:
    """Split a block into how it starts and the deltas that complete it."""
    match one["type"]:
        case "text":
            texts = _split(one["text"], size)
            return {**one, "text": ""}, [{"type": "text_delta", "text": text} for text in texts]
        case "thinking":
            texts = _split(one["thinking"], size)
            deltas = [{"type": "thinking_delta", "thinking": text} for text in texts]
            signed = {"type": "signature_delta", "signature": one["signature"]}
            return {**one, "thinking": "", "signature": ""}, [*deltas, signed]
        case "tool_use" if one["input"] != {}:
            # a string stands for what the model wrote, JSON or not
            written = one["input"]
            texts = _split(written if isinstance(written, str) else json.dumps(written), size)
            deltas = [{"type": "input_json_delta", "partial_json": text} for text in texts]
            return {**one, "input": {}}, deltas
        case _:
            return one, []


def _split(text: str, size: int) -> list[str]:
    """Cut by UTF-16 code units, as servers do that count that way: a pair may be cut in two."""
    units = text.encode("utf-16-le", "surrogatepass")
    starts = range(0, len(units), 2 * size)
    return [units[at : at + 2 * size].decode("utf-16-le", "surrogatepass") for at in starts]
