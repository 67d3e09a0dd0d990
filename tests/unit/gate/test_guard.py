"""The guard beside the code under test: whatever was swapped is named."""

from __future__ import annotations

import importlib
import sys
import types
from types import SimpleNamespace
from typing import Any

import pytest

from tilth.gate.in_target.guard import Guard
from tilth.gate.in_target.held_modules import HeldModules
from tilth.gate.in_target.parts import is_changed, pieces, placed

HELPERS = """\
import json


def helper():
    return 1


class Kit:
    def method(self):
        return 1

    @classmethod
    def made(cls):
        return cls()

    @property
    def known(self):
        return 1
"""


def module(name: str = "helpers_of_a_test") -> Any:
    made = types.ModuleType(name)
    exec(compile(HELPERS, "/export/tests/helpers.py", "exec"), vars(made))
    return made


def guard(*library: str) -> Guard:
    held = SimpleNamespace(modules=HeldModules(lambda _: None), codes={})
    return Guard(held, library)  # type: ignore[arg-type]


# One part of each module that runs and tells a single test.
RUNNER = [
    ("_pytest.runner", "call_and_report"),
    ("_pytest.reports", "TestReport.from_item_and_call"),
    ("_pytest.python", "Function.runtest"),
    (pytest.approx.__module__, "approx"),
    (pytest.approx.__module__, "ApproxScalar.__eq__"),
    (pytest.raises.__module__, "raises"),
    (pytest.warns.__module__, "WarningsChecker.__exit__"),
    ("_pytest.skipping", "evaluate_skip_marks"),
    ("_pytest.outcomes", "OutcomeException.__init__"),
    ("_pytest.unittest", "TestCaseFunction.runtest"),
    ("_pytest.assertion", "pytest_sessionfinish"),
    ("_pytest._code.code", "ExceptionInfo.match"),
    ("pluggy", "PluginManager"),
    ("unittest.case", "TestCase.assertEqual"),
]


@pytest.mark.parametrize("name", ["approx", "raises", "warns", "skip", "fail", "deprecated_call"])
def test_wherever_pytest_keeps_what_tests_are_judged_by_it_is_watched(name: str) -> None:
    # Modules of pytest move from version to version; one that is not watched is a hole.
    places = {getattr(part.value, "__module__", "") for *_, part in guard()._runner}
    assert getattr(pytest, name).__module__ in places


@pytest.mark.parametrize(("place", "name"), RUNNER)
def test_a_part_of_the_runner_that_was_swapped_is_named_and_an_untouched_one_is_not(
    monkeypatch: pytest.MonkeyPatch, place: str, name: str
) -> None:
    watching = guard()
    watching.look_at_runner()
    assert watching.replaced == set()
    owner: Any = importlib.import_module(place)
    *path, attribute = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    with monkeypatch.context() as patched:
        patched.setattr(owner, attribute, lambda *_a, **_k: None)
        watching.look_at_runner()
    assert f"{place}.{name}" in watching.replaced


def test_the_librarys_parts_that_tests_use_are_held_and_those_below_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching = guard("json", "math", "this", "no_such_module")
    with monkeypatch.context() as patched:
        patched.setattr("json.loads", lambda _: 1)
        patched.setattr("json.decoder.JSONDecoder.decode", lambda *_: 1)
        patched.setattr("math.isclose", lambda *_: True)
        watching.look_between_tests()
    assert watching.replaced == {
        "json.loads",
        "json.decoder.JSONDecoder.decode",
        "math.isclose",
    }
    assert "this" not in sys.modules


@pytest.mark.parametrize("setter", [sys.settrace, sys.setprofile])
def test_a_tracer_is_named(setter: Any) -> None:
    watching = guard()
    before = sys.gettrace(), sys.getprofile()
    setter(lambda *_: None)
    try:
        watching.look_for_tracers()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    assert watching.replaced == {"sys.settrace"}


def test_a_part_is_another_if_it_or_its_code_was_exchanged() -> None:
    held = module()
    parts = {name: (owner, at, part) for name, owner, at, part in placed(pieces({"m": held}))}
    assert not any(is_changed(*each) for each in parts.values())
    other = module()
    held.helper.__code__ = other.helper.__code__
    assert is_changed(*parts["m.helper"])
    held.Kit = other.Kit
    assert is_changed(*parts["m.Kit"])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda held, other: setattr(held, "helper", other.helper), "tests/h.py.helper"),
        (lambda held, other: delattr(held, "helper"), "tests/h.py.helper"),
        (lambda held, other: setattr(held, "json", other), "tests/h.py.json"),
        (lambda held, other: setattr(held.Kit, "method", print), "tests/h.py.Kit.method"),
        (lambda held, other: setattr(held.Kit, "made", print), "tests/h.py.Kit.made"),
        (lambda held, other: setattr(held.Kit, "known", 1), "tests/h.py.Kit.known"),
    ],
)
def test_whatever_is_swapped_in_a_held_module_is_named(change: Any, named: str) -> None:
    modules, held = HeldModules(lambda _: None), module()
    modules.take("tests/h.py", held)
    assert list(modules.replaced()) == []
    change(held, module())
    assert list(modules.replaced()) == [named]


def test_a_module_that_stands_in_for_a_held_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/export/tests", "/elsewhere"])
    modules = HeldModules(lambda path: path[8:] if path.startswith("/export/") else None)
    modules.expect("tests/pkg_of_a_test/__init__.py")
    modules.expect("other/helpers_of_a_test.py")
    assert list(modules.replaced()) == []
    for name in ("pkg_of_a_test", "helpers_of_a_test"):
        monkeypatch.setitem(sys.modules, name, module(name))
    said = "tests/pkg_of_a_test/__init__.py, for which another module pkg_of_a_test stands"
    assert list(modules.replaced()) == [said]


def test_a_fixture_of_a_held_file_must_be_code_of_a_held_file() -> None:
    made = module()
    modules = HeldModules(lambda path: path if path.startswith("/export/") else None)
    modules.take("tests/conftest.py", made)
    fixture = SimpleNamespace(func=made.helper, baseid="tests")
    foreign = SimpleNamespace(func=guard, baseid="tests")
    elsewhere = SimpleNamespace(func=made.helper, baseid="other")
    asked = {"data": [fixture, foreign], "more": [elsewhere]}
    info = SimpleNamespace(name2fixturedefs=asked)
    modules.take_fixtures([SimpleNamespace(_fixtureinfo=info), SimpleNamespace()])
    assert list(modules.other_fixtures(set())) == ["the fixture data of tests"]
    assert list(modules.other_fixtures({id(made.helper.__code__)})) == []
