"""How modules of the export are loaded: from the source they had before any project code ran.

Files that are held are compiled from the bytes held in memory, whatever stands on the disk by then.
No bytecode file inside the export is ever read: neither Python's nor pytest's own.
"""

from __future__ import annotations

import os
import pathlib
import sys
import types
from collections.abc import Iterable
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from typing import Any

from . import seed_reading
from .held_modules import HeldModules


class HeldSources:
    """Hold the bytes of files by their path in the export, and the code they were compiled to."""

    def __init__(self, root: str, stands_for: Iterable[str], paths: Iterable[str]) -> None:
        self._places = [os.path.realpath(root), root, *stands_for]
        self._content: dict[str, bytes] = {}
        self.codes: dict[str, list[types.CodeType]] = {}
        self.modules = HeldModules(self.inside)
        for path in paths:
            try:
                with open(os.path.join(root, path), "rb") as file:
                    self._content[path] = file.read()
            except OSError:
                continue
            if path.endswith(".py"):
                self.modules.expect(path)

    def inside(self, path: str) -> str | None:
        """Give a path relative to the export, or None if it is not in it."""
        whole = os.path.abspath(path)
        for place in self._places:
            if whole == place or whole.startswith(place + os.sep):
                return os.path.relpath(whole, place)
        return None

    def content(self, path: str) -> bytes | None:
        """Give the bytes of a file that is held."""
        name = self.inside(path)
        return None if name is None else self._content.get(name)

    def content_of(self, name: str) -> bytes:
        """Give the bytes of a held file by its name in the export; none if it is not there."""
        return self._content.get(name, b"")

    def imports(self) -> set[str]:
        """Name every module that a held file imports."""
        read = (seed_reading.imports(content) for content in self._content.values())
        return {name for names in read for name in names}

    def note_module(self, path: str, module: types.ModuleType) -> None:
        """Remember a module that has just been made from a held file."""
        name = self.inside(path)
        if name is not None and name in self._content:
            self.modules.take(name, module)

    def note(self, path: str, code: types.CodeType) -> None:
        """Remember what a held file was compiled to."""
        name = self.inside(path)
        if name is not None and name in self._content:
            self.codes.setdefault(name, []).append(code)


def install(held: HeldSources) -> None:
    """Have imports from the export, and pytest's rewriting of tests, go through held sources."""
    loaders = (
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_loader(held), SOURCE_SUFFIXES),
    )
    finder = FileFinder.path_hook(*loaders)
    installed = tuple({os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)})

    def find(path: str) -> Any:
        real = os.path.realpath(path)
        if held.inside(path) is None or any(_is_below(real, place) for place in installed):
            raise ImportError(path)
        return finder(path)

    sys.path_hooks.insert(0, find)
    # Those of other places stay: to find everything installed anew is dear.
    for place in [place for place in sys.path_importer_cache if held.inside(place) is not None]:
        del sys.path_importer_cache[place]
    _rewrite_from(held)


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place + os.sep)


def _loader(held: HeldSources) -> Any:
    class SourceOnly(SourceFileLoader):
        """Load a module from its source alone."""

        def get_data(self, path: Any) -> bytes:
            content = held.content(os.fspath(path))
            return super().get_data(path) if content is None else content

        def get_code(self, fullname: str) -> types.CodeType:
            path = self.get_filename(fullname)
            code: types.CodeType = self.source_to_code(self.get_data(path), path)
            held.note(path, code)
            return code

        def exec_module(self, module: types.ModuleType) -> None:
            super().exec_module(module)
            held.note_module(self.get_filename(module.__name__), module)

    return SourceOnly


def _rewrite_from(held: HeldSources) -> None:
    from _pytest.assertion import rewrite

    original: Any = rewrite._rewrite_test

    class HeldPath(type(pathlib.Path())):  # type: ignore[misc]  # the platform's own kind of path
        def read_bytes(self) -> bytes:
            content = held.content(str(self))
            return pathlib.Path(str(self)).read_bytes() if content is None else content

    def rewrite_held(fn: Any, config: Any) -> Any:
        about, code = original(HeldPath(str(fn)), config)
        held.note(str(fn), code)
        return about, code

    make = rewrite.AssertionRewritingHook.exec_module

    def exec_held(self: Any, module: types.ModuleType) -> None:
        make(self, module)
        held.note_module(str(module.__file__), module)

    def read_no_bytecode(*_: Any, **__: Any) -> None:
        return None

    parts: Any = rewrite
    parts._rewrite_test = rewrite_held
    parts._read_pyc = read_no_bytecode
    parts.AssertionRewritingHook.exec_module = exec_held
