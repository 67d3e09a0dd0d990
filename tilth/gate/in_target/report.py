"""The report of one pytest run: it runs pytest once and signs what really happened.

It runs inside the target's interpreter. The request is read and deleted before any project code
runs; the key in it is written nowhere. The report is one line of JSON and its signature, written
after pytest has ended: a process that ends earlier leaves no report that can be believed.
"""

from __future__ import annotations

import gc
import glob
import hmac
import json
import os
import site
import sys
import types
from typing import TYPE_CHECKING, Any

from . import seed_reading
from .guard import Guard
from .pristine_loading import HeldSources, install

if TYPE_CHECKING:
    import pytest

_WORST = ("passed", "xfailed", "skipped", "failed", "error")
_MESSAGE_CHARS = 300


def main() -> None:
    """Run what the request asks for and end the process without giving control back."""
    # Held from before the project's code runs: it may replace what the modules offer.
    leave, sign, dumps, started_as = os._exit, hmac.new, json.dumps, os.getpid()
    # What is loaded before the tests stays: to look for garbage there is dear and finds none.
    gc.disable()
    key, request = _take_request(sys.argv[1])
    sys.argv[:] = ["pytest"]
    plugins = _plugin_options(request["blocked"])
    record: dict[str, Any]
    try:
        import pytest
    except ImportError as error:
        status, record = 4, {"missing": str(error)}
    else:
        wrap = pytest.hookimpl(hookwrapper=True, tryfirst=True)
        wrap(Recorder.pytest_runtest_makereport)
        held = HeldSources(request["root"], request["stands_for"], request["held"])
        seeds = {path: seed_reading.read(held.content_of(path)) for path in request["seeds"]}
        install(held)
        guard = Guard(held, held.imports())
        _set_up_imports(request["root"], request["stands_for"])
        recorder = Recorder(request["root"], guard, seeds, is_base=request["is_base"])
        gc.freeze()
        gc.enable()
        status = int(pytest.main([*plugins, *request["args"]], plugins=[recorder]))
        record = {"status": status, "seeds": seeds, **recorder.record()}
    sys.stdout.flush()
    sys.stderr.flush()
    # A forked copy of this process that runs on to here has nothing to say.
    if os.getpid() == started_as:
        body = dumps(record, ensure_ascii=True).encode()
        seal = sign(key, body, "sha256").hexdigest().encode()
        _write(request["report"], body + b"\n" + seal + b"\n")
    leave(status)


def _take_request(path: str) -> tuple[bytes, dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    os.unlink(path)
    return bytes.fromhex(request.pop("key")), request


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

    # No other attribute: a method set on the instance would take the place of the class's own.
    __slots__ = (
        "_collected",
        "_deselected",
        "_faults",
        "_guard",
        "_is_base",
        "_outcomes",
        "_raised",
        "_root",
        "_seeds",
    )

    def __init__(
        self, root: str, guard: Guard, seeds: dict[str, dict[str, Any]], *, is_base: bool
    ) -> None:
        self._root = os.path.realpath(root)
        self._is_base = is_base
        self._guard = guard
        self._seeds = seeds
        self._collected: list[str] = []
        self._deselected: list[str] = []
        self._outcomes: dict[str, str] = {}
        self._faults: dict[str, dict[str, str]] = {}
        self._raised: set[tuple[str, str]] = set()

    def record(self) -> dict[str, Any]:
        results = [
            {"node": node, "ending": outcome, **self._faults.get(node, {})}
            for node, outcome in self._outcomes.items()
        ]
        return {
            "collected": self._collected,
            "deselected": self._deselected,
            "results": results,
            "interference": sorted(self._guard.replaced),
            "hooks": sorted(self._guard.hooks or ()),
        }

    def pytest_addoption(self, pluginmanager: pytest.PytestPluginManager) -> None:
        # The first hook there is: no code of the project has run.
        self._guard.take_callers(pluginmanager)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # Not later: pytest takes some of its own parts away when it ends.
        self._guard.look(session.config.pluginmanager)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected = [str(item.nodeid) for item in session.items]
        self._guard.take_tests(session.items, self._seeds)
        if self._is_base:
            # Seed tests that cannot be collected yet ask for none.
            self._guard.take_registered(session)
        # Once before the tests: what they undo again was still done.
        self._guard.look(session.config.pluginmanager)
        self._guard.look_between_tests()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self._deselected.extend(str(item.nodeid) for item in items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            node = str(report.nodeid)
            self._note(node, "skipped" if report.outcome == "skipped" else "error")

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
        # Once before pytest words its report: what is swapped for that alone is seen here.
        self._guard.look_at_runner(item.ihook)
        phase = str(item.nodeid), str(call.when)
        if call.excinfo is None:
            self._raised.discard(phase)
        else:
            self._raised.add(phase)
        outcome = yield
        self._compare(phase, outcome.get_result())

    def _compare(self, phase: tuple[str, str], report: pytest.TestReport) -> None:
        if phase in self._raised and report.outcome == "passed":
            self._guard.doubt(phase[0])

    def pytest_runtest_logfinish(self) -> None:
        self._guard.look_between_tests()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._guard.look_for_tracers()
        # Once more: another hook may have had the report in hand since.
        self._compare((str(report.nodeid), str(report.when)), report)
        self._note(str(report.nodeid), _outcome(report))

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
