"""The schema of a tool as a model is shown it: what it may send, and nothing else.

Made from the typed model that will read the arguments. Titles, defaults, references, bounds and the
choice of null say nothing a model needs, and every one of them is paid for with each first request.
"""

from __future__ import annotations

import functools
from typing import Any

from pydantic import BaseModel

_NOISE = (
    *("title", "default", "additionalProperties"),
    *("minLength", "minimum", "maximum", "exclusiveMinimum"),
)


@functools.cache
def tool_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """Give the JSON schema of a tool's arguments in its plainest form; nobody changes it."""
    whole = arguments.model_json_schema()
    definitions = whole.pop("$defs", {})
    whole.pop("description", None)
    return _plain(whole, definitions)


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _resolved(schema, definitions)
    plain = {
        key: value for key, value in schema.items() if key not in _NOISE or isinstance(value, dict)
    }
    for key in ("items", "additionalProperties"):
        if isinstance(plain.get(key), dict):
            plain[key] = _plain(plain[key], definitions)
    if "properties" in plain:
        properties = plain["properties"].items()
        plain["properties"] = {name: _plain(field, definitions) for name, field in properties}
    return plain


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Put what is referred to in place; an argument that may be null may as well be left out."""
    if "$ref" in schema:
        target = dict(definitions[schema["$ref"].rsplit("/", 1)[-1]])
        # The docstring of the class is written for those who read the code.
        target.pop("description", None)
        return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**_resolved(choices[0], definitions), **rest}
    return schema
