"""The reason a test is red: right, because the project lacks something, or wrong, because the test
itself is at fault.

Right is an assertion, a missing module, name, attribute or parameter of the project, or an error
that the project's own code raised. Pure decisions on what pytest reported.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from tilth.gate.findings import NodeResult

_ASSERTIONS = frozenset({"AssertionError", "Failed"})
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})
_MODULE = re.compile(r"No module named '([\w.]+)'")
_NAME = re.compile(
    r"cannot import name '([^']+)' from (?:partially initialized module )?'([\w.]+)'"
)
_MODULE_LACKS = re.compile(r"module '([\w.]+)'|object at ([\w.]+) has no attribute")
_SIGNATURE = re.compile(
    r"([\w.<>]+)\(\) (?:got an unexpected keyword argument|got multiple values"
    r"|got some positional-only|takes .*argument|missing \d+ required)"
)

# Packages that tests like to use: what a misspelt name may have meant, though it is not installed.
_WELL_KNOWN = frozenset(
    {
        "attrs",
        "boto3",
        "bs4",
        "django",
        "fastapi",
        "flask",
        "freezegun",
        "httpx",
        "hypothesis",
        "mock",
        "numpy",
        "pandas",
        "pydantic",
        "pytest_mock",
        "requests",
        "responses",
        "respx",
        "scipy",
        "sqlalchemy",
        "torch",
        "yaml",
    }
)
_NEAR = 0.82


@dataclass(frozen=True)
class KnownNames:
    """Hold what stands around the tests: the project, what is installed, and what the plan says."""

    project: frozenset[str]
    outside: frozenset[str]
    plan: str
    tests: frozenset[str]
    defines: Callable[[str], bool]
    # What to do about a module of the project that git ignores and that is missing.
    ignored: Callable[[str], str | None] = lambda module: None

    def is_projects(self, module: str) -> bool:
        return module.partition(".")[0] in self.project

    def names(self, module: str) -> bool:
        """Tell whether the plan speaks of a module."""
        return re.search(rf"(?<![\w-]){re.escape(module)}(?![\w-])", self.plan) is not None


def fault(result: NodeResult, known: KnownNames) -> str | None:
    """Say what is wrong with the way a test is red; None when it is red for the right reason."""
    error, message = result.error or "", result.message or ""
    if error in _ASSERTIONS:
        return _failure(result)
    if error in _SYNTAX:
        return f"{message}: it does not parse"
    if error in ("ModuleNotFoundError", "ImportError"):
        return _import_fault(result, known)
    if _in_project(result.place, known):
        return None
    if error == "AttributeError" and _lacks(result, known):
        return None
    if error == "TypeError" and _asks_more_of_the_project(message, known):
        return None
    if error == "FixtureLookupError":
        return f"{message}: the test asks for a fixture that nobody defines"
    if error == "NameError":
        return f"{message}: the test uses a name it never defines"
    if not error:
        return "it failed without saying why"
    return (
        f"{error}: {message}: the test itself raises this. Let it fail by an assertion about the "
        "project, or by a module, name or attribute the project does not have yet"
    )


def unmendable(result: NodeResult, known: KnownNames) -> str | None:
    """Say what is wrong where no change of the project's own code can turn a test green."""
    if result.error == "ModuleNotFoundError" or result.error == "FixtureLookupError":
        return fault(result, known)
    if result.error == "ImportError" and not _in_project(result.place, known):
        return fault(result, known)
    return None


def _failure(result: NodeResult) -> str | None:
    message = result.message or ""
    if result.error == "Failed" and "async def functions are not natively supported" in message:
        return "no pytest plugin for async tests is installed: run the coroutine with asyncio.run"
    if result.error == "Failed" and "::" not in result.node:
        return f"{message}: pytest cannot collect it"
    return None


def _in_project(place: str | None, known: KnownNames) -> bool:
    path = (place or "").rpartition(":")[0]
    return bool(path) and path not in known.tests


def _import_fault(result: NodeResult, known: KnownNames) -> str | None:
    message = result.message or ""
    missing = _MODULE.search(message)
    if missing:
        return _module_fault(missing[1], result, known)
    lacking = _NAME.search(message)
    if lacking and not _in_project(result.place, known):
        name, module = lacking.groups()
        if known.is_projects(module):
            return None
        return f"{module} has no {name}, and it is no module of this project: mend the import"
    return f"{message}: {_where(result.place)} cannot be imported as it stands"


def _module_fault(module: str, result: NodeResult, known: KnownNames) -> str | None:
    if known.is_projects(module):
        return known.ignored(module)
    if _in_project(result.place, known):
        return (
            f"{_where(result.place)} needs {module}, which is not installed: install it for the "
            "project's Python, or set TILTH_PYTHON to one that has it"
        )
    if known.names(module):
        return None
    if "." in module:
        return f"{module} does not exist, and {module.partition('.')[0]} is no part of this project"
    near = _near_miss(module, known)
    if near is not None:
        return (
            f"no module is called {module}: did you mean {near}? If the feature is to add it, name "
            "it in the task's description"
        )
    if module in known.outside:
        return (
            f"{module} is not installed: install it for the project's Python, or set TILTH_PYTHON "
            "to one that has it"
        )
    return (
        f"{module} is not installed, and neither the repository nor the plan names it: install it "
        "for the project's Python, or, if a task is to add it, name it in that task's description"
    )


def _near_miss(module: str, known: KnownNames) -> str | None:
    """Find the known module a name looks like a misspelling of; another number is none."""
    modules = (known.project | known.outside | _WELL_KNOWN) - {module}
    near = difflib.get_close_matches(module, modules, n=1, cutoff=_NEAR)
    return near[0] if near and _stem(near[0]) != _stem(module) else None


def _stem(module: str) -> str:
    return module.rstrip("0123456789_s").lower()


def _lacks(result: NodeResult, known: KnownNames) -> bool:
    """Tell whether it is a thing of the project that lacks the attribute."""
    if result.owner is not None:
        return result.owner not in known.tests
    return any(
        known.is_projects(module)
        for found in _MODULE_LACKS.findall(result.message or "")
        for module in found
        if module
    )


def _asks_more_of_the_project(message: str, known: KnownNames) -> bool:
    """Tell whether a function of the project does not take an argument yet."""
    called = _SIGNATURE.search(message)
    if called is None:
        return False
    names = [name for name in called[1].split(".") if name not in ("<locals>", "__init__")]
    return bool(names) and known.defines(names[-1])


def _where(place: str | None) -> str:
    return place or "the test"
