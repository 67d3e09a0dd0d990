"""Modules that hide others: a new one at the top of the path, of a name that means something else.

Such a module is imported in the place of the real one, so that tests prove something else than
they seem to. Which names the interpreter has without the project, it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

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

_TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage")
_NAMES = TypeAdapter(dict[str, str])
# Imports none of them. What leads into the project itself is no part of the interpreter.
_ASK = """\
import json, pkgutil, sys

places = [place for place in sys.path if place not in sys.argv[2:]]
found = {each.name: f"the installed package {each.name}" for each in pkgutil.iter_modules(places)}
library = getattr(sys, "stdlib_module_names", sys.builtin_module_names)
found.update((name, f"{name} of the standard library") for name in library)
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
"""

Names = Mapping[str, str]


def read_names(runtime: Runtime, timeout_s: float) -> Names:
    """Say what each name means that the target's interpreter can import without the project."""
    own = [str(place) for root in runtime.stands_for for place in (root, root / "src")]
    with open_bare(runtime) as export:
        asked, answered = export.root / "names.py", export.root / "answered"
        asked.write_text(_ASK)
        said = ""
        try:
            argv = (str(runtime.python), "-I", "-B", str(asked), str(answered), *own)
            said = export.run(argv, timeout_s).output
            found = _NAMES.validate_json(answered.read_bytes())
        except (ToolError, OSError, ValidationError) as error:
            raise runtime.unable("say what it can import", said or error) from error
    return found | {name: f"{name}, which the gate depends on" for name in _TOOLS}


def shadows(
    trees: Trees, setups: Iterable[PytestSetup], names: Callable[[], Names]
) -> dict[str, str]:
    """Say for each new file that makes a top-level module what it hides, if it hides anything.

    That is a module beside it, one of the interpreter's `names`, or one in another place that
    modules are imported from: of the product, or of the base's tests.
    """
    runs, held = tuple(setups), trees.base_files & trees.tree_files
    product = {"", "src"}.union(path for run in runs for path in run.search_path)
    places = product | _places_of_tests(trees, runs)
    # Elsewhere tests may stand beside programs of one name, which are not imported for each other.
    shared = product.union(place for place in places if is_beside_tests(f"{place}/"))
    before = {_module(path) for path in trees.base_files if path.endswith(MODULES)}
    old = {name for place, name in before if place in places}
    standing: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(trees.tree_files):
        place, name = _module(path)
        if path.endswith(MODULES) and (path in held or place in product):
            standing.setdefault(name, []).append((place, path))
    found = {}
    for path in sorted(trees.tree_files - held):
        place, name = module = _module(path)
        twins = standing.get(name, [])
        what = next((twin for at, twin in twins if at == place and twin in held), None)
        if what is None and module not in before and place in places and _is_free(path, name):
            elsewhere = (twin for at, twin in twins if at in shared and at != place)
            what = (None if name in old else names().get(name)) or next(elsewhere, None)
        # A link to a directory has no suffix, and can be imported like a package.
        if what and (path.endswith(MODULES) or trees.read_tree(path) is None):
            found[path] = f"it hides {what}"
    return found


def _is_free(path: str, name: str) -> bool:
    """Tell whether nothing else is said of a file of that name."""
    return name != TESTS and steers(path) is None and not is_test_file(path)


def _module(path: str) -> tuple[str, str]:
    """Give the module that a file makes: the directory it is imported from, and its name."""
    place, _, last = path.rpartition("/")
    if path.endswith(MODULES):
        last = stem(last)
    if last == "__init__":
        place, _, last = place.rpartition("/")
    return place, last


def _places_of_tests(trees: Trees, runs: Iterable[PytestSetup]) -> set[str]:
    """Give the directories that pytest makes modules importable from, with the tests in them."""
    if not any(run.adds_directories for run in runs):
        return set()
    named = (path.rpartition("/") for path in trees.base_files | trees.tree_files)
    found = {place for place, _, name in named if name == "conftest.py" or is_test_file(name)}
    return {_outside(place, trees) for place in found | {TESTS}}


def _outside(place: str, trees: Trees) -> str:
    """Leave the packages that a directory stands in, but for those a change makes of tests."""
    made, (above, _, name) = f"{place}/__init__.py", place.rpartition("/")
    is_new = made not in trees.base_files and makes_package_of_tests(made, trees.base_directories)
    if made not in trees.tree_files or is_new or not name.isidentifier():
        return place
    return _outside(above, trees)
