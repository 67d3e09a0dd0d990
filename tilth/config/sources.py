"""The places settings come from, strongest first: what each of them holds, as it was written.

It gathers text and remembers where it stood. It never judges a value; `settings` does that.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from tilth.base.values import Value
from tilth.config.env_file import read_env_file
from tilth.config.variables import Variable

DEFAULT_HOME = "~/.tilth"


class Source(StrEnum):
    """Name a place settings come from, the strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    PROJECT = "project"
    DEFAULT = "default"


class Origin(Value):
    """Say where a value came from: the place, and the variable or flag that held it there."""

    source: Source
    variable: str


@dataclass(frozen=True)
class FoundValue:
    """Hold one value: where it stood, under which name, as it was written, and in full."""

    source: Source
    name: str
    written: str
    value: str | SecretStr


@dataclass(frozen=True)
class Gathered:
    """Hold what every place says by field, the strongest first, and what in them has no effect."""

    home: Path
    layers: tuple[Mapping[str, FoundValue], ...]
    variables: Mapping[str, Variable]
    unknown: tuple[str, ...]

    def find(self, variable: Variable) -> FoundValue | None:
        """Give the strongest word on a variable; blanks count as not said."""
        return next(
            (layer[variable.field] for layer in self.layers if variable.field in layer), None
        )

    def all(self) -> Iterator[FoundValue]:
        """Give everything that was said, overruled or not."""
        for layer in self.layers:
            yield from layer.values()

    def values(self) -> dict[str, Any]:
        """Give the strongest word on every setting but the home, which is settled first."""
        hits = ((item.field, self.find(item)) for item in self.variables.values())
        return {field: hit.value for field, hit in hits if hit and field != "home"}

    def origins(self) -> dict[str, Origin]:
        """Say for every variable where its value came from, through what it inherits too."""
        return {name: self._origin(variable) for name, variable in self.variables.items()}

    def _origin(self, variable: Variable) -> Origin:
        hit = self.find(variable)
        if hit is not None:
            return Origin(source=hit.source, variable=hit.name)
        if variable.inherits:
            inherited = self._origin(self.variables[variable.inherits])
            if inherited.source is not Source.DEFAULT:
                return inherited
        return Origin(source=Source.DEFAULT, variable=variable.name)


@dataclass(frozen=True)
class _Roots:
    """What relative and abbreviated paths are measured from."""

    user: str
    tilth: str
    relative: str

    def absolute(self, text: str) -> str:
        text = re.sub(r"^\$(\{TILTH_HOME\}|TILTH_HOME)(?=/|$)", lambda _: self.tilth, text)
        if text == "~" or text.startswith("~/"):
            text = self.user + text[1:]
        return os.path.abspath(os.path.join(self.relative, os.path.expanduser(text)))


def _user(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def home_of(environ: Mapping[str, str], given: str = "") -> Path:
    """Give Tilth's home, whatever the settings in it may say."""
    text = given or _text(environ.get("TILTH_HOME")) or DEFAULT_HOME
    return Path(_Roots(user=_user(environ), tilth="", relative="").absolute(text))


def gather(
    flags: Mapping[str, object], environ: Mapping[str, str], variables: tuple[Variable, ...]
) -> Gathered:
    """Collect every layer; `flags` go by field name, and None means the flag was not given."""
    _refuse_strangers(flags, variables)
    user = _user(environ)
    home = str(home_of(environ, _text(flags.get("home"))))
    here = _Roots(user=user, tilth=home, relative="")
    # what a file says about relative paths should not depend on where a command is typed
    beside = _Roots(user=user, tilth=home, relative=home)
    path = Path(home, ".env")
    file = {**read_env_file(path)}
    moved = _text(file.pop("TILTH_HOME", None))
    by_name = {item.name: item for item in variables}
    by_fallback = {item.fallback: item for item in variables if item.fallback}
    by_flag = {item.flag or item.name: item for item in variables}
    given = {name: flags.get(item.field) for name, item in by_flag.items()}
    # a name of Tilth's own in a weaker place beats another program's name in a stronger one
    layers = (
        _layer(Source.FLAG, given, by_flag, here),
        _layer(Source.ENVIRONMENT, environ, by_name, here),
        _layer(Source.FILE, file, by_name, beside),
        _layer(Source.ENVIRONMENT, environ, by_fallback, here),
        _layer(Source.FILE, file, by_fallback, beside),
    )
    unknown = [*_unknown(environ, by_name, "the environment"), *_unknown(file, by_name, str(path))]
    if moved and beside.absolute(moved) != home:
        unknown.append(f"TILTH_HOME in {path} has no effect: set it in the environment")
    return Gathered(Path(home), layers, by_name, tuple(unknown))


def _refuse_strangers(flags: Mapping[str, object], variables: tuple[Variable, ...]) -> None:
    strangers = sorted(set(flags) - {item.field for item in variables})
    if strangers:
        raise TypeError(f"no setting is called {', '.join(strangers)}")


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _layer(
    source: Source, texts: Mapping[str, object], names: Mapping[str, Variable], roots: _Roots
) -> Mapping[str, FoundValue]:
    found = {}
    for name, variable in names.items():
        text = _text(texts.get(name))
        if text:
            found[variable.field] = FoundValue(source, name, text, _value(text, variable, roots))
    return found


def _value(text: str, variable: Variable, roots: _Roots) -> str | SecretStr:
    if variable.is_secret:
        return SecretStr(text)
    # `auto` is a word, where it is the default, and no file beside the command
    is_word = text.lower() == "auto" == variable.default
    return roots.absolute(text) if variable.is_path and not is_word else text


def _unknown(texts: Mapping[str, str], known: Iterable[str], place: str) -> Iterator[str]:
    names = list(known)
    for name in sorted(texts):
        if not name.upper().startswith("TILTH_") or name in names:
            continue
        close = difflib.get_close_matches(name.upper(), names, n=1, cutoff=0.8)
        hint = f"; did you mean {close[0]}?" if close else ""
        shown = name if name.isprintable() else repr(name)
        yield f"{shown} in {place} is not a setting{hint}"
