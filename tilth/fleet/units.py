"""Units: what `units.toml` lists, one session each, checked before anything is started.

A unit can say where its PRD and its repository are and how it is to run. It can hold no key: units
travel through a scheduler, and keys stay in the environment of whoever does the work.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tilth.base.errors import UserError
from tilth.base.foreign_text import read_toml
from tilth.base.values import Value
from tilth.config.settings import BY_NAME, VARIABLES, Variable, load
from tilth.git.source import open_source
from tilth.session.bundle import PRD_NAME, find_prd, read_bundle

LONGEST_NAME = 100
_KEYS = ("name", "bundle", "repo", "settings")
# Where the sessions stand is the fleet's own word: every unit is kept in one place.
_SHARED = ("TILTH_HOME", "TILTH_SESSIONS_DIR")
_BY_FALLBACK = {item.fallback: item for item in VARIABLES if item.fallback}


class Unit(Value):
    """Name one PRD, the repository it is for, and the settings it wants; every path is whole."""

    name: str
    bundle: str
    repo: str
    settings: Mapping[str, str] = {}

    @property
    def prd(self) -> Path:
        """Give the PRD's file."""
        path = Path(self.bundle)
        return path / PRD_NAME if path.is_dir() else path


def read_units(path: Path, environ: Mapping[str, str]) -> tuple[Unit, ...]:
    """Read a file of units and look at all they name, or say in one line what is wrong."""
    units = tuple(_units(_tables(path), path))
    repos: set[str] = set()
    for unit in units:
        try:
            _look_at(unit, environ, repos)
        except UserError as error:
            raise UserError(f"{path}: unit {unit.name!r}: {error}") from None
    return units


def _look_at(unit: Unit, environ: Mapping[str, str], seen: set[str]) -> None:
    """Refuse a unit that could not run: its settings, its PRD, its repository."""
    load({}, {**environ, **unit.settings})
    prd = find_prd(Path(unit.bundle))
    if prd is None:
        raise UserError(f"{unit.bundle} holds no {PRD_NAME}; name a bundle or its {PRD_NAME}")
    read_bundle(prd)
    if unit.repo not in seen:
        open_source(Path(unit.repo))
        seen.add(unit.repo)


def _tables(path: Path) -> list[Any]:
    try:
        content = read_toml(path.read_bytes(), f"{path} (see docs/fleet.md)")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; name a file of units") from None
    strangers = sorted(set(content) - {"unit"})
    if strangers:
        raise UserError(f"{path}: {strangers[0]!r} is not known; a unit is a [[unit]] table")
    tables = content.get("unit")
    if not isinstance(tables, list) or not tables:
        raise UserError(f"{path} lists no unit: write a [[unit]] with name, bundle and repo")
    return tables


def _units(tables: list[Any], path: Path) -> Iterator[Unit]:
    names: set[str] = set()
    for number, table in enumerate(tables, start=1):
        unit = _unit(table, path, f"{path}: unit {number}")
        if unit.name in names:
            raise UserError(f"{path}: two units are named {unit.name!r}; give each its own name")
        names.add(unit.name)
        yield unit


def _unit(table: Any, path: Path, where: str) -> Unit:
    if not isinstance(table, dict):
        raise UserError(f"{where} is not a table; write it as [[unit]]")
    strangers = sorted(set(table) - set(_KEYS))
    if strangers:
        raise UserError(f"{where}: {strangers[0]!r} is not known; a unit has {', '.join(_KEYS)}")
    texts = {key: _text(table.get(key), key, where) for key in ("name", "bundle", "repo")}
    if len(texts["name"]) > LONGEST_NAME or not texts["name"].isprintable():
        raise UserError(f"{where}: name must be one line of at most {LONGEST_NAME} characters")
    where = f"{path}: unit {texts['name']!r}"
    base = path.resolve().parent
    return Unit(
        name=texts["name"],
        bundle=str(base / Path(texts["bundle"]).expanduser()),
        repo=str((base / Path(texts["repo"]).expanduser()).resolve()),
        settings=dict(_settings(table.get("settings", {}), base, where)),
    )


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"{where}: {key} must be a text; every unit has a name, bundle and repo")
    return value.strip()


def _settings(table: Any, base: Path, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(table, dict):
        raise UserError(f"{where}: settings must be a table of variables and their values")
    for name, value in table.items():
        variable = BY_NAME.get(name) or _BY_FALLBACK.get(name)
        if variable is None:
            raise UserError(
                f"{where}: {name!r} is not a setting{_meant(name)}; see docs/settings.md"
            )
        if variable.is_secret:
            raise UserError(
                f"{where}: {name} is secret and does not belong in a file of units; set it in the "
                "environment of the workers"
            )
        if name in _SHARED:
            raise UserError(f"{where}: {name} is the same for all units; set it in the environment")
        yield name, _value(value, variable, base, f"{where}: {name}")


def _value(value: Any, variable: Variable, base: Path, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise UserError(f"{where} must be a text, a number or a switch")
    text = str(value).strip()
    if variable.is_path and text and text.lower() != "auto" and text[0] not in "~$":
        # What a file says about relative paths should not depend on where a command is typed.
        return str(base / text)
    return text


def _meant(name: str) -> str:
    close = difflib.get_close_matches(name.upper(), BY_NAME, n=1, cutoff=0.8)
    return f" (did you mean {close[0]}?)" if close else ""
