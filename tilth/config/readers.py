"""Readers of settings: text a person wrote to a typed value, or the rule it broke.

A reader is a pydantic validator. It raises a rule that completes the sentence "NAME …" and never
repeats the value, which may be a secret. Values that are typed already pass through the same rule.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NoReturn
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr
from pydantic_core import PydanticCustomError

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_json

LONGEST_TIMEOUT_S = 7 * 24 * 3600
# What TILTH_CARRY says in one word; anything else are globs.
OFF, GENERATED, PROJECT = "off", "generated", "project"

_SWITCHES = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# They say what is on the wire: any other word in them breaks every request.
_TRANSPORTS_OWN = frozenset({"connection", "content-length", "host", "transfer-encoding"})
_VISIBLE_ASCII = re.compile(r"[!-~]+")
_HEADER_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")


def _refuse(rule: str) -> NoReturn:
    raise PydanticCustomError("setting", "{rule}", {"rule": rule})


def whole(at_least: int, at_most: int | None = None) -> BeforeValidator:
    """Read a whole number within bounds."""
    span = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"

    def read(value: Any) -> int:
        number = int(value) if _is_digits(value) else value
        too_big = at_most is not None and type(number) is int and number > at_most
        if type(number) is not int or number < at_least or too_big:
            _refuse(f"must be a whole number {span}")
        return number

    return BeforeValidator(read)


def _is_digits(value: Any) -> bool:
    # bounded: Python refuses to convert thousands of digits
    return isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value) is not None


def above_zero(at_most: float = math.inf) -> BeforeValidator:
    """Read a finite number above 0, decimals allowed."""
    limit = "" if math.isinf(at_most) else f" and at most {at_most}"

    def read(value: Any) -> float:
        number = _number(value)
        if not (0 < number <= at_most) or math.isinf(number):
            _refuse(f"must be a number above 0{limit}")
        return number

    return BeforeValidator(read)


def from_zero(at_most: float) -> BeforeValidator:
    """Read a finite number that may be 0, decimals allowed."""

    def read(value: Any) -> float:
        number = _number(value)
        if not 0 <= number <= at_most:
            _refuse(f"must be a number from 0 to {at_most:.15g}")
        return number

    return BeforeValidator(read)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return math.nan
    if isinstance(value, str) and not re.fullmatch(r"[0-9.eE+-]{1,40}", value):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def choice(options: type[StrEnum]) -> BeforeValidator:
    """Read one word of a closed set, in any case."""
    words = ", ".join(options)

    def read(value: Any) -> StrEnum:
        word = str(value).lower()
        if word not in list(options):
            _refuse(f"must be one of {words}")
        return options(word)

    return BeforeValidator(read)


def _switch(value: Any) -> bool:
    answer = _SWITCHES.get(str(value).lower())
    if answer is None:
        _refuse(f"must be one of {', '.join(_SWITCHES)}")
    return answer


def _model(value: Any) -> Any:
    if isinstance(value, str) and not value.isprintable():
        _refuse("must be a model id on one line of printable characters")
    return value


def _url(value: Any) -> Any:
    if value is None:
        return None
    text = str(value)
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not _VISIBLE_ASCII.fullmatch(text):
        _refuse("must be an http or https URL")
    if "@" in parts.netloc or "?" in text or "#" in text:
        # the URL is shown and recorded, so it may not carry a secret
        _refuse("must be a URL without user name, query or fragment (use TILTH_EXTRA_HEADERS)")
    return text


def _revealed(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _secret(value: Any) -> Any:
    text = _revealed(value)
    if text is not None and not (isinstance(text, str) and _VISIBLE_ASCII.fullmatch(text)):
        _refuse("must be one line of visible ASCII characters without spaces")
    return text


def _secret_words(value: Any) -> Any:
    text = _revealed(value)
    words = text.split() if isinstance(text, str) else [_revealed(word) for word in text]
    if not all(isinstance(word, str) and _VISIBLE_ASCII.fullmatch(word) for word in words):
        _refuse("must be URLs of visible ASCII characters, separated by spaces")
    return tuple(words)


def _command_line(value: Any) -> Any:
    try:
        shlex.split(value)
    except ValueError:
        _refuse("must be a command line whose quotes are closed")
    return value


def _headers(value: Any) -> Any:
    headers = _revealed(value)
    if isinstance(headers, str):
        try:
            headers = read_json(headers)
        except BadText:
            headers = None
    if not isinstance(headers, dict) or not all(_is_header(*item) for item in headers.items()):
        _refuse("must be a JSON object of header names and one-line ASCII values")
    own = next((name.lower() for name in headers if name.lower() in _TRANSPORTS_OWN), None)
    if own is not None:
        _refuse(f"must hold no {own} header: leave it out, the connection sets its own")
    return headers


def _is_header(name: Any, value: Any) -> bool:
    content = _revealed(value)
    named = isinstance(name, str) and _HEADER_NAME.fullmatch(name)
    return bool(named and isinstance(content, str) and _HEADER_VALUE.fullmatch(content))


def _file_names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    found = plain_names(names)
    if found is None or (isinstance(value, str) and not found):
        _refuse("must be a comma list of relative file names without '..'")
    return found


def _carry(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    found = plain_names(words)
    known = {OFF, GENERATED, PROJECT}
    if found and len(found) == 1 and found[0].lower() in known:
        return (found[0].lower(),)
    if not found or not known.isdisjoint(found):
        _refuse("must be off, generated, project, or a comma list of globs")
    return found


def plain_names(names: Any) -> tuple[str, ...] | None:
    """Tidy a list of names; None if one of them could lead out of the repository's root."""
    if not isinstance(names, Iterable):
        return None
    trimmed = [name.strip() if isinstance(name, str) else "/" for name in names]
    paths = [PurePosixPath(name) for name in trimmed if name]
    if not all(_stays_inside(path) for path in paths):
        return None
    return tuple(dict.fromkeys(str(path) for path in paths))


def _stays_inside(path: PurePosixPath) -> bool:
    text = str(path)
    plain = text.isprintable() and "\\" not in text and not text.startswith("~")
    return plain and bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _path(value: Any) -> Any:
    if not str(value).isprintable():
        _refuse("must be a path on one line of printable characters")
    return value


def _interpreter(value: Any) -> Path | None:
    if value is None or str(value).lower() == "auto":
        return None
    path = Path(str(value))
    if not (str(value).isprintable() and path.is_file() and os.access(path, os.X_OK)):
        _refuse("must be 'auto' or the path of an executable file")
    return path


Switch = Annotated[bool, BeforeValidator(_switch)]
ModelId = Annotated[str | None, BeforeValidator(_model)]
BaseUrl = Annotated[str | None, BeforeValidator(_url)]
Key = Annotated[SecretStr | None, BeforeValidator(_secret)]
SecretWords = Annotated[tuple[SecretStr, ...], BeforeValidator(_secret_words)]
CommandLine = Annotated[str, BeforeValidator(_command_line)]
Headers = Annotated[dict[str, SecretStr], BeforeValidator(_headers)]
FileNames = Annotated[tuple[str, ...], BeforeValidator(_file_names)]
AbsolutePath = Annotated[Path, BeforeValidator(_path)]
CarryWords = Annotated[tuple[str, ...], BeforeValidator(_carry)]
Interpreter = Annotated[Path | None, BeforeValidator(_interpreter)]
TimeoutSeconds = Annotated[float, above_zero(LONGEST_TIMEOUT_S)]
