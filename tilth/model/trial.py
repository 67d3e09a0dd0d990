"""A trial of a model: one call with one tool, and what it shows of tools, streaming and speed.

It asks for something that only a working tool call can carry, long enough to be timed. It judges
nothing: what is good enough is for whoever asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum

from tilth.base.values import Value
from tilth.model.messages import Conversation, Role, ToolSpec, Turn
from tilth.model.provider import AnthropicModel, ModelConfig
from tilth.model.window import window_of
from tilth.model.written_call import written_call

_WORDS = [
    *("harrow", "plough", "furrow", "meadow", "barley", "clover", "thresh", "winnow"),
    *("fallow", "orchard", "lantern", "copper", "willow", "saddle", "pewter", "cobble"),
    *("hamlet", "beacon", "thicket", "ferry", "anvil", "bramble", "kettle", "mortar"),
]
_TOOL = ToolSpec(
    name="note_words",
    description="Note down a list of words.",
    input_schema={
        "type": "object",
        "properties": {
            "words": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer"},
        },
        "required": ["words", "count"],
        "additionalProperties": False,
    },
)
_ARGUMENTS = {"words": _WORDS, "count": len(_WORDS)}
_QUESTION = (
    f"Call the tool `{_TOOL.name}` once. Its `count` is the number {len(_WORDS)}, its `words` is "
    f"the list of these words, each of them, in this order: {', '.join(_WORDS)}."
)
# Room for a model that thinks before it calls.
_ANSWER_TOKENS = 2000


class ToolUse(StrEnum):
    """Say what became of the one call that was asked for."""

    CALLED = "called"
    WRONG_ARGUMENTS = "wrong_arguments"
    WRONG_NAME = "wrong_name"
    SEVERAL = "several"
    AS_TEXT = "as_text"
    NONE = "none"
    CUT = "cut"


class Trial(Value):
    """Hold what one call showed; `first_ms` is None where the answer came whole."""

    model: str
    endpoint: str
    tools: ToolUse
    total_ms: int
    first_ms: int | None
    output_tokens: int
    window: int | None


def try_model(
    config: ModelConfig,
    role: Role,
    *,
    max_tokens: int = _ANSWER_TOKENS,
    clock: Callable[[], float] = time.monotonic,
) -> Trial:
    """Make the call; raise CallError where there is no answer to it."""
    heard: list[float] = []
    model = AnthropicModel(
        config,
        clock=clock,
        heard=lambda role, activity: heard.append(clock()),
    )
    conversation = Conversation.from_head(
        "trial",
        role,
        {
            "max_tokens": min(max_tokens, _ANSWER_TOKENS),
            "model": config.model,
            "tools": [_TOOL.to_wire()],
        },
    )
    conversation.say(_QUESTION)
    try:
        began = clock()
        turn = model.ask_once(conversation)
        window = window_of(config.model, model.document)
    finally:
        model.close()
    return Trial(
        model=turn.model,
        endpoint=model.endpoint,
        tools=tool_use(turn),
        total_ms=turn.latency_ms,
        first_ms=round((heard[0] - began) * 1000) if heard else None,
        output_tokens=turn.usage.output_tokens,
        window=window,
    )


def tool_use(turn: Turn) -> ToolUse:
    """Sort an answer to the one question."""
    if turn.was_cut:
        return ToolUse.CUT
    calls = turn.tool_calls
    if not calls:
        as_text = written_call(turn.text, [_TOOL.to_wire()])
        return ToolUse.NONE if as_text is None else ToolUse.AS_TEXT
    if any(call.name != _TOOL.name for call in calls):
        return ToolUse.WRONG_NAME
    if any(call.arguments != _ARGUMENTS for call in calls):
        return ToolUse.WRONG_ARGUMENTS
    return ToolUse.CALLED if len(calls) == 1 else ToolUse.SEVERAL
