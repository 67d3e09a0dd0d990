"""Interpreters that know more syntax than the one that runs these tests: a real one, a made one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_START = """\
import ast, builtins, re, runpy, sys, tokenize
plain, made = ast.parse, builtins.compile
def known(text):
    text = text if isinstance(text, str) else bytes(text).decode()
    return re.sub('(?m)^let ', '', text)
def parse(text, *a, **k):
    return plain(known(text), *a, **k)
def compiled(source, *a, **k):
    text = isinstance(source, (str, bytes))
    return made(known(source) if text else source, *a, **k)
ast.parse = parse
builtins.compile = compiled
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
"""


@dataclass(frozen=True)
class Newer:
    """Hold a kind of interpreter: how to get one, and a line that only it can read."""

    line: str
    make: Callable[[Path], Path]


def newer_kinds() -> dict[str, Newer]:
    """Give a Python to come, and a real newer one where it is installed."""
    kinds = {"a Python to come": Newer("let KEPT = 1", _python_to_come)}
    if _found() is not None:
        kinds["a real one"] = Newer("type Kept = int", _real_python)
    return kinds


def _python_to_come(place: Path) -> Path:
    """Make an interpreter of a Python to come, which knows the statement `let`."""
    place.mkdir()
    (place / "newer.py").write_text(_START)
    python = place / "python"
    python.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} -I -B {place}/newer.py "$@"\n')
    python.chmod(0o755)
    return python


def _real_python(place: Path) -> Path:
    """Make a virtual environment that borrows pytest from the one that runs this test."""
    subprocess.run([str(_found()), "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin" / "python"


@cache
def _found() -> Path | None:
    # What it must know and we must not: the statement `type`.
    if sys.version_info >= (3, 12):
        return None
    return next((python for python in _candidates() if _knows_types(python)), None)


def _candidates() -> Iterator[Path]:
    for name in ("python3.12", "python3.13", "python3.14"):
        found = shutil.which(name)
        if found:
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob("versions/3.1[2-9].*/bin/python"))


def _knows_types(python: Path) -> bool:
    tried = subprocess.run([python, "-I", "-c", "import venv\ntype T = int"], capture_output=True)
    return tried.returncode == 0
