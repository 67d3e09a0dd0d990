"""What stands between the report and the code under test: pytest as it was before that code ran.

Names every part of pytest, and every function of the standard library that seed tests use, which is
not the one it began with, and every hook that is not pytest's own. It reports; it mends nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import sys
import types
from typing import TYPE_CHECKING, Any

from .callers import HOOK, HookCallers
from .parts import METHODS, Part, all_codes, changed, inner_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

    from .pristine_loading import HeldSources

_MACHINERY = (__package__, "builtins", "unittest.case", "pytest", "_pytest", "pluggy")
# What a single test is run, judged and told by: looked at in every phase of every test.
_RUNNER = (
    "_pytest.runner",
    "_pytest.reports",
    "_pytest.python",
    # Where `approx` stands; before pytest 9 it was the second.
    "_pytest.approx",
    "_pytest.python_api",
    "_pytest.raises",
    "_pytest.recwarn",
    "_pytest.skipping",
    "_pytest.subtests",
    "_pytest.outcomes",
    "_pytest.unittest",
    "_pytest.assertion",
    "_pytest._code",
    "pluggy",
    "unittest.case",
)
_LEGACY = "_pytest.legacypath"
# Importing them does something, or pytest itself puts hooks of its own there.
_NOT_HELD = frozenset(
    {"antigravity", "this", "idlelib", "turtle", "sys", "threading", "warnings", "__future__"}
)


class Guard:
    """Know pytest as it was before the project's code ran, and see what became of it.

    What an installed plugin or the base's own conftest.py does is seen too; the same names on the
    untouched base tell it from what the worker did.
    """

    def __init__(self, held: HeldSources, library: Iterable[str]) -> None:
        for name in _own_plugins():
            importlib.import_module(name)
        self._held = held
        self._modules, runner = _modules(_MACHINERY), _modules(_RUNNER)
        self._machinery = _parts(self._modules)
        self._classes = _classes(self._machinery)
        self._legacy = {p.attribute: p.inner for p in self._machinery if p.module == _LEGACY}
        self._own = {(id(p.inner), p.attribute) for p in self._machinery if HOOK in p.attribute}
        self._runner = [part for part in self._machinery if part.module in runner]
        self._library = _parts(_library_modules(library))
        self._tests: list[tuple[str, Any, types.CodeType]] = []
        self._callers: HookCallers | None = None
        self.replaced: set[str] = set()
        self.hooks: set[str] | None = None

    def take_callers(self, manager: pytest.PytestPluginManager) -> None:
        """Hold how hooks are called, while nobody else has seen the manager."""
        self._callers = HookCallers(manager)

    def take_tests(self, items: list[pytest.Item], seeds: dict[str, dict[str, Any]]) -> None:
        """Hold the code of each test, and see that it is the one its file gave it."""
        self._held.modules.take_fixtures(items)
        for item in items:
            function = getattr(item, "function", None)
            code = getattr(function, "__code__", None)
            if function is None or code is None:
                continue
            self._tests.append((item.nodeid, function, code))
            path, _, name = item.nodeid.partition("::")
            held = seeds.get(path, {}).get("tests", ())
            pristine = name.partition("[")[0] not in held or self._is_held(path, function)
            wrapped = hasattr(function, "__wrapped__")
            if not pristine or (not wrapped and not _is_at_home(function, code)):
                self.replaced.add(f"the code of {item.nodeid}")

    def take_registered(self, session: pytest.Session) -> None:
        """Hold the fixtures that no test has asked for yet: a later one may."""
        known = self._known_codes()
        self._held.modules.take_registered(_fixtures(session._fixturemanager), known)

    def _is_held(self, path: str, function: Any) -> bool:
        """Tell whether a test runs code that was compiled from the file that is held."""
        inner = inspect.unwrap(function)
        code = getattr(inner, "__code__", None)
        known = _ids_of(self._held.codes.get(path, ()))
        return id(code) in known or id(getattr(function, "__code__", None)) in known

    def _known_codes(self) -> set[int]:
        return _ids_of(code for codes in self._held.codes.values() for code in codes)

    def look_at_runner(self, hooks: Any = None) -> None:
        """Name what was replaced of the parts that run and tell a single test, its hooks too."""
        self._look(self._runner)
        self._look_at_callers(hooks)

    def _look_at_callers(self, hooks: Any = None) -> None:
        if self._callers is not None:
            self.replaced.update(self._callers.replaced(hooks))

    def look_between_tests(self) -> None:
        """Name what was replaced where it is at rest: the library, held modules, fixtures.

        While a test runs it may well put stand-ins of its own there.
        """
        self._look(self._library)
        self.replaced.update(self._held.modules.replaced())
        self.replaced.update(self._held.modules.other_fixtures(self._known_codes()))

    def doubt(self, nodeid: str) -> None:
        """Name a test whose report says more than its call did."""
        self.replaced.add(f"the report of {nodeid}")

    def _look(self, parts: list[Part]) -> None:
        for part in changed(parts):
            if not self._is_legacy(part.owner, part.attribute, part.names.get(part.attribute)):
                self.replaced.add(part.name)

    def look_for_tracers(self) -> None:
        if sys.gettrace() is not None or sys.getprofile() is not None:
            self.replaced.add("sys.settrace")

    def look(self, manager: pytest.PytestPluginManager) -> None:
        """Name what was replaced, and every hook in force."""
        self._look(self._machinery)
        self.replaced.update(self._swapped())
        self.replaced.update(self._added())
        for nodeid, function, code in self._tests:
            if function.__code__ is not code:
                self.replaced.add(f"the code of {nodeid}")
        self._look_at_callers()
        own: set[str] = set()
        for hook, caller in vars(manager.hook).items():
            for implementation in caller.get_hookimpls() if hook.startswith(HOOK) else ():
                own.update(self._own_hook(hook, inner_of(implementation.function)))
        self.hooks = own if self.hooks is None else self.hooks & own

    def _swapped(self) -> Iterator[str]:
        """Name the parts of a module that is no longer the one which goes by its name."""
        for name, module in self._modules.items():
            found = sys.modules.get(name)
            if found is module:
                continue
            names = vars(found) if isinstance(found, types.ModuleType) else {}
            for part in self._machinery:
                if part.module == name and (
                    part.owner or names.get(part.attribute) is not part.value
                ):
                    yield part.name

    def _added(self) -> Iterator[str]:
        """Name the methods that a class did not have: each hides one of a class above it."""
        for part, names, known in self._classes:
            for attribute in names.keys() - known:
                value, owner = names.get(attribute), part.value.__qualname__
                if isinstance(value, METHODS) and not self._is_legacy(owner, attribute, value):
                    yield f"{part.module}.{owner}.{attribute}"

    def _is_legacy(self, owner: str, attribute: str, found: Any) -> bool:
        """Tell whether pytest put a thing there itself, as it does as soon as it starts."""
        legacy = self._legacy.get(f"{owner}_{attribute}")
        return legacy is not None and legacy is inner_of(found)

    def _own_hook(self, hook: str, function: Any) -> Iterator[str]:
        """Name a hook if it is pytest's own; what is not goes to the things replaced."""
        module = getattr(function, "__module__", "?")
        if (id(function), hook) in self._own:
            yield f"{module}.{hook}"
        else:
            code = getattr(function, "__code__", None)
            self.replaced.add(f"hook {hook} of {module} ({_digest(code)[:8]})")


