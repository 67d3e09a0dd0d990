"""The places settings come from, strongest first: what each of them holds, as it was written.

It gathers text and remembers where it stood. It never judges a value; `settings` does that.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from tilth.configuration.env_file import read_env_file
from tilth.configuration.variables import BY_FIELD, BY_NAME, VARIABLES, Kind, Variable
from tilth.values import Value


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
class Found:
    """Hold one value as it was written, under which name, and in full."""

    name: str
    written: str
    value: str | SecretStr


@dataclass(frozen=True)
class Layer:
    """Hold what one place says, by field; blanks count as not said."""

    source: Source
    found: Mapping[str, Found]


@dataclass(frozen=True)
class Gathered:
    """Hold all layers, the strongest first, and what in them has no effect."""

    home: Path
    layers: tuple[Layer, ...]
    unknown: tuple[str, ...]

    def find(self, variable: Variable) -> tuple[Layer, Found] | None:
        """Give the strongest word on a variable."""
        for layer in self.layers:
            if variable.field in layer.found:
                return layer, layer.found[variable.field]
        return None

    def origins(self) -> dict[str, Origin]:
        """Say for every variable where its value came from, through what it inherits too."""
        return {variable.name: self._origin(variable) for variable in VARIABLES}

    def _origin(self, variable: Variable) -> Origin:
        hit = self.find(variable)
        if hit is not None:
            layer, found = hit
            return Origin(source=layer.source, variable=found.name)
        if variable.inherits is not None:
            inherited = self._origin(BY_NAME[variable.inherits])
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
    text = given or _text(environ.get("TILTH_HOME")) or "~/.tilth"
    return Path(_Roots(user=_user(environ), tilth="", relative="").absolute(text))


def gather(flags: Mapping[str, object], environ: Mapping[str, str]) -> Gathered:
    """Collect every layer; `flags` go by field name, and None means the flag was not given."""
    _refuse_strangers(flags)
    user = _user(environ)
    home = str(home_of(environ, _text(flags.get("home"))))
    here = _Roots(user=user, tilth=home, relative="")
    # what a file says about relative paths should not depend on where a command is typed
    beside = _Roots(user=user, tilth=home, relative=home)
    path = Path(home, ".env")
    file = {**read_env_file(path)}
    moved = _text(file.pop("TILTH_HOME", None))
    # a name of Tilth's own in a weaker place beats another program's name in a stronger one
    layers = (
        _flag_layer(flags, here),
        _layer(Source.ENVIRONMENT, environ, here, fallback=False),
        _layer(Source.FILE, file, beside, fallback=False),
        _layer(Source.ENVIRONMENT, environ, here, fallback=True),
        _layer(Source.FILE, file, beside, fallback=True),
    )
    unknown = [*_unknown(environ, "the environment"), *_unknown(file, str(path))]
    if moved and beside.absolute(moved) != home:
        unknown.append(f"TILTH_HOME in {path} has no effect: set it in the environment")
    return Gathered(home=Path(home), layers=layers, unknown=tuple(unknown))


def _refuse_strangers(flags: Mapping[str, object]) -> None:
    strangers = sorted(set(flags) - set(BY_FIELD))
    if strangers:
        raise TypeError(f"no setting is called {', '.join(strangers)}")


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _flag_layer(flags: Mapping[str, object], roots: _Roots) -> Layer:
    found = {
        field: _found(BY_FIELD[field].flag or BY_FIELD[field].name, text, BY_FIELD[field], roots)
        for field, value in flags.items()
        if (text := _text(value))
    }
    return Layer(Source.FLAG, found)


def _layer(source: Source, texts: Mapping[str, str], roots: _Roots, *, fallback: bool) -> Layer:
    found = {}
    for variable in VARIABLES:
        name = variable.fallback if fallback else variable.name
        text = _text(texts.get(name)) if name else ""
        if name and text:
            found[variable.field] = _found(name, text, variable, roots)
    return Layer(source, found)


def _found(name: str, text: str, variable: Variable, roots: _Roots) -> Found:
    value: str | SecretStr = text
    if variable.kind.hidden:
        value = SecretStr(text)
    elif variable.kind is Kind.PATH or (
        variable.kind is Kind.INTERPRETER and text.lower() != "auto"
    ):
        value = roots.absolute(text)
    return Found(name=name, written=text, value=value)


def _unknown(texts: Mapping[str, str], place: str) -> Iterator[str]:
    for name in sorted(texts):
        if not name.upper().startswith("TILTH_") or name in BY_NAME:
            continue
        close = difflib.get_close_matches(name.upper(), BY_NAME, n=1, cutoff=0.8)
        hint = f"; did you mean {close[0]}?" if close else ""
        shown = name if name.isprintable() else repr(name)
        yield f"{shown} in {place} is not a setting{hint}"
