"""Which interpreters commands may run on, and what of the disk each of them needs to be shown.

Three kinds are told apart by who named them. Tilth's own and one the user named may stand in a
hidden place, and what they need is shown there. One that a repository brings along (its `.venv`, or
one its setup made) names nothing: its own directory is used if the installation behind it can be
seen anyway, and otherwise it is no interpreter. It reads where things stand and runs nothing.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tilth.base.plain_file import open_plain
from tilth.base.values import Value

# What every command finds empty or made anew, whatever stands there outside.
COVERED = tuple(map(Path, ("/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys")))  # noqa: S108

_CONFIG = "pyvenv.cfg"
_MOST_CONFIG_BYTES = 64 * 1024
# What a Python installation consists of; whatever else stands beside it is not its own.
_PARTS = ("bin", "lib", "lib64", "include", "ssl")


class Interpreter(Value):
    """Hold a Python, what must be shown for it, and what to tell the user about the choice."""

    path: Path
    shown: tuple[Path, ...] = ()
    note: str | None = None


def own_places(hidden: Iterable[Path]) -> tuple[Path, ...]:
    """Name what Tilth's own interpreter needs."""
    closed = tuple(hidden)
    own = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable))
    return tuple(part for place in own for part in _narrowed(place, closed))


def named_places(python: Path, hidden: Iterable[Path]) -> tuple[Path, ...]:
    """Name what an interpreter needs that the user named: itself, its environment, its base.

    Of the base only the parts of an installation are shown, and only if it is one.
    """
    closed = tuple(hidden)
    bases = [Path(os.path.realpath(python)).parent.parent]
    venv = python.parent.parent
    shown = [python]
    if (venv / _CONFIG).is_file():
        shown += _narrowed(venv, closed)
        bases += [home.parent for home in _homes(venv / _CONFIG)]
    return (*shown, *(part for base in bases for part in _installation(base, closed)))


def fault_of(venv: Path, hidden: Iterable[Path]) -> str | None:
    """Say why a virtual environment that a repository brings cannot be used, or None."""
    python = venv / "bin" / "python"
    if not os.access(python, os.X_OK) or not os.path.isfile(python):
        return "it has no interpreter"
    for folder in (venv, venv / "bin"):
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return f"{folder} is a link"
    closed = (*hidden, *COVERED)
    real = Path(os.path.realpath(python))
    behind = [] if real.is_relative_to(os.path.realpath(venv)) else [real]
    behind += [home / real.name for home in _homes(venv / _CONFIG)]
    for place in behind:
        if not _is_seen(place, closed):
            return f"its interpreter stands in a hidden place ({place})"
    return None


def _is_seen(place: Path, closed: tuple[Path, ...]) -> bool:
    """Tell whether a command can see a place without its being shown for a repository's sake."""
    real = Path(os.path.realpath(place))
    if any(real.is_relative_to(os.path.realpath(own)) for own in own_places(closed)):
        return True
    return not any(_is_within(real, hidden) for hidden in closed)


def _is_within(real: Path, place: Path) -> bool:
    return real.is_relative_to(place) or real.is_relative_to(os.path.realpath(place))


def _homes(config: Path) -> Iterator[Path]:
    """Give the directories that a virtual environment's configuration names as its base's own."""
    try:
        if not stat.S_ISREG(os.lstat(config).st_mode):
            return
        with open_plain(config) as file:
            text = file.read(_MOST_CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "home" and os.path.isabs(value.strip()):
            yield Path(value.strip())


def _installation(base: Path, closed: tuple[Path, ...]) -> tuple[Path, ...]:
    """Name the parts of a Python installation; nothing if it is none."""
    libraries = [
        library
        for folder in ("lib", "lib64")
        for library in base.glob(f"{folder}/python3*")
        if (library / "os.py").is_file()
    ]
    if not libraries:
        return ()
    if _holds_more(base, closed):
        programs = [base / "bin" / library.name for library in libraries]
        return tuple(part for part in (*programs, *libraries) if part.exists())
    parts = (base / part for part in _PARTS)
    return tuple(part for part in parts if part.is_dir() and not part.is_symlink())


def _narrowed(prefix: Path, closed: tuple[Path, ...]) -> tuple[Path, ...]:
    """Show a whole installation, unless it is a home in which much else stands."""
    if _holds_more(prefix, closed):
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return (prefix / "bin" / version, prefix / "lib" / version)
    return (prefix,)


def _holds_more(prefix: Path, closed: tuple[Path, ...]) -> bool:
    homes = [part for home in closed for part in (home, home / ".local")]
    return any(home.is_relative_to(prefix) for home in homes)
