"""The parts of a module that can be swapped: its functions, its classes and their methods.

Each is held with its code, so that a change is seen whichever of the two was exchanged. Judges
nothing.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CALLABLE = (type, types.FunctionType, types.BuiltinFunctionType)


class Part:
    """Hold one function or class and its code."""

    __slots__ = ("code", "inner", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.inner: Any = value
        # Plain functions and classes wrap nothing: every run asks thousands of them.
        if type(value) is not types.FunctionType and not isinstance(value, type):
            self.inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        self.code: types.CodeType | None = getattr(self.inner, "__code__", None)

    def is_same(self, other: Part) -> bool:
        return self.value is other.value and self.code is other.code


def pieces(modules: dict[str, types.ModuleType]) -> Iterator[tuple[tuple[str, str], Any, Part]]:
    """Give every function and class of modules: its place, what holds it, and itself."""
    for module_name, module in modules.items():
        for name, value in list(vars(module).items()):
            if isinstance(value, CALLABLE):
                yield (module_name, name), module, Part(value)
            if isinstance(value, type) and value.__module__ == module_name:
                yield from _methods(module_name, value)


def _methods(module_name: str, owner: type) -> Iterator[tuple[tuple[str, str], Any, Part]]:
    for name, value in list(vars(owner).items()):
        if isinstance(value, (types.FunctionType, classmethod, staticmethod, property)):
            yield (module_name, f"{owner.__qualname__}.{name}"), owner, Part(value)


def is_changed(owner: Any, attribute: str, part: Part) -> bool:
    """Tell whether another thing stands where a part was, or other code in it."""
    found = vars(owner).get(attribute)
    return found is not part.value or getattr(part.inner, "__code__", None) is not part.code


def placed(
    pieces: Iterable[tuple[tuple[str, str], Any, Part]],
) -> list[tuple[str, Any, str, Part]]:
    """Make pieces quick to look at: what to call them, where they are held, under which name."""
    return [
        (".".join(place), owner, place[1].rpartition(".")[2], part) for place, owner, part in pieces
    ]


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_codes(constant)
