"""TOML, INI and JSON that somebody else wrote: read within bounds, or refused with one error.

Python's own readers give up in many ways: they take minutes over a few megabytes, raise what
nobody expects at a number of 5,000 digits, or hand out what is nested so deeply that comparing it
fails later. Here all of that is BadText. What the text says is the caller's business, and so is
how its bytes were come by.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tilth.base.errors import BadText

if TYPE_CHECKING:
    from configparser import RawConfigParser

LARGEST_CONFIG = 1024 * 1024
LARGEST_JSON = 10 * 1024 * 1024
DEEPEST = 64
_MOST_BITS = 1024  # some 300 digits
_LONGEST_REASON = 300

# Python's reader of TOML takes the square of their number of steps for the parts of one key. Parts
# that are longer than this make few.
_DEEP_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.){0,200}+"|'[^'\n]{0,200}+')[ \t]*+\.[ \t]*+)"""
    rf"{{{DEEPEST}}}",
    re.ASCII,
)

_Read = TypeVar("_Read")


def read_toml(content: bytes | str, name: str = "") -> dict[str, Any]:
    """Read TOML, or raise BadText in which `name` says where it stands."""
    return _contained("TOML", _toml, content, LARGEST_CONFIG, name)


def read_ini(content: bytes | str, name: str = "") -> RawConfigParser:
    """Read INI as pytest does: no section stands for all, and names keep their case."""
    return _contained("INI", _ini, content, LARGEST_CONFIG, name)


def read_json(content: bytes | str, name: str = "") -> Any:
    """Read JSON; an object that has a key twice is refused, as is `NaN`."""
    return _contained("JSON", _json, content, LARGEST_JSON, name)


def _contained(
    kind: str, parse: Callable[[str], _Read], content: bytes | str, largest: int, name: str
) -> _Read:
    try:
        if len(content) > largest:
            raise BadText(f"larger than {largest // 1024 // 1024} MB; make it smaller")
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        return parse(text)
    except BadText as error:
        said = str(error)
    except UnicodeDecodeError as error:
        said = f"not UTF-8 at byte {error.start}; save it as UTF-8"
    except RecursionError:
        said = "nested too deeply to be read"
    except ValueError as error:
        said = f"not {kind}: {' '.join(str(error).split())[:_LONGEST_REASON]}"
    raise BadText(f"{name}: {said}" if name else said)


def _toml(text: str) -> dict[str, Any]:
    if _DEEP_KEY.search(text):
        raise RecursionError
    import tomllib

    document = tomllib.loads(text)
    _check(document)
    return document


def _json(text: str) -> Any:
    document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_key_twice)
    _check(document)
    return document


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse what JSON allows: of two values one would be dropped, and nobody would know which."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"an object has the key {json.dumps(key)[:80]} twice; keep one")
        found[key] = value
    return found


def _check(document: Any) -> None:
    """Refuse what could not be compared or written again: what is very deep or very large."""
    level, depth = [document], 0
    while level:
        if depth > DEEPEST:
            raise RecursionError
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise BadText("holds a number that is too large")
        level, depth = inner, depth + 1


def _ini(text: str) -> RawConfigParser:
    import configparser

    class Parser(configparser.RawConfigParser):
        # The same as the one it stands for, which takes the square of a line's length in blanks.
        OPTCRE_NV = re.compile(r"(?P<option>[^=:]*)(?:(?P<vi>[=:])\s*(?P<value>.*))?$")

        def optionxform(self, optionstr: str) -> str:
            if not optionstr:
                raise ValueError("a line has a value and no name")
            return optionstr

    parser = Parser(strict=False, allow_no_value=True, default_section="\0")
    try:
        parser.read_string(text)
    # A name without a value whose line is continued is an AttributeError.
    except (configparser.Error, AttributeError) as error:
        raise ValueError(str(error)) from None
    return parser
