"""The base of every frozen value, and the JSON they are written in."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

_T = TypeVar("_T")
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Value(BaseModel):
    """Be immutable and refuse fields nobody declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def changed(value: _T, **changes: Any) -> _T:
    """Copy a frozen dataclass with changes: `dataclasses.replace`, but quick."""
    copy = object.__new__(type(value))
    object.__setattr__(copy, "__dict__", {**value.__dict__, **changes})
    return copy


def canonical(value: Any) -> str:
    """Render JSON in the one form that hashes are taken of."""
    return _CANONICAL.encode(value)


def digest(text: str) -> str:
    """Hash a text, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def jsonable(value: Value) -> dict[str, Any]:
    """Turn a value into plain JSON data."""
    return value.model_dump(mode="json")


def read_number(text: str | None) -> float | None:
    """Read a written number; None where it is none, or not finite."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def describe_faults(error: ValidationError) -> str:
    """Say in one line what a value lacks, for whoever wrote it."""
    faults = []
    for fault in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in fault["loc"])
        faults.append(f"{where}: {fault['msg']}" if where else fault["msg"])
    return "; ".join(faults)
