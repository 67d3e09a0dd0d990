"""Modules that hide others: a new one of a name that means something else already.

Such a module is imported in the place of the real one, so that tests prove something else than
they seem to. Pure: file lists, names and import roots in, reasons out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.gate.import_roots import ImportRoots
from tilth.gate.steering import MODULE_SUFFIXES, TESTS, is_test_file, makes_package, stem

_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage"})
_INIT = "__init__"
# pytest and Python look for these in several places at once; who may add one is said elsewhere.
_STEERING_NAMES = frozenset({"conftest", "sitecustomize", "usercustomize"})

# The files that make a top-level module, by its name and the root it stands at.
_Tops = dict[str, dict[str, list[str]]]


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


@dataclass
class _Inner:
    """Hold the modules in directories below one root by their dotted names."""

    modules: dict[str, str] = field(default_factory=dict)
    first_in: dict[str, str] = field(default_factory=dict)

    def hidden_by(self, name: str, *, stands_alone: bool) -> str | None:
        """Find what a module takes the place of; as a package it may hide a whole directory."""
        top = name.partition(".")[0]
        if top in self.modules:
            return None
        whole = name == top and stands_alone
        return self.modules.get(name) or (self.first_in.get(top) if whole else None)


def has_new_names(base: Iterable[str], tree: Iterable[str], roots: ImportRoots) -> bool:
    """Tell whether any top-level module is new, so that it is worth asking the interpreter."""
    before, after = frozenset(base), frozenset(tree)
    old = _tops(before, roots.all)
    new = _tops(after.union(_perhaps_links(before, after)), roots.all)
    return any(places.keys() - old.get(name, {}).keys() for name, places in new.items())


def shadows(
    base: Iterable[str],
    tree: Iterable[str],
    roots: ImportRoots,
    known: Importable,
    leads_on: Callable[[str], bool] = lambda _: False,
) -> dict[str, str]:
    """Say for each new file that makes a module hide another what it hides.

    `leads_on` tells of a path without a suffix whether it is a link to a directory, which can be
    imported like one; it is asked only where that matters.
    """
    before, after = frozenset(base), frozenset(tree)
    perhaps = _perhaps_links(before, after)
    suspects = _found(before, after.union(perhaps), roots, known) if perhaps else {}
    asked = {made: perhaps[made] for made in suspects if made in perhaps}
    links = {made: path for made, path in asked.items() if leads_on(path)}
    found = _found(before, after.union(links), roots, known)
    return {links.get(path, path): f"it hides {what}" for path, what in found.items()}


def _perhaps_links(before: frozenset[str], after: frozenset[str]) -> dict[str, str]:
    """Give new paths that could be links to packages, by the file that would make them so."""
    new = (path for path in after - before if PurePosixPath(path).name.isidentifier())
    return {f"{path}/{_INIT}.py": path for path in new}


def _found(
    before: frozenset[str], after: frozenset[str], roots: ImportRoots, known: Importable
) -> dict[str, str]:
    found = dict(_beside(before, after))
    old, new = _tops(before, roots.all), _tops(after, roots.all)
    held = _tops(before & after, roots.judging.union(roots.product))
    for name, places in new.items():
        for root in places.keys() - old.get(name, {}).keys():
            what = known.meaning(name) or _other(root, places, held.get(name, {}), roots)
            if what is not None:
                found.update(dict.fromkeys(places[root], what))
    found.update(_in_plain_directories(before, after, roots))
    return found


def _other(
    root: str,
    places: Mapping[str, list[str]],
    held: Mapping[str, list[str]],
    roots: ImportRoots,
) -> str | None:
    """Find a module of another root, `held` since the base or new, that a new one stands in for."""
    old = _first(held.get(other) for other in roots.product if other != root)
    new = _first(places.get(other) for other in roots.after(root))
    if root in roots.tests and all(map(is_test_file, places[root])):
        # Of two tests with one name pytest refuses the second, but seed tests run without others.
        return old or (new if root == TESTS else None)
    beside = (held[other] for other in held if other != root and other in roots.tests)
    return old or _first(beside) or new


def _first(places: Iterable[list[str] | None]) -> str | None:
    return next((files[0] for files in places if files), None)


def _in_plain_directories(
    before: frozenset[str], after: frozenset[str], roots: ImportRoots
) -> Iterator[tuple[str, str]]:
    """Find what hides modules of directories that are no packages.

    Python joins such directories of one name over all roots, unless one of them is a package: then
    it alone is seen.
    """
    mine, theirs = _inner(after - before, roots.all), _inner(after, roots.product)
    for root, inner in mine.items():
        for other in roots.after(root):
            for name, path in inner.modules.items() if other in theirs else ():
                hidden = theirs[other].hidden_by(name, stands_alone=root in roots.tests)
                if hidden is not None:
                    yield path, hidden


def _inner(files: Iterable[str], roots: Iterable[str]) -> dict[str, _Inner]:
    """Give the modules in directories below each root."""
    wanted, found = frozenset(roots), dict[str, _Inner]()
    for path in sorted(files):
        *directories, last = path.split("/")
        name = stem(last)
        if not path.endswith(MODULE_SUFFIXES) or is_test_file(path) or name in _STEERING_NAMES:
            continue
        for depth, top in enumerate(directories):
            root = "/".join(directories[:depth])
            if root in wanted:
                inner = found.setdefault(root, _Inner())
                inner.modules[".".join([*directories[depth:], *_own(name)])] = path
                inner.first_in.setdefault(top, path)
    return found


def _own(name: str) -> tuple[str, ...]:
    return () if name == _INIT else (name,)


def _tops(files: Iterable[str], roots: Iterable[str]) -> _Tops:
    """Give the top-level modules of all roots with the files that make them."""
    wanted = frozenset(roots)
    found: _Tops = {}
    for path in sorted(files):
        root, _, name = (_module(path) or "").rpartition("/")
        if name and name not in _STEERING_NAMES and root in wanted:
            found.setdefault(name, {}).setdefault(root, []).append(path)
    return found


def _beside(before: frozenset[str], after: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Find packages and modules of one name in one directory, of which Python takes only one."""
    held = {_module(path): path for path in sorted(before & after) if _module(path)}
    plain = {path for path in after - before if not makes_package(path)}
    for path in sorted(after - before):
        module = _module(path)
        if module and module in held:
            yield path, held[module]
        elif module and makes_package(path) and f"{module}.py" in plain:
            yield path, f"{module}.py"


def _module(path: str) -> str | None:
    if not path.endswith(MODULE_SUFFIXES):
        return None
    directory, _, last = path.rpartition("/")
    name = stem(last)
    return directory if name == _INIT else f"{directory}/{name}".lstrip("/")
