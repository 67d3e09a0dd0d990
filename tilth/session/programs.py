"""Programs: what one of the user's own says when it is asked a word, as for its version."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from tilth.base.errors import ToolError, UserError
from tilth.base.safe_text import one_line
from tilth.sandbox.confinement import Command, environment, run

_STARTING_S = 30.0
# Known among whatever the interpreter's own start may print.
_ANSWER = "tilth asks for pytest:"
_HAS_PYTEST = f"import importlib.util as u; print({_ANSWER!r}, u.find_spec('pytest') is not None)"


def said_by(argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Start a program that says one thing and ends; ToolError if it does not."""
    env = environment(environ, home=Path("/nonexistent"))
    command = Command(argv=argv, cwd=Path("/"), env=env, timeout_s=_STARTING_S)
    finished = run(command)
    lines = finished.output.strip().splitlines()
    if finished.exit_code != 0:
        raise ToolError(f"exit {finished.exit_code}: {(lines or ['it said nothing'])[-1]}")
    if not lines:
        raise ToolError(f"{argv[0]} said nothing")
    return "\n".join(lines)


def answer_of(python: Path, question: str, environ: Mapping[str, str]) -> str:
    """Give what an interpreter prints for a line of Python, whatever stands around it."""
    return said_by((str(python), "-I", "-B", "-c", question), environ)


def require_python(python: Path, environ: Mapping[str, str], *, pytest: bool) -> None:
    """Raise UserError where what the user named is no Python, or lacks a pytest it needs."""
    said = _said_of_pytest(python, environ.get("PATH", ""))
    if f"{_ANSWER} True" in said or (f"{_ANSWER} False" in said and not pytest):
        return
    why = "it has no pytest" if _ANSWER in said else said
    raise UserError(
        f"TILTH_PYTHON must be a Python{' that has pytest' if pytest else ''}, got {str(python)!r} "
        f"({one_line(why)}): name the project's own"
    )


@functools.cache
def _said_of_pytest(python: Path, path: str) -> str:
    try:
        return answer_of(python, _HAS_PYTEST, {"PATH": path})
    except ToolError as error:
        return str(error)
