"""An answer put together from what came over the wire, streamed or whole.

Blocks are kept as they came, fields nobody here knows included, because they are sent back as
they came. Only what could not be sent back is changed: half surrogate pairs, tool input that is
no JSON, and blank text blocks. It never reads from a socket itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Never, TypeVar

from tilth.model.health import CallError, Failure, from_error
from tilth.model.messages import Block, Usage

INVALID_JSON = "INVALID_JSON"
# Far more than any tool takes, far less than what breaks a writer of JSON.
DEEPEST = 64
# More tokens than any model has ever been asked for: no count, and no bill could be made of it.
MOST_TOKENS = 10**12

_T = TypeVar("_T")


@dataclass(frozen=True)
class Answer:
    """Hold what a model answered, before it is known what it cost."""

    content: tuple[Block, ...]
    stop_reason: str | None
    model: str | None
    usage: Usage


def from_events(
    events: Iterable[str], watch: Callable[[dict[str, Any]], None] | None = None
) -> Answer:
    """Assemble the events of a stream, given as their JSON, up to and including message_stop.

    `watch` is shown each event that could be taken in.
    """
    assembly = _Assembly()
    for text in events:
        event = _loads(text)
        if not isinstance(event, dict):
            _not_an_answer("an event is no JSON object")
        if assembly.take(event):
            return assembly.answer()
        if watch is not None:
            watch(event)
    raise CallError(Failure(text="the stream ended before message_stop"))


def from_body(body: bytes) -> Answer:
    """Read an answer that came whole, although a stream was asked for."""
    message = _loads(body)
    if not isinstance(message, dict):
        _not_an_answer("the body is no JSON object")
    if "error" in message and "content" not in message:
        raise CallError(from_error(message["error"]))
    blocks = _field(message, "content", list)
    content = [dict(block) if isinstance(block, dict) else _not_an_answer() for block in blocks]
    return Answer(
        content=_checked(content),
        stop_reason=_text_or_none(message.get("stop_reason")),
        model=_text_or_none(message.get("model")),
        usage=_usage(message.get("usage")),
    )


class _Assembly:
    """Grow one answer event by event."""

    def __init__(self) -> None:
        self._message: dict[str, Any] | None = None
        self._stop_reason: str | None = None
        self._usages: list[Any] = []
        self._blocks: dict[int, _GrowingBlock] = {}

    def take(self, event: dict[str, Any]) -> bool:
        """Add one event; tell whether it was the last."""
        match event.get("type"):
            case "message_start":
                self._message = _field(event, "message", dict)
                self._usages.append(self._message.get("usage"))
            case "content_block_start":
                block = _field(event, "content_block", dict)
                self._blocks[_field(event, "index", int)] = _GrowingBlock(block)
            case "content_block_delta":
                self._block(event).grow(_field(event, "delta", dict))
            case "message_delta":
                self._stop_reason = _text_or_none(_field(event, "delta", dict).get("stop_reason"))
                self._usages.append(event.get("usage"))
            case "message_stop":
                return True
            case kind if kind == "error" or (kind is None and "error" in event):
                raise CallError(from_error(event.get("error")))
        return False

    def answer(self) -> Answer:
        if self._message is None:
            _not_an_answer("no message_start")
        return Answer(
            content=_checked([block.whole() for block in self._blocks.values()]),
            stop_reason=self._stop_reason,
            model=_text_or_none(self._message.get("model")),
            usage=_usage(*self._usages),
        )

    def _block(self, event: dict[str, Any]) -> _GrowingBlock:
        block = self._blocks.get(_field(event, "index", int))
        return block if block is not None else _not_an_answer("a delta without its block")


class _GrowingBlock:
    """Collect the pieces of one block; joined once, so that a long text costs no more a piece."""

    def __init__(self, block: Block) -> None:
        self._block = dict(block)
        self._pieces: dict[str, list[str]] = {}

    def grow(self, delta: dict[str, Any]) -> None:
        """Add a delta: whatever text it holds is appended to the block's field of that name."""
        for key, value in delta.items():
            if key == "type":
                continue
            if key == "citation":
                self._block["citations"] = [*(self._block.get("citations") or ()), value]
            elif key == "signature" or not isinstance(value, str):
                self._block[key] = value
            else:
                self._pieces.setdefault(key, []).append(value)

    def whole(self) -> Block:
        for key, pieces in self._pieces.items():
            text = "".join(pieces)
            if key != "partial_json":
                before = self._block.get(key) or ""
                self._block[key] = before + text if isinstance(before, str) else _no_text(key)
            elif text.strip():
                self._block["input"] = _tool_input(text)
        return self._block


