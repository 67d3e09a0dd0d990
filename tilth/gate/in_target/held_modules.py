"""Modules made from held files: what became of them since they were loaded.

Code under test can reach a helper or a fixture by one assignment, with its file untouched. Every
part that such a module had when it was made, and every fixture, must still be the one it was.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from typing import TYPE_CHECKING, Any

from .parts import Part, changed, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


class HeldModules:
    """Hold the modules that held files became, with all that can be swapped in them."""

    def __init__(self, inside: Callable[[str], str | None]) -> None:
        self._inside = inside
        self._made: dict[str, list[types.ModuleType]] = {}
        self._parts: list[Part] = []
        self._fixtures: dict[tuple[str, int], Any] = {}

    def take(self, path: str, module: types.ModuleType) -> None:
        """Hold a module as it is right after it was loaded."""
        self._made.setdefault(path, []).append(module)
        self._parts += parts_of(path, module, module.__name__)
        self._parts += _imported(path, module)

    def replaced(self) -> Iterator[str]:
        """Name every part that is another now, and every module that stands in for a held file."""
        for part in changed(self._parts):
            yield part.name
        own = {id(module) for made in self._made.values() for module in made}
        for path in self._made:
            for name in self._names(path):
                if name in sys.modules and id(sys.modules[name]) not in own:
                    yield f"{path}, for which another module {name} stands"

    def take_fixtures(self, items: Iterable[Any]) -> None:
        """Hold the fixtures that tests ask for, each once."""
        for item in items:
            asked = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
            for name, definitions in asked.items():
                self._fixtures.update({(name, id(each)): each for each in definitions})

    def take_registered(self, registered: Mapping[str, Iterable[Any]], known: set[int]) -> None:
        """Hold all fixtures there are, but for names under which a held file has one of its own."""
        for name, definitions in registered.items():
            if not any(id(_code_of(each.func)) in known for each in definitions):
                self._fixtures.update({(name, id(each)): each for each in definitions})

    def other_fixtures(self, known: set[int]) -> Iterator[str]:
        """Name every fixture of a held file whose code is the project's and of no held file."""
        reach = {_reach(path) for path in self._made}
        for (name, _), definition in self._fixtures.items():
            code = _code_of(definition.func)
            place = definition.baseid.partition("::")[0]
            if code is None or id(code) in known or ("" if place == "." else place) not in reach:
                continue
            if self._inside(code.co_filename) is not None:
                yield f"the fixture {name} of {place or 'the project'}"

    def expect(self, path: str) -> None:
        """Have a file watched for that may not have been loaded at all."""
        self._made.setdefault(path, [])

    def _names(self, path: str) -> Iterator[str]:
        """Give the names under which a file can be imported from inside the export."""
        stem = path[: -len(".py")]
        stem = stem[: -len("/__init__")] if stem.endswith("/__init__") else stem
        for entry in list(sys.path):
            place = self._inside(entry) if isinstance(entry, str) and entry else None
            if place is None:
                continue
            below = "" if place == os.curdir else place + "/"
            name = stem[len(below) :].replace("/", ".")
            if stem.startswith(below) and all(part.isidentifier() for part in name.split(".")):
                yield name


def _reach(path: str) -> str:
    """Give where the fixtures of a file hold: a conftest's below its directory."""
    folder, _, name = path.rpartition("/")
    return folder if name == "conftest.py" else path


def _code_of(function: Any) -> types.CodeType | None:
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _imported(path: str, module: types.ModuleType) -> Iterator[Part]:
    names = vars(module)
    for attribute, value in list(names.items()):
        if isinstance(value, types.ModuleType):
            yield Part(path, "", attribute, names, value)
