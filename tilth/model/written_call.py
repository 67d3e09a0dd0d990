"""A tool call that a model wrote into its text instead of making it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_NAMED_CALL = re.compile(r'"(?:name|tool|tool_name|function)"\s*:\s*"(\w+)"')


def written_call(text: str, tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Give the tool that an answer names in JSON, or whose arguments it writes down."""
    by_name = {tool["name"]: tool for tool in tools}
    named = [by_name[name] for name in _NAMED_CALL.findall(text) if name in by_name]
    if named:
        return named[0]
    keys = set(re.findall(r'"(\w+)"\s*:', text)) if text.strip().startswith(("{", "```")) else set()
    return next((tool for tool in tools if keys and keys >= _required(tool)), None)


def _required(tool: Mapping[str, Any]) -> set[str]:
    return set(tool["input_schema"].get("required", ())) or {tool["name"]}
