"""Modules that hide others: a new one at the top of the path, of a name that means something else.

Such a module is imported in the place of the real one, so that tests prove something else than
they seem to. Which names the interpreter has without the project, it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import PurePosixPath

from pydantic import TypeAdapter, ValidationError

from tilth.base.errors import ToolError
from tilth.gate.export import Runtime, open_bare
from tilth.gate.overlay import Trees
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.steering import MODULE_SUFFIXES as MODULES
from tilth.gate.steering import (
    TESTS,
    is_beside_tests,
    is_test_file,
    makes_package_of_tests,
    steers,
    stem,
)

_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage"})
_NAMES = TypeAdapter(frozenset[str])
# Imports none of them. What leads into the project itself is no part of the interpreter.
_ASK = """\
import json, pkgutil, sys

places = [place for place in sys.path if place not in sys.argv[2:]]
found = {each.name for each in pkgutil.iter_modules(places)}
found.update(getattr(sys, "stdlib_module_names", sys.builtin_module_names))
with open(sys.argv[1], "w") as file:
    json.dump(list(found), file)
"""


def read_names(runtime: Runtime, timeout_s: float) -> frozenset[str]:
    """Name what the target's interpreter can import without the project."""
    own = [str(place) for root in runtime.stands_for for place in (root, root / "src")]
    with open_bare(runtime) as export:
        asked, answered = export.root / "names.py", export.root / "answered"
        asked.write_text(_ASK)
        said = ""
        try:
            argv = (str(runtime.python), "-I", "-B", str(asked), str(answered), *own)
            said = export.run(argv, timeout_s).output
            return _TOOLS | _NAMES.validate_json(answered.read_bytes())
        except (ToolError, OSError, ValidationError) as error:
            raise runtime.unable("say what it can import", said or error) from error


def shadows(
    trees: Trees, setups: Iterable[PytestSetup], names: Callable[[], Collection[str]]
) -> dict[str, str]:
    """Say for each new file that makes a top-level module what it hides, if it hides anything.

    That is a module beside it, one of the interpreter's `names`, or one in another place that
    modules are imported from: of the product, or of the base's tests.
    """
    runs, base, tree = tuple(setups), {*trees.base_files}, {*trees.tree_files}
    product = {"", "src"}.union(path for run in runs for path in run.search_path)
    places = product | _places_of_tests(trees, runs)
    # Elsewhere tests may stand beside programs of one name, not imported for each other.
    shared = {at for at in places if at in product or is_beside_tests(f"{at}/")}
    before = {_module(path) for path in base if path.endswith(MODULES)}
    old = {name for place, name in before if place in places}
    # Of two in one place the base's own counts.
    modules = sorted((path for path in tree if path.endswith(MODULES)), key=base.__contains__)
    now = {_module(path): path for path in modules}
    standing = {key: path for key, path in now.items() if path in base or key[0] in product}
    found = {}
    for path in sorted(tree - base):
        place, name = module = _module(path)
        what = now.get(module) if now.get(module) in base else None
        is_top = place in places and name != TESTS and not steers(path) and not is_test_file(path)
        if is_top and module not in before:
            elsewhere = (standing.get((at, name)) for at in sorted(shared - {place}))
            what = next(filter(None, elsewhere), None)
            if name not in old and name in names():
                what = f"{name}, which Python has without the project"
        # A link to a directory has no suffix, and can be imported like a package.
        if what and (path.endswith(MODULES) or trees.read_tree(path) is None):
            found[path] = f"it hides {what}"
    return found


def _module(path: str) -> tuple[str, str]:
    """Give the module that a file makes: the directory it is imported from, and its name."""
    place, _, last = path.rpartition("/")
    if path.endswith(MODULES):
        last = stem(last)
    if last == "__init__":
        place, _, last = place.rpartition("/")
    return place, last


def _places_of_tests(trees: Trees, runs: Iterable[PytestSetup]) -> set[str]:
    """Give the directories of tests, and those above, that pytest may make importable."""
    if not any(run.adds_directories for run in runs):
        return set()
    files = map(PurePosixPath, {*trees.base_files, *trees.tree_files})
    tests = [path for path in files if path.name == "conftest.py" or is_test_file(path.name)]
    places = {TESTS, *(str(above) for path in tests for above in path.parents)}
    return {place for place in places if not _is_package(place, trees)}


def _is_package(place: str, trees: Trees) -> bool:
    """Tell whether tests are imported as a package; a directory is not made one by a change."""
    made = f"{place}/__init__.py"
    is_new = made not in trees.base_files and makes_package_of_tests(made, trees.base_directories)
    return made in trees.tree_files and not is_new and place.rpartition("/")[2].isidentifier()
