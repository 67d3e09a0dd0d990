"""One run of pytest, inside the target's interpreter: what was collected and how each test ended.

The report is one line of JSON, written after pytest has ended. It is as true as the process it was
written in, which runs the project's code too: whoever starts the run believes a green one because
it was seen to go red (see `gate/challenge.py`). Expectations that are handed in are looked up by
the test that runs.
"""

from __future__ import annotations

import builtins
import gc
import glob
import json
import os
import shutil
import signal
import site
import sys
import types
from typing import TYPE_CHECKING, Any

from . import seed_reading
from .expected import TABLE, Expected
from .reads import Reads

if TYPE_CHECKING:
    import pytest

_WORST = ("passed", "xfailed", "skipped", "failed", "error")
_MESSAGE_CHARS = 300


def main() -> None:
    """Run what the request asks for and end the process without giving control back."""
    leave, started_as = os._exit, os.getpid()
    # What is loaded before the tests stays: to look for garbage there is dear and finds none.
    gc.disable()
    request = _take_request(sys.argv[1])
    sys.argv[:] = ["pytest"]
    _drop_bytecode(request["root"])
    plugins = _plugin_options(request["blocked"])
    record: dict[str, Any]
    try:
        import pytest
    except ImportError as error:
        status, record = 4, {"missing": str(error)}
    else:
        contents = {path: _content(request["root"], path) for path in request["seeds"]}
        seeds = {path: seed_reading.read(content) for path, content in contents.items()}
        _set_up_imports(request["root"], request["stands_for"])
        expected = Expected(**request["expected"]) if request["expected"] else None
        if expected is not None:
            setattr(builtins, TABLE, expected)
        reads = Reads(request["root"])
        if request["watched"]:
            reads.begin()
        recorder = Recorder(request["root"], expected, request["test_s"])
        gc.freeze()
        gc.enable()
        status = int(pytest.main([*plugins, *request["args"]], plugins=[recorder]))
        record = {"status": status, "seeds": seeds, "reads": reads.record()}
        record.update(recorder.record())
    sys.stdout.flush()
    sys.stderr.flush()
    # A forked copy of this process that runs on to here has nothing to say.
    if os.getpid() == started_as:
        _write(request["report"], json.dumps(record, ensure_ascii=True).encode())
    leave(status)


