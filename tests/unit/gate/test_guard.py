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
from tilth.gate.in_target.parts import changed, parts_of

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


def looked_at(watching: Guard, request: pytest.FixtureRequest) -> set[str]:
    """Give what a look at all of pytest names, but for the hooks of these tests themselves."""
    watching.look(request.config.pluginmanager)
    return {name for name in watching.replaced if not name.startswith("hook ")}


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
    places = {getattr(part.value, "__module__", "") for part in guard()._runner}
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


def test_all_of_pytest_stands_as_it_was_while_it_runs(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What legacypath puts into other classes is there by now: take it away, as before a start.
    monkeypatch.delattr("_pytest.nodes.Node.fspath")
    monkeypatch.delattr("_pytest.config.Config.rootdir")
    watching = guard()
    monkeypatch.undo()
    assert looked_at(watching, request) == set()


def test_a_part_of_pytest_is_named_wherever_it_was_swapped(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = guard()
    with monkeypatch.context() as patched:
        patched.setattr("_pytest.main.Session.perform_collect", lambda *_: [])
        patched.setattr("_pytest.pathlib.fnmatch_ex", lambda *_: True)
        patched.delattr("_pytest.tmpdir.TempPathFactory.mktemp")
        found = looked_at(watching, request)
    assert found == {
        "_pytest.main.Session.perform_collect",
        "_pytest.pathlib.fnmatch_ex",
        "_pytest.tmpdir.TempPathFactory.mktemp",
    }


def test_a_method_that_hides_one_of_a_class_above_is_named_and_a_new_name_is_not(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = guard()
    with monkeypatch.context() as patched:
        patched.setattr("_pytest.reports.CollectReport.passed", property(bool), raising=False)
        patched.setattr("_pytest.reports.CollectReport.anything", 1, raising=False)
        patched.setattr("_pytest.outcomes.new_function", lambda: None, raising=False)
        found = looked_at(watching, request)
    assert found == {"_pytest.reports.CollectReport.passed"}


def test_a_class_that_goes_by_the_name_of_another_does_not_hide_what_was_swapped_there(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching, own = guard(), importlib.import_module("_pytest.main").Session.perform_collect
    told = {"__module__": "_pytest.main", "__qualname__": "Session", "perform_collect": own}
    with monkeypatch.context() as patched:
        patched.setattr("_pytest.main.Session.perform_collect", lambda *_: [])
        patched.setattr("_pytest.main.Another", type("Another", (), told), raising=False)
        found = looked_at(watching, request)
    assert "_pytest.main.Session.perform_collect" in found


def test_a_module_of_pytest_that_another_stands_for_is_named_by_its_parts(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching, other = guard(), types.ModuleType("_pytest.stash")
    vars(other).update(vars(sys.modules["_pytest.stash"]))
    del vars(other)["StashKey"]
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "_pytest.stash", other)
        found = looked_at(watching, request)
    assert {"_pytest.stash.StashKey", "_pytest.stash.Stash.get"} <= found
    assert "_pytest.stash.Stash" not in found


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
    parts = list(parts_of("m", held))
    assert changed(parts) == []
    other = module()
    held.helper.__code__ = other.helper.__code__
    assert [part.name for part in changed(parts)] == ["m.helper"]
    held.Kit = other.Kit
    assert [part.name for part in changed(parts)] == ["m.helper", "m.Kit"]


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
