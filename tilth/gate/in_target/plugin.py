"""The gate's plugin for pytest: it notes what was collected and how each test ended.

What the project's options say stays, unless it selects tests, stops early or writes reports: the
gate names the files itself and needs all of their results.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

from .expected import keyed
from .run import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .expected import Expected

_WORST = ("passed", "xfailed", "skipped", "failed", "error")
_MESSAGE_CHARS = 300
_TAKES_VALUE = re.compile("-[^-]|--[^=]+")
# Options that are off, whatever the configuration says, and those that choose among the tests.
_OFF = {
    **dict.fromkeys(("lf", "failedfirst", "newfirst", "stepwise", "stepwise_skip"), False),
    **dict.fromkeys(("collectonly", "usepdb", "trace", "setuponly", "setupplan"), False),
    **dict.fromkeys(("xmlpath", "pastebin", "durations", "report_log")),
}
_SELECTING = {
    **dict.fromkeys(("keyword", "markexpr"), ""),
    **dict.fromkeys(("deselect", "ignore", "ignore_glob", "pyargs")),
}


class Plugin:
    """Take part in one run; with `selects`, the options choose which tests run."""

    def __init__(self, root: str, expected: Expected, test_s: float | None, selects: bool) -> None:
        self._root = os.path.realpath(root)
        self._expected = expected
        self._test_s = test_s
        self._off = _OFF if selects else {**_OFF, **_SELECTING}
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
        return {"collected": self._collected, "deselected": self._deselected, "results": results}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(
        self, parser: pytest.Parser, args: list[str]
    ) -> Iterator[None]:
        """Drop the options of plugins that are kept out, or not there, and their values."""
        yield
        unknown = parser.parse_known_and_unknown_args(args)[1]
        kept, takes_value = [], False
        for word in args:
            is_unknown = word.startswith("-") and word in unknown
            if not is_unknown and (word.startswith("-") or not takes_value):
                kept.append(word)
            takes_value = is_unknown and _TAKES_VALUE.fullmatch(word) is not None
        args[:] = kept

    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        vars(config.option).update(self._off)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected = [str(item.nodeid) for item in session.items]
        self._keys = keyed(self._collected)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
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
        return os.path.relpath(real, self._root) if is_inside(real, self._root) else ""

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
