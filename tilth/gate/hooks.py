"""The hooks of a test run that are not pytest's own: what they may do to a test.

Reads the names that a run reports as interference. It judges no code: a hook that decides about
tests is only named, one that takes the place of running them is told apart. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

HOOK = "hook "
_NAMED = re.compile(rf"{HOOK}(pytest_\w+) of (.*) \(.*\)", re.DOTALL)
# Whoever implements one of these can let pytest's own run of a test be left out, and nothing that
# is reported afterwards tells. A fixture, or a plugin that is installed, serves every honest use.
_IN_PYTESTS_PLACE = frozenset(
    {"pytest_cmdline_main", "pytest_runtestloop", "pytest_runtest_protocol", "pytest_pyfunc_call"}
)
# What decides which tests there are, how each is run and what is told of it.
_DECIDING = (
    "pytest_assertion",
    "pytest_cmdline",
    "pytest_collect",
    "pytest_deselected",
    "pytest_exception_interact",
    "pytest_fixture",
    "pytest_generate_tests",
    "pytest_ignore_collect",
    "pytest_itemcollected",
    "pytest_make_collect_report",
    "pytest_pycollect",
    "pytest_pyfunc_call",
    "pytest_report_teststatus",
    "pytest_runtest",
    "pytest_sessionfinish",
)


def added_hooks(found: Iterable[str], before: Iterable[str]) -> tuple[str, ...]:
    """Give the hooks of a run, by name, that were not in force before."""
    known = frozenset(before)
    return tuple(name for name in found if name.startswith(HOOK) and name not in known)


def permitted_hooks(found: Iterable[str], before: Iterable[str]) -> tuple[str, ...]:
    """Give the hooks that a task which may change the gate's files may add.

    One that runs tests in pytest's place is among them only where the base has it already.
    """
    before = tuple(before)
    there = {_split(name) for name in before}
    return tuple(
        name for name in added_hooks(found, before) if not takes_over(name) or _split(name) in there
    )


def takes_over(name: str) -> bool:
    """Tell whether a hook can run tests in pytest's place."""
    return _split(name)[0] in _IN_PYTESTS_PLACE


def of_modules(names: Iterable[str]) -> tuple[str, ...]:
    """Name the modules of those hooks that a task could be allowed to add, each once."""
    split = (_split(name) for name in names if not takes_over(name))
    return tuple(dict.fromkeys(module for _, module in split if module))


def deciding(names: Iterable[str]) -> tuple[str, ...]:
    """Word those of the hooks that decide about tests, each with its module."""
    split = (_split(name) for name in names)
    told = (f"{hook} of {module}" for hook, module in split if hook.startswith(_DECIDING))
    return tuple(dict.fromkeys(told))


def _split(name: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(name)
    return (match[1], match[2]) if match else ("", "")
