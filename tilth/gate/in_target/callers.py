"""How pytest calls its hooks: the callers of its manager, and the way each of them goes.

Held before the project's code runs, as the pluggy that is installed makes them. What is called by
them is the guard's to judge.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

HOOK = "pytest_"


class HookCallers:
    """Know how a manager calls its hooks, and see what was put in the place of it."""

    def __init__(self, manager: pytest.PytestPluginManager) -> None:
        self._manager: Any = manager
        self._hooks = manager.hook
        self._inner = vars(manager).get("_inner_hookexec")
        self._kinds = _classes_of("pluggy")
        way = next((_way_of(caller) for _, caller in _callers(manager.hook)), None)
        self._way = way.__func__ if type(way) is types.MethodType else None

    def replaced(self, of_test: Any = None) -> Iterator[str]:
        """Name what is not as it was, of the manager and of the hooks that one test is given."""
        names = vars(self._manager)
        if self._manager.hook is not self._hooks or names.get("_inner_hookexec") is not self._inner:
            yield "how hooks are called"
        yield from self._strange(self._hooks)
        if of_test is None or of_test is self._hooks:
            return
        # Where a conftest.py is not for every test, those others go through a stand-in of pytest's.
        if vars(of_test).get("pm", self._manager) is not self._manager:
            yield "whose hooks are called"
        yield from self._strange(of_test)

    def _strange(self, hooks: Any) -> Iterator[str]:
        for name, caller in _callers(hooks):
            if not self._is_own(caller):
                yield f"the caller of {name}"

    def _is_own(self, caller: Any) -> bool:
        if type(caller) not in self._kinds:
            return False
        way = _way_of(caller)
        own = type(way) is types.MethodType and way.__func__ is self._way
        return self._way is None or (own and way.__self__ is self._manager)


def _callers(hooks: Any) -> list[tuple[str, Any]]:
    return [(name, caller) for name, caller in vars(hooks).items() if name.startswith(HOOK)]


def _way_of(caller: Any) -> Any:
    return getattr(caller, "_hookexec", None)


def _classes_of(package: str) -> frozenset[type]:
    """Give the classes that stand in the loaded modules of a package."""
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name == package or name.startswith(f"{package}.")
    ]
    values = (value for module in modules for value in vars(module).values())
    return frozenset(value for value in values if isinstance(value, type))
