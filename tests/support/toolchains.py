"""The toolchains of other languages: where they are, and which examples are left out without."""

from __future__ import annotations

import shutil
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
_PROGRAMS = {"javascript": "node", "go": "go"}


def present() -> list[str]:
    """Name the examples whose toolchain is here."""
    return [name for name, program in _PROGRAMS.items() if shutil.which(program)]


def left_out() -> str:
    """Name the examples that are not run, and why; nothing if all are."""
    missing = [f"{name} (no {_PROGRAMS[name]})" for name in _PROGRAMS if name not in present()]
    return f"LEFT OUT: examples/{', examples/'.join(missing)}" if missing else ""


def path_with(example: str) -> str:
    """Give a PATH that has the example's toolchain on it."""
    found = shutil.which(_PROGRAMS[example])
    places = [str(Path(found).parent)] if found else []
    return ":".join([*places, "/usr/local/bin", "/usr/bin", "/bin"])
