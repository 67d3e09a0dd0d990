"""One run of pytest, inside the target's interpreter: what was collected and how each test ended.

The answer is as true as the process it was made in, which runs the project's code too: whoever
starts the run believes a green one because it was seen to go red (see `gate/challenge.py`).
Expectations that are handed in are looked up by the test that runs.
"""

from __future__ import annotations

import builtins
import gc
import os
import shutil
import site
import sys
from typing import Any

from .expected import TABLE, Expected
from .reads import Reads


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run what the request asks for and say what came of it."""
    # What is loaded before the tests stays: to look for garbage there is dear and finds none.
    gc.disable()
    sys.argv[:] = ["pytest"]
    root = request["root"]
    _drop_bytecode(root)
    try:
        import pytest

        from .plugin import Plugin
    except ImportError as error:
        return {"status": 4, "missing": str(error)}
    kept_out = _keep_out(request["blocked"])
    _set_up_imports(root, request["stands_for"])
    expected = Expected(**request["expected"])
    if request["expected"]:
        setattr(builtins, TABLE, expected)
    reads = Reads(root)
    if request["watched"]:
        reads.begin()
    plugin = Plugin(root, expected, request["test_s"], request["selects"])
    gc.freeze()
    gc.enable()
    # What is kept out comes last: the project's own options may ask for it.
    status = int(pytest.main([*request["args"], *kept_out], plugins=[plugin]))
    return {"status": status, **reads.record(), **plugin.record()}


def _drop_bytecode(root: str) -> None:
    """Let nothing in the export be read but its sources; what is installed keeps its own."""
    for place, directories, _ in os.walk(root):
        if "__pycache__" in directories:
            shutil.rmtree(os.path.join(place, "__pycache__"), ignore_errors=True)


def _keep_out(blocked: list[str]) -> list[str]:
    """Keep out the blocked plugins; when no other is installed, spare pytest the search."""
    from importlib.metadata import distributions

    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        os.environ.pop(name, None)
    points = (point for each in distributions() for point in each.entry_points)
    installed = {point.name for point in points if point.group == "pytest11"}
    if installed <= set(blocked):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        return []
    return [f"-pno:{name}" for name in sorted(installed.intersection(blocked))]


def _set_up_imports(root: str, stands_for: list[str]) -> None:
    """Let the project's modules come from the export, after the standard library."""
    places = set(site.getsitepackages())
    first = next((i for i, entry in enumerate(sys.path) if entry in places), len(sys.path))
    own = [path for path in (root, os.path.join(root, "src")) if os.path.isdir(path)]
    inherited = [_moved(entry, root, stands_for) for entry in sys.path]
    sys.path[:] = [*inherited[:first], *own, *inherited[first:]]
    # The import hook of an editable install would otherwise answer before the export does.
    sys.meta_path.sort(key=_comes_late)
    os.environ["PYTHONPATH"] = os.pathsep.join(own)


def _comes_late(finder: object) -> bool:
    module = getattr(finder, "__module__", type(finder).__module__)
    return not module.startswith(("_frozen_importlib", "importlib.", "_distutils_hack"))


def _moved(entry: str, root: str, stands_for: list[str]) -> str:
    """Give the place in the export that stands for a path of the source repository."""
    real = os.path.realpath(entry)
    if is_inside(real, os.path.realpath(sys.prefix)):
        return entry
    for place in stands_for:
        if is_inside(real, place):
            return os.path.normpath(os.path.join(root, os.path.relpath(real, place)))
    return entry


def is_inside(path: str, place: str) -> bool:
    """Tell whether a path is a directory or leads below it."""
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)
