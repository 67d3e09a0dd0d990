"""Tool arguments: how every control tool reads what a model wrote.

Lenient about form (JSON inside a string, one item where a list is asked for, a word for nothing),
strict about meaning: a value is never guessed. What is wrong is said in the words of JSON, since
that is what the model writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from tilth.base.errors import Unreadable

ModelT = TypeVar("ModelT", bound=BaseModel)

_NOTHING = frozenset({"", "none", "null", "nil", "n/a"})
_LISTS = (list, tuple)
_MAPPINGS = (dict, Mapping)
_WORDS = {
    "missing": "is missing",
    "string_type": "must be a string",
    "string_too_short": "is empty",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "extra_forbidden": "is not an argument of this tool",
}


def read_arguments(tool: str, model: type[ModelT], arguments: Any) -> ModelT:
    """Read a call's arguments, or raise Unreadable with everything that is wrong."""
    try:
        return model.model_validate(unpacked(model, arguments))
    except ValidationError as error:
        raise Unreadable(f"{tool}: {describe(error)}") from None


def describe(error: ValidationError) -> str:
    """Say in one line what is wrong with the arguments."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in fault["loc"])
        if where or fault["type"] == "value_error":
            faults.append(f"{where}: {in_words(fault)}" if where else in_words(fault))
        else:
            faults.append("the arguments must be one JSON object")
    return "; ".join(faults)


def in_words(fault: Mapping[str, Any]) -> str:
    """Say one fault that pydantic found as somebody who writes JSON would."""
    known = _WORDS.get(fault["type"])
    if known is not None:
        return known
    if fault["type"] in ("enum", "literal_error"):
        return f"must be {fault['ctx']['expected']}".replace("'", "")
    said = str(fault["msg"]).removeprefix("Value error, ")
    return said.replace("Input should be", "must be").replace("String should", "must")


def unpacked(model: type[BaseModel], arguments: Any) -> Any:
    """Give arguments in the shape their model asks for, as far as their meaning is plain."""
    arguments = _from_json(arguments, dict)
    if not isinstance(arguments, dict):
        return arguments
    fields = model.model_fields
    return {
        name: _shaped(fields[name].annotation, value) if name in fields else value
        for name, value in arguments.items()
    }


def is_nothing(value: Any) -> bool:
    """Tell whether a value is a way to write that there is none."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def _shaped(annotation: Any, value: Any) -> Any:
    choices = get_args(annotation)
    if NoneType in choices:
        # A word can stand for no text; where a number is asked for it is a fault.
        may_be_text = any(isinstance(one, type) and issubclass(one, str) for one in choices)
        return None if may_be_text and is_nothing(value) else value
    if get_origin(annotation) in _LISTS:
        return _listed(choices[0], value)
    if get_origin(annotation) in _MAPPINGS:
        return _from_json(value, dict)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return unpacked(annotation, value)
    return value


def _listed(item: Any, value: Any) -> Any:
    if is_nothing(value):
        return []
    value = _from_json(value, list, dict)
    items = value if isinstance(value, list) else [value]
    return [_shaped(item, one) for one in items]


def _from_json(value: Any, *kinds: type) -> Any:
    """Take JSON that some models send as a string; anything else stays as it is."""
    if not isinstance(value, str) or not value.strip().startswith(("{", "[")):
        return value
    try:
        read = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, kinds) else value