def _take_request(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        request: dict[str, Any] = json.load(file)
    os.unlink(path)
    return request


def _drop_bytecode(root: str) -> None:
    """Let nothing in the export be read but its sources; what is installed keeps its own."""
    for place, directories, _ in os.walk(root):
        if "__pycache__" in directories:
            shutil.rmtree(os.path.join(place, "__pycache__"), ignore_errors=True)


def _content(root: str, path: str) -> bytes:
    try:
        with open(os.path.join(root, path), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _write(path: str, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    while data:
        data = data[os.write(file, data) :]
    os.close(file)


def _plugin_options(blocked: list[str]) -> list[str]:
    """Keep out the blocked plugins; when no other is installed, spare pytest the search."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    installed = _installed_plugins()
    if installed <= set(blocked):
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        return []
    os.environ.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)
    return [f"-pno:{name}" for name in sorted(installed.intersection(blocked))]


def _installed_plugins() -> set[str]:
    names: set[str] = set()
    for place in sys.path:
        for path in glob.glob(os.path.join(glob.escape(place), "*-info", "entry_points.txt")):
            with open(path, encoding="utf-8", errors="replace") as file:
                names.update(_plugin_names(file.read()))
    return names


def _plugin_names(text: str) -> set[str]:
    section = ""
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip()
        elif section == "[pytest11]" and "=" in line:
            names.add(line.partition("=")[0].strip())
    return names


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
    if _is_inside(real, os.path.realpath(sys.prefix)):
        return entry
    for place in stands_for:
        if _is_inside(real, place):
            return os.path.normpath(os.path.join(root, os.path.relpath(real, place)))
    return entry


def _is_inside(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


class Recorder:
    """Be the pytest plugin that notes what was collected and how each test ended."""

    def __init__(self, root: str, expected: Expected | None, test_s: float | None) -> None:
        self._root = os.path.realpath(root)
        self._expected = expected
        self._test_s = test_s
        self._collected: list[str] = []
        self._keys: dict[str, str] = {}
        self._deselected: list[str] = []
        self._outcomes: dict[str, str] = {}
        self._faults: dict[str, dict[str, str]] = {}

    def record(self) -> dict[str, Any]:
        results = [
            {"node": node, "ending": outcome, **self._faults.get(node, {})}
            for node, outcome in self._outcomes.items()
        ]
        return {
            "collected": self._collected,
            "deselected": self._deselected,
            "results": results,
        }

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected = [str(item.nodeid) for item in session.items]
        self._keys = keyed(self._collected)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self._expected is not None:
            self._expected.enter(self._keys.get(nodeid, ""))
        if self._test_s is not None:
            signal.signal(signal.SIGALRM, _too_long)
            signal.setitimer(signal.ITIMER_REAL, self._test_s)

    def pytest_runtest_logfinish(self) -> None:
        if self._test_s is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self._deselected.extend(str(item.nodeid) for item in items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            node = str(report.nodeid)
            if isinstance(report.longrepr, tuple):
                self._faults.setdefault(node, {"message": _reason(report.longrepr)})
            self._note(node, "skipped" if report.outcome == "skipped" else "error")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        node, outcome = str(report.nodeid), _outcome(report)
        if outcome in ("skipped", "xfailed") and isinstance(report.longrepr, tuple):
            path, line = self._own_path(str(report.longrepr[0])), report.longrepr[1]
            fault = {"place": f"{path}:{line}", "message": _reason(report.longrepr)}
            self._faults.setdefault(node, fault)
        self._note(node, outcome)

    def pytest_internalerror(self, excrepr: object) -> None:
        self._note("pytest", "error")
        self._faults["pytest"] = {"error": "INTERNALERROR", "message": str(excrepr)[-300:]}

    def pytest_exception_interact(self, node: pytest.Item, call: pytest.CallInfo[Any]) -> None:
        if call.excinfo is None:
            return
        value = call.excinfo.value
        cause = value.__cause__ if type(value).__name__ == "CollectError" else None
        error = cause or value
        lines = str(error).strip().splitlines() or [""]
        fault = {"error": type(error).__name__, "message": lines[0][:_MESSAGE_CHARS]}
        self._faults.setdefault(str(node.nodeid), {**fault, **self._origin(error)})

    def _origin(self, error: BaseException) -> dict[str, str]:
        """Say which line of the project an error came through last, and what lacked a name."""
        origin = {}
        trace = error.__traceback__
        while trace is not None:
            path = self._own_path(trace.tb_frame.f_code.co_filename)
            if path:
                origin["place"] = f"{path}:{trace.tb_lineno}"
            trace = trace.tb_next
        owner = self._own_path(_home_of(getattr(error, "obj", None)))
        return {**origin, "owner": owner} if owner else origin

    def _own_path(self, path: str) -> str:
        real = os.path.realpath(path) if path else ""
        return os.path.relpath(real, self._root) if _is_inside(real, self._root) else ""

    def _note(self, node: str, outcome: str | None) -> None:
        if outcome is None:
            return
        held = self._outcomes.get(node, outcome)
        self._outcomes[node] = max(held, outcome, key=_WORST.index)


def _reason(skip: tuple[Any, ...]) -> str:
    """Give why a test was skipped, as its author says it."""
    lines = str(skip[2]).removeprefix("Skipped: ").strip().splitlines() or [""]
    return lines[0][:_MESSAGE_CHARS]


def _too_long(*_: object) -> None:
    raise TimeoutError("this test takes much longer than it did")


def keyed(nodes: list[str]) -> dict[str, str]:
    """Name each test by its function and its turn among that function's cases."""
    turns: dict[str, int] = {}
    keys = {}
    for node in nodes:
        function = node.partition("[")[0]
        keys[node] = f"{function}#{turns.get(function, 0)}"
        turns[function] = turns.get(function, 0) + 1
    return keys


def _outcome(report: pytest.TestReport) -> str | None:
    """Give what one phase of a test says about it; None when it says nothing."""
    if report.outcome == "failed":
        return "failed" if report.when == "call" else "error"
    if report.outcome == "skipped":
        return "xfailed" if hasattr(report, "wasxfail") else "skipped"
    return "passed" if report.outcome == "passed" and report.when == "call" else None


def _home_of(thing: Any) -> str:
    """Give the file a module stands in, or that of the class or function a thing comes from."""
    if isinstance(thing, types.ModuleType):
        return str(vars(thing).get("__file__") or "")
    maker = thing if isinstance(thing, (type, types.FunctionType)) else type(thing)
    module = sys.modules.get(str(maker.__module__))
    return str(getattr(module, "__file__", None) or "")
