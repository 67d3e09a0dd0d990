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
METHODS = (types.FunctionType, classmethod, staticmethod, property)


class Part:
    """Hold one function or class, its code, and the names among which it stands."""

    # Every run makes and looks at thousands of them.
    __slots__ = ("attribute", "code", "inner", "module", "names", "owner", "value")

    def __init__(self, module: str, owner: str, attribute: str, names: Any, value: Any) -> None:
        self.module = module
        self.owner = owner
        self.attribute = attribute
        self.names = names
        self.value = value
        self.inner: Any = value
        self.code: types.CodeType | None = None
        if type(value) is types.FunctionType:
            self.code = value.__code__
        elif not isinstance(value, type):
            self.inner = inner_of(value)
            self.code = getattr(self.inner, "__code__", None)

    @property
    def place(self) -> tuple[str, str]:
        return self.module, f"{self.owner}.{self.attribute}" if self.owner else self.attribute

    @property
    def name(self) -> str:
        return ".".join(self.place)


def inner_of(value: Any) -> Any:
    """Give the function that a method or property is made of, or the thing itself."""
    # Nothing else wraps a function, whatever attributes it was given.
    kind = type(value)
    if kind in (types.MethodType, classmethod, staticmethod):
        return value.__func__
    return value.fget if kind is property else value


def parts_of(name: str, module: types.ModuleType, own: str | None = None) -> Iterator[Part]:
    """Give every function and class of a module; `own` is its own name if it is held by another."""
    names, own = vars(module), own or name
    for attribute, value in list(names.items()):
        if isinstance(value, CALLABLE):
            yield Part(name, "", attribute, names, value)
        if isinstance(value, type) and value.__module__ == own:
            yield from _methods(name, value)


def _methods(module: str, owner: type) -> Iterator[Part]:
    names, title = vars(owner), owner.__qualname__
    for attribute, value in list(names.items()):
        if isinstance(value, METHODS):
            yield Part(module, title, attribute, names, value)


def changed(parts: Iterable[Part]) -> list[Part]:
    """Give the parts in whose place another thing stands, or which hold other code."""
    return [
        part
        for part in parts
        if part.names.get(part.attribute) is not part.value
        or (part.code is not None and part.inner.__code__ is not part.code)
    ]


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_codes(constant)
