"""Modules that hide others: a new one of a name that means something else already.

Such a module is imported in the place of the real one, so that tests prove something else than
they seem to. Pure: file lists and names in, reasons out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.gate.steering import MODULE_SUFFIXES, TESTS, is_beside_tests, is_test_file, makes_package

_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage"})
_INIT = "__init__"
# pytest and Python look for these in several places at once; who may add one is said elsewhere.
_STEERING_NAMES = frozenset({"conftest", "sitecustomize", "usercustomize"})


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


def import_roots(
    base: Iterable[str], search_path: Iterable[str], tree: Iterable[str] = ()
) -> tuple[str, ...]:
    """Name the directories that modules are imported from when tests run, the root as "".

    The one that is asked first comes first: pytest puts a directory of tests before all others, and
    what the project's pytest adds (`search_path`) before the rest.
    """
    before, after = frozenset(base), frozenset(tree)
    beside = () if f"{TESTS}/{_INIT}.py" in before else (TESTS,)
    more = (PurePosixPath(path).as_posix().removeprefix("./") for path in search_path)
    named = ("" if path == "." else path for path in more)
    return tuple(dict.fromkeys([*_test_directories(before, after), *beside, *named, "", "src"]))


def _test_directories(before: frozenset[str], after: frozenset[str]) -> list[str]:
    """Find the directories below `tests/` that pytest imports tests from, if one has a new file."""
    new = [path for path in after - before if is_beside_tests(path) and not is_test_file(path)]
    if not new:
        return []
    found = set()
    for path in after:
        if is_beside_tests(path) and is_test_file(path):
            directory = path.rpartition("/")[0]
            while f"{directory}/{_INIT}.py" in after:
                directory = directory.rpartition("/")[0]
            found.add(directory)
    deeper = sorted(directory for directory in found if is_beside_tests(directory))
    return [each for each in deeper if any(path.startswith(f"{each}/") for path in new)]


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
    for place, root in enumerate(roots):
        others = [other for other in roots if _are_apart(root, other)]
        later = [other for other in roots[place + 1 :] if other in others]
        for name in new[root].keys() - old[root].keys():
            what = known.meaning(name) or _held(name, (old[other] for other in others), after)
            if what is None and name not in _STEERING_NAMES:
                what = _held(name, (new[other] for other in later), after)
            if what is not None:
                found.update(dict.fromkeys(new[root][name], f"it hides {what}"))
    found.update(_in_plain_directories(before, after, roots))
    return found


def _are_apart(root: str, other: str) -> bool:
    """Tell whether one root is not the other, and no two directories of tests are compared."""
    return root != other and not (_is_of_tests(root) and _is_of_tests(other))


def _is_of_tests(root: str) -> bool:
    return root == TESTS or is_beside_tests(root)


def _held(
    name: str, places: Iterable[Mapping[str, list[str]]], after: frozenset[str]
) -> str | None:
    """Find a file that makes a module of this name at one of some roots, and is there now."""
    files = (file for names in places for file in names.get(name, ()))
    return next((file for file in files if file in after), None)


def _in_plain_directories(
    before: frozenset[str], after: frozenset[str], roots: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Find what hides modules of directories that are no packages.

    Python joins such directories of one name over all roots, unless one of them is a package: then
    it alone is seen.
    """
    for place, root in enumerate(roots):
        mine = _dotted(after - before, root)
        for other in roots[place + 1 :] if mine else ():
            if not _are_apart(root, other):
                continue
            theirs = _dotted(after, other)
            for name, path in mine.items():
                hidden = _hidden_part(name, theirs, stands_alone=_is_of_tests(root))
                if hidden is not None:
                    yield path, f"it hides {hidden}"


def _hidden_part(name: str, theirs: Mapping[str, str], *, stands_alone: bool) -> str | None:
    """Find what a module takes the place of; as a package it may hide a whole directory."""
    top = name.partition(".")[0]
    if top in theirs:
        return None
    inside = (path for other, path in theirs.items() if other.startswith(f"{top}."))
    whole = name == top and stands_alone
    return theirs.get(name) or (next(inside, None) if whole else None)


def _dotted(files: Iterable[str], root: str) -> dict[str, str]:
    """Give the modules in directories below a root by their dotted names."""
    prefix = f"{root}/" if root else ""
    found = {}
    for path in sorted(files):
        if not path.startswith(prefix) or not path.endswith(MODULE_SUFFIXES) or is_test_file(path):
            continue
        *directories, last = path[len(prefix) :].split("/")
        stem = _stem(last)
        if directories and stem not in _STEERING_NAMES:
            found[".".join([*directories, *([] if stem == _INIT else [stem])])] = path
    return found


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
    held = {_module(path): path for path in sorted(before & after) if _module(path)}
    plain = {path for path in after - before if not makes_package(path)}
    for path in sorted(after - before):
        module = _module(path)
        if module and module in held:
            yield path, f"it hides {held[module]}"
        elif module and makes_package(path) and f"{module}.py" in plain:
            yield path, f"it hides {module}.py"


def _module(path: str) -> str | None:
    if not path.endswith(MODULE_SUFFIXES):
        return None
    directory, _, name = path.rpartition("/")
    stem = _stem(name)
    return directory if stem == _INIT else f"{directory}/{stem}".lstrip("/")


def _stem(name: str) -> str:
    return name.partition(".")[0]
