"""Modules that hide others: a new one of a name that means something else already.

Such a module is imported in the place of the real one, so that tests prove something else than
they seem to. Pure: file lists and names in, reasons out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.gate.steering import MODULE_SUFFIXES, TESTS

_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage"})
_INIT = "__init__"


class Importable(Value):
    """Hold the names an interpreter can import without the project."""

    library: frozenset[str] = frozenset()
    installed: frozenset[str] = frozenset()

    def meaning(self, name: str) -> str | None:
        """Say what a name means already."""
        if name in _TOOLS:
            return f"{name}, which the gate depends on"
        if name in self.library:
            return f"{name} of the standard library"
        return f"the installed package {name}" if name in self.installed else None


def import_roots(base: Iterable[str], search_path: Iterable[str]) -> tuple[str, ...]:
    """Name the directories that modules are imported from when tests run, the root as "".

    `tests/` is one unless it is a package, `search_path` what the project's pytest adds.
    """
    is_package = f"{TESTS}/{_INIT}.py" in set(base)
    own = ("", "src") if is_package else ("", "src", TESTS)
    more = (PurePosixPath(path).as_posix().removeprefix("./") for path in search_path)
    return tuple(dict.fromkeys([*own, *(path for path in more if path != ".")]))


def has_new_names(base: Iterable[str], tree: Iterable[str], roots: Iterable[str]) -> bool:
    """Tell whether any top-level module is new, so that it is worth asking the interpreter."""
    before, after = frozenset(base), frozenset(tree)
    return any(_top(after, root).keys() - _top(before, root).keys() for root in roots)


def shadows(
    base: Iterable[str], tree: Iterable[str], roots: tuple[str, ...], known: Importable
) -> dict[str, str]:
    """Say for each new file that makes a module hide another what it hides."""
    before, after = frozenset(base), frozenset(tree)
    found = dict(_beside(before, after))
    old = {root: _top(before, root) for root in roots}
    new = {root: _top(after, root) for root in roots}
    for root in roots:
        for name in new[root].keys() - old[root].keys():
            what = known.meaning(name) or _elsewhere(name, root, old, after)
            if what is not None:
                found.update(dict.fromkeys(new[root][name], f"it hides {what}"))
    return found


def _elsewhere(
    name: str, root: str, old: Mapping[str, Mapping[str, list[str]]], after: frozenset[str]
) -> str | None:
    """Find a module of the same name that stood at another root before, and still does."""
    files = (file for place, names in old.items() if place != root for file in names.get(name, ()))
    return next((file for file in files if file in after), None)


def _top(files: Iterable[str], root: str) -> dict[str, list[str]]:
    """Give the top-level modules below a root with the files that make them."""
    found: dict[str, list[str]] = {}
    prefix = f"{root}/" if root else ""
    for path in files:
        if not path.startswith(prefix) or not path.endswith(MODULE_SUFFIXES):
            continue
        inner = path[len(prefix) :].split("/")
        makes = len(inner) == 1 or (len(inner) == 2 and _stem(inner[1]) == _INIT)
        if makes and _stem(inner[0]) != _INIT:
            found.setdefault(_stem(inner[0]), []).append(path)
    return found


def _beside(before: frozenset[str], after: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Find packages and modules of one name in one directory, of which Python takes only one."""
    old = {_module(path): path for path in sorted(before & after) if _module(path)}
    for path in sorted(after - before):
        module = _module(path)
        if module and module in old:
            yield path, f"it hides {old[module]}"


def _module(path: str) -> str | None:
    if not path.endswith(MODULE_SUFFIXES):
        return None
    directory, _, name = path.rpartition("/")
    stem = _stem(name)
    return directory if stem == _INIT else f"{directory}/{stem}".lstrip("/")


def _stem(name: str) -> str:
    return name.partition(".")[0]