def _tool_input(text: str) -> Any:
    try:
        return _shallow(_strict_json(text))
    except (ValueError, RecursionError):
        # Cut, badly written or bottomless. It must be an object to be sent back, no tool takes this
        # field, and the model can see what it wrote.
        return {INVALID_JSON: text}


def _checked(blocks: list[Block]) -> tuple[Block, ...]:
    content = tuple(_mended(_bounded(block)) for block in blocks if not _is_blank(block))
    for block in content:
        match _field(block, "type", str):
            case "tool_use":
                _field(block, "id", str)
                _field(block, "name", str)
                block.setdefault("input", {})
            case "text" | "thinking" as kind:
                _field(block, kind, str)
    return content


def _bounded(block: Block) -> Block:
    """Let a block pass that is nested no deeper than it may be; a call's input is left out."""
    try:
        return _shallow(block)
    except ValueError as error:
        if block.get("type") != "tool_use":
            _not_an_answer(f"a block is {error}")
        return {**block, "input": {INVALID_JSON: str(error)}}


def _shallow(value: _T) -> _T:
    """Let data pass that is nested no deeper than it may be; never goes as deep as it is."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return value
    raise ValueError(f"nested more than {DEEPEST} deep")


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_blank(block: Block) -> bool:
    # The API takes no blank text back, and there is nothing in it to lose.
    text = block.get("text", "")
    return block.get("type") == "text" and isinstance(text, str) and not text.strip()


def _mended(value: Any) -> Any:
    """Join surrogate pairs that came in two pieces and replace halves, which no UTF-8 can hold."""
    if isinstance(value, str):
        return value if value.isascii() else _sound(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return value


def _sound(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _usage(*reports: Any) -> Usage:
    """Take the highest count of each kind: reports are running totals, and some are left at 0."""
    known = [report for report in reports if isinstance(report, dict)]
    details = [report.get("output_tokens_details") for report in known]
    written = [report.get("cache_creation") for report in known]
    return Usage(
        input_tokens=_most(known, "input_tokens"),
        output_tokens=_most(known, "output_tokens"),
        cache_read_tokens=_most(known, "cache_read_input_tokens"),
        cache_write_tokens=_most(known, "cache_creation_input_tokens"),
        reasoning_tokens=_most([d for d in details if isinstance(d, dict)], "thinking_tokens"),
        cache_write_1h_tokens=_most(
            [part for part in written if isinstance(part, dict)], "ephemeral_1h_input_tokens"
        ),
    )


def _most(reports: list[dict[str, Any]], name: str) -> int:
    counts = (report.get(name) for report in reports)
    most = max((0, *(count for count in counts if isinstance(count, int | float))))
    return int(most) if most <= MOST_TOKENS else _not_an_answer(f"{name} is no count of tokens")


def _loads(text: str | bytes) -> Any:
    try:
        return _strict_json(text)
    except (ValueError, RecursionError):
        _not_an_answer("it is no JSON")


def _strict_json(text: str | bytes) -> Any:
    """Read JSON and refuse numbers that could not be written as JSON again."""
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> Never:
    raise ValueError(f"{text} is no JSON number")


def _field(holder: dict[str, Any], name: str, kind: type[_T]) -> _T:
    value = holder.get(name)
    return value if isinstance(value, kind) else _not_an_answer(f"a bad or missing {name!r}")


def _no_text(name: str) -> Never:
    _not_an_answer(f"a {name!r} that is no text")


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _not_an_answer(why: str = "a block is no JSON object") -> Never:
    raise CallError(Failure(text=f"the body is no Messages answer: {why}", is_unreached=True))
