"""Configuration that several share: mended sections, and what of pytest's options is kept."""

from __future__ import annotations

import tomllib

import pytest

from tilth.base.errors import BadText
from tilth.gate.config_sections import mended
from tilth.gate.pytest_config import pytest_setup
from tilth.gate.steering import (
    SECTIONS,
    WHOLE,
    is_beside_tests,
    is_test_file,
    makes_package_of_tests,
    steers,
)

BASE = """\
[project]
name = "old"
[tool.ruff]
line-length = 100
[tool.pytest.ini_options]
addopts = "-q"
"""
WORKER = """\
[project]
name = "new"
dates = [2026-01-02, 03:04:05, 2026-01-02T03:04:05Z]
odd = "tab\\t, quote \\", \\u007f, é"
numbers = [1, -1.5, inf, nan, true]
"a key.with dots" = { x = [] }
[[project.tables]]
a = 1
[tool.ruff]
line-length = 300
[tool.coverage.run]
omit = ["*"]
[tool.poetry]
x = 1
"""


def test_only_the_tools_sections_of_pyproject_come_from_the_base() -> None:
    content = mended("pyproject.toml", BASE.encode(), WORKER.encode())
    assert content is not None
    found, base, worker = (tomllib.loads(t) for t in (content.decode(), BASE, WORKER))
    assert found["tool"] == {"poetry": {"x": 1}, **base["tool"]}
    assert repr(found["project"]) == repr(worker["project"])


def test_a_pyproject_whose_sections_are_the_same_needs_no_mending() -> None:
    assert mended("pyproject.toml", BASE.encode(), BASE.replace("old", "new").encode()) is None
    assert mended("pyproject.toml", None, b'[project]\nname = "x"\n') is None


def test_a_deleted_pyproject_keeps_its_sections() -> None:
    content = mended("pyproject.toml", BASE.encode(), None)
    assert content is not None
    assert list(tomllib.loads(content.decode())) == ["tool"]


def test_only_the_tools_sections_of_an_ini_file_come_from_the_base() -> None:
    base = b"[tool:pytest]\naddopts = -q\n  --strict\n[metadata]\nname = old\n"
    worker = b"[metadata]\nname = new\n[tool:pytest]\naddopts = -k no\n[coverage:run]\nomit = *\n"
    content = mended("setup.cfg", base, worker)
    assert content is not None
    text = content.decode()
    assert "name = new" in text
    assert "-k no" not in text
    assert "--strict" in text
    assert "coverage" not in text
    assert mended("setup.cfg", base, base.replace(b"old", b"new")) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", b"[tool"),
        ("pyproject.toml", b"\xff"),
        ("pyproject.toml", b"a = " + b"1" * 6_000),
        ("setup.cfg", b"no section\n"),
        ("setup.cfg", b"[pytest]\nname\n  more\n"),
    ],
)
def test_a_file_that_cannot_be_read_says_so(name: str, content: bytes) -> None:
    with pytest.raises(BadText):
        mended(name, None, content)


def test_pytest_is_told_the_configuration_it_would_have_found_itself() -> None:
    files = {
        "pyproject.toml": b'[project]\nname = "x"\n',
        "tox.ini": b"[tox]\n",
        "setup.cfg": b"[tool:pytest]\naddopts = -v\n",
    }
    assert pytest_setup(files.get, []).config == "setup.cfg"
    files["tox.ini"] = b"[pytest]\n"
    assert pytest_setup(files.get, []).config == "tox.ini"
    files["pyproject.toml"] = b'[tool.pytest.ini_options]\naddopts = ["-v", "-x"]\n'
    assert pytest_setup(files.get, []).config == "pyproject.toml"
    assert pytest_setup(files.get, []).options == ("-v", "-x")
    files["tests/pytest.ini"] = b""
    assert pytest_setup(files.get, []).config == "tests/pytest.ini"


def test_pytest_needs_no_configuration() -> None:
    assert pytest_setup({}.get, []).config is None


def test_a_slow_plugin_is_kept_out_until_something_names_it() -> None:
    assert "anyio" in pytest_setup({}.get, ["def test(): pass"]).blocked
    assert "anyio" not in pytest_setup({}.get, ["@pytest.mark.anyio"]).blocked
    assert "anyio" not in pytest_setup({"tests/conftest.py": b"anyio"}.get, []).blocked
    assert "asyncio" not in pytest_setup({}.get, []).blocked
    assert "randomly" in pytest_setup({}.get, ["randomly"]).blocked


@pytest.mark.parametrize(
    ("path", "test", "beside", "package"),
    [
        ("tests/test_a.py", True, True, False),
        ("src/a_test.py", True, False, False),
        ("tests/a.py", False, True, False),
        ("test_a.txt", False, False, False),
        ("testsuite/x.py", False, False, False),
        ("tests/__init__.py", False, True, True),
        ("tests/b/__init__.cpython-311.so", False, True, True),
        ("tests/__init__.md", False, True, False),
        ("tests/x__init__.py", False, True, False),
        ("a/__init__.py", False, False, False),
    ],
)
def test_a_path_says_whether_it_is_a_test_beside_tests_or_makes_a_package(
    path: str, test: bool, beside: bool, package: bool
) -> None:
    makes = makes_package_of_tests(path, {path.rpartition("/")[0]})
    found = (is_test_file(path), is_beside_tests(path), makes)
    assert found == (test, beside, package)


def test_only_the_sections_of_shared_files_steer_and_whole_files_as_a_whole() -> None:
    assert steers("a/pyproject.toml") is steers("setup.cfg") is steers("tox.ini") is SECTIONS
    assert steers("x/conftest.py") is steers("a.pth") is WHOLE
    assert steers("conftest.md") is steers("src/calc.py") is None


def test_a_plugin_that_reorders_spreads_or_decorates_is_kept_out() -> None:
    assert pytest_setup({}.get, ["no_cover worker_id anyio ddtrace langsmith"]).blocked == (
        "instafail",
        "pytest_pretty",
        "random_order",
        "randomly",
        "sugar",
        "xdist.looponfail",
    )
    unnamed = set(pytest_setup({}.get, []).blocked)
    assert {"anyio", "ddtrace", "langsmith_plugin", "pytest_cov", "xdist"} <= unnamed


def test_a_configuration_that_says_a_thing_twice_is_read() -> None:
    files = {"pytest.ini": b"[pytest]\naddopts = -q\naddopts = -v\nxfail_strict\n"}
    assert pytest_setup(files.get, []).options == ("-v",)


def test_values_of_every_kind_survive_the_mending() -> None:
    found = b"[project]\nno = false\nyes = true\n[tool.ruff]\nx = 1\n"
    content = mended("pyproject.toml", None, found)
    assert content is not None
    assert tomllib.loads(content.decode())["project"] == {"no": False, "yes": True}
    ini = mended("setup.cfg", b"[tool:pytest]\nstrict\n", b"[DEFAULT]\na = 1\n[metadata]\nbare\n")
    assert ini is not None
    assert " ".join(ini.decode().split()) == "[DEFAULT] a = 1 [metadata] bare [tool:pytest] strict"
