"""The pytest configuration of a project, as far as the gate keeps it.

pytest runs with the base's own configuration file and its `addopts`; which of its options count
is decided where they are parsed (`in_target/plugin.py`).

Plugins that are installed in the target's interpreter are loaded as the user's own pytest would,
except those that reorder, spread or decorate a run, and those that are slow to import and that
neither the tests, a conftest.py nor the configuration name. Pure: texts in, words out.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_ini, read_toml
from tilth.base.values import Value
from tilth.gate.steering import TESTS

_OWN_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SHARED = {
    "pyproject.toml": ("tool", "pytest"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
# pytest plugin -> a word that betrays its use; without one it is never wanted.
_KEPT_OUT: dict[str, str | None] = {
    "anyio": "anyio",
    "ddtrace": "ddtrace",
    "instafail": None,
    "langsmith_plugin": "langsmith",
    "pytest_cov": "no_cover",
    "pytest_pretty": None,
    "random_order": None,
    "randomly": None,
    "sugar": None,
    "xdist": "worker_id",
    "xdist.looponfail": None,
}


class PytestSetup(Value):
    """Hold the configuration file to name to pytest, and the words to put before the gate's own.

    With `selects`, those choose which of the project's tests run.
    `search_path` are directories of the repository that pytest adds, its root as "".
    """

    config: str | None = None
    options: tuple[str, ...] = ()
    selects: bool = False
    blocked: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()

    @property
    def adds_directories(self) -> bool:
        """Tell whether pytest makes modules of a directory of tests importable by their names."""
        modes = re.findall(r"--import-mode[= ](\S+)", " ".join(self.options))
        return modes[-1:] != ["importlib"]


def gate_setups(
    read: Callable[[str], bytes | None], arguments: Iterable[str]
) -> tuple[PytestSetup, ...]:
    """Give how the gate runs pytest: on files that it names, and on all of the project's tests.

    `arguments` are what the owner of the project says to give to pytest for the latter.
    """
    suite = pytest_setup(read, (), selects=True)
    given = suite.model_copy(update={"options": (*suite.options, *arguments)})
    return pytest_setup(read, ()), given


def pytest_setup(
    read: Callable[[str], bytes | None], tests: Iterable[str], *, selects: bool = False
) -> PytestSetup:
    """Find the configuration pytest would take, by pytest's own order; `read` gives the base's.

    With `selects`, options stay that choose which of the project's tests run.
    """
    named = [*tests, *(_text(read(path)) for path in ("conftest.py", f"{TESTS}/conftest.py"))]
    for directory in ("",) if selects else (f"{TESTS}/", ""):
        for name in (*_OWN_FILES, *_SHARED):
            content = read(directory + name)
            table = None if content is None else _table(name, content)
            if table is not None:
                blocked = _blocked([*named, _text(content)])
                options = _words(table.get("addopts"))
                said = [word.partition("pythonpath=")[2] for word in options]
                paths = [table.get("pythonpath"), *filter(None, said)][-1]
                return PytestSetup(
                    config=directory + name,
                    options=tuple(options),
                    selects=selects,
                    blocked=blocked,
                    search_path=_search_path(directory, _words(paths)),
                )
    return PytestSetup(selects=selects, blocked=_blocked(named))


def _table(name: str, content: bytes) -> dict[str, Any] | None:
    """Give the pytest options of a configuration file; None when it holds none."""
    try:
        if name.endswith(".toml"):
            return _toml_table(name, read_toml(content))
        parser = read_ini(content)
    except BadText:
        # Only a file that is pytest's alone counts unread: pytest itself says what is wrong.
        return {} if name in _OWN_FILES else None
    [section] = _SHARED.get(name, ("pytest",))
    if parser.has_section(section):
        return dict(parser[section])
    return {} if name in _OWN_FILES else None


def _toml_table(name: str, document: dict[str, Any]) -> dict[str, Any] | None:
    own = name in _OWN_FILES
    above = document if own else document.get("tool")
    table = above.get("pytest") if isinstance(above, dict) else None
    if not isinstance(table, dict):
        return {} if own else None
    ini = table.get("ini_options")
    return table if own or not isinstance(ini, dict) else ini


def _words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(word) for word in value]
    try:
        return shlex.split(value) if isinstance(value, str) else []
    except ValueError:
        return []


def _search_path(directory: str, words: list[str]) -> tuple[str, ...]:
    """Give the directories that pytest adds, which it reads from where its configuration stands."""
    paths = (posixpath.normpath(posixpath.join(directory, word)) for word in words)
    inside = (path for path in paths if path != ".." and not path.startswith(("/", "../")))
    return tuple("" if path == "." else path for path in inside)


def _blocked(texts: Iterable[str]) -> tuple[str, ...]:
    everything = "\n".join(texts)
    return tuple(name for name, word in _KEPT_OUT.items() if word is None or word not in everything)


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")