def _fixtures(manager: object) -> dict[str, list[Any]]:
    """Give all fixtures by their names, however this version of pytest keeps them."""
    found: dict[str, list[Any]] = {}
    for table in ("_arg2fixturedefs", "_arg2node2fixturedefs", "_arg2nodeid2fixturedefs"):
        for name, kept in vars(manager).get(table, {}).items():
            for definitions in kept.values() if isinstance(kept, dict) else (kept,):
                found.setdefault(name, []).extend(definitions)
    return found


def _own_plugins() -> list[str]:
    """Name what pytest loads by itself or on demand, to have it before the project's code runs."""
    from _pytest import config

    return ["unittest.case", *(f"_pytest.{name}" for name in sorted(config.builtin_plugins))]


def _modules(names: Iterable[str]) -> dict[str, types.ModuleType]:
    """Give the loaded modules that have one of these names, or stand below one."""
    wanted = tuple(names)
    below = tuple(f"{name}." for name in wanted)
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name in wanted or name.startswith(below)
    }


def _parts(modules: dict[str, types.ModuleType]) -> list[Part]:
    return [part for name, module in modules.items() for part in parts_of(name, module)]


def _classes(parts: list[Part]) -> list[tuple[Part, Any, frozenset[str]]]:
    """Give the classes that modules define themselves, each with all the names it has now."""
    return [
        (part, vars(part.value), frozenset(vars(part.value)))
        for part in parts
        if isinstance(part.value, type) and part.value.__module__ == part.module
    ]


def _library_modules(names: Iterable[str]) -> dict[str, types.ModuleType]:
    """Load what seed tests use of the standard library, before the project's code can."""
    known = getattr(sys, "stdlib_module_names", None) or set(sys.builtin_module_names)
    found = {}
    for name in set(names):
        top = name.partition(".")[0]
        if top not in known or top in _NOT_HELD:
            continue
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            continue  # the test itself will say so
    # What a module is made of may stand in others below it: json's reader is json.decoder's.
    return {**found, **_modules(found)}


def _ids_of(codes: Iterable[types.CodeType]) -> set[int]:
    return {id(one) for whole in codes for one in all_codes(whole)}


def _digest(code: types.CodeType | None) -> str:
    """Tell one function's code from another's, wherever it stands in its file."""
    if code is None:
        return "no code"
    nested = [_digest(c) if isinstance(c, types.CodeType) else _shown(c) for c in code.co_consts]
    return hashlib.sha256(repr((code.co_code, code.co_names, nested)).encode()).hexdigest()


def _shown(constant: object) -> str:
    # The order of a set differs from run to run.
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _is_at_home(function: Any, code: types.CodeType) -> bool:
    """Tell whether a function still has the code it was defined with, as far as names tell."""
    if code.co_name != function.__qualname__.rpartition(".")[2]:
        return False
    home = getattr(sys.modules.get(function.__module__), "__file__", None)
    return home is None or os.path.realpath(code.co_filename) == os.path.realpath(home)
