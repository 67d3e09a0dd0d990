"""What worker, validators and setup commands may reach: the policy, as values of `Access`.

Homes, sessions, Tilth's home and the source checkout are hidden; what a run needs of them is shown
again: the worktree, the repository's git directory, the interpreters and tools in use. It reads
where things stand and decides; no wall is built here.

A `.venv` that setup makes stands in `setup/venv` of the session and is bound over the worktree's
`.venv`: writable while setup runs, read-only afterwards. So its scripts hold the worktree's path,
its interpreter can be named outside the worktree, and no worker can change it.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.confinement import unsafe
from tilth.sandbox import Access, Bind

_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/lib", "/etc", "/dev", "/proc", "/tmp")))  # noqa: S108
_HOMES_OF_OTHERS = (Path("/home"), Path("/root"))
_TOOLS_IN_HOMES = Path("/home/linuxbrew/.linuxbrew")


@dataclass(frozen=True)
class Premises:
    """Hold where everything stands that a run needs, and everything it must not see."""

    hidden: tuple[Path, ...]
    source: Path
    git_dir: Path
    workspace: Path
    setup: Path
    home: Path
    python: Path
    programs: tuple[Path, ...] = ()
    network: bool = False

    @property
    def venv(self) -> Path:
        return self.setup / "venv"

    @property
    def setup_home(self) -> Path:
        return self.setup / "home"

    def worker(self) -> Access:
        """Say what the worker's commands may reach."""
        return Access(
            writable=(self.workspace, self.home),
            readable=(*self._git(), *self._programs(), self.setup_home),
            hidden=(*self.hidden, *_hideable([self.source])),
            binds=(*self._made_venv(), *self._in_the_sources_place()),
            network=self.network,
        )

    def gate(self) -> Access:
        """Say what validators may reach beside the export, which they bring along themselves."""
        return Access(
            readable=(*self._programs(), self.setup_home),
            hidden=self.hidden,
            binds=self._made_venv(),
            network=self.network,
        )

    def preparation(self) -> Access:
        """Say what setup commands may reach: the same as the worker, with network and `.venv`."""
        return Access(
            writable=(self.workspace, self.setup_home),
            readable=(*self._git(), *self._programs()),
            hidden=(*self.hidden, *_hideable([self.source])),
            binds=(Bind(source=self.venv, target=self.workspace / ".venv", writable=True),),
            network=True,
        )

    def _git(self) -> tuple[Path, ...]:
        return (self.workspace / ".git", self.git_dir, *_alternates(self.git_dir))

    def _programs(self) -> tuple[Path, ...]:
        own = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable))
        narrowed = (part for place in own for part in _narrowed(place, self.hidden))
        return (*narrowed, *interpreter_places(self.python, self.hidden), *self.programs)

    def _made_venv(self) -> tuple[Bind, ...]:
        if not has_interpreter(self.venv):
            return ()
        # Twice the same: the interpreter is named by the first, scripts in it by the second.
        return (
            Bind(source=self.venv, target=self.venv),
            Bind(source=self.venv, target=self.workspace / ".venv"),
        )

    def _in_the_sources_place(self) -> tuple[Bind, ...]:
        """Let an editable install that points at the source checkout find the worktree's files."""
        if self.python == Path(sys.executable) or not self.workspace.is_dir():
            return ()
        entries = sorted(os.scandir(self.workspace), key=lambda entry: entry.name)
        return tuple(
            Bind(source=Path(entry.path), target=self.source / entry.name)
            for entry in entries
            if entry.name not in (".git", ".venv") and not entry.is_symlink()
        )


def has_interpreter(venv: Path) -> bool:
    """Tell whether a virtual environment stands there; its link may lead to a hidden place."""
    return os.path.lexists(venv / "bin" / "python")


def hidden_places(environ: Mapping[str, str], *more: Path) -> tuple[Path, ...]:
    """Name what no command may see: homes, the given directories, what root alone can read."""
    euid = os.geteuid()
    homes = [Path(environ["HOME"])] if os.path.isabs(environ.get("HOME", "")) else []
    homes += [Path(pwd.getpwuid(euid).pw_dir)] if _is_listed(euid) else []
    others = _HOMES_OF_OTHERS if euid == 0 else ()
    return (*_hideable([*homes, *others, *more]), *unsafe.root_only(euid=euid))


def tool_places(*programs: Path | None) -> tuple[Path, ...]:
    """Name the tools to show wherever they stand."""
    return (*(program for program in programs if program is not None), _TOOLS_IN_HOMES)


def interpreter_places(python: Path, hidden: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Name what an interpreter needs: itself, its environment and the installation behind it."""
    venv = python.parent.parent
    roots = [Path(os.path.realpath(python)).parent.parent]
    if (venv / "pyvenv.cfg").is_file():
        roots += [venv, *_bases(venv / "pyvenv.cfg")]
    return (python, *(part for root in roots for part in _narrowed(root, tuple(hidden))))


def _bases(config: Path) -> Iterator[Path]:
    for line in config.read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and os.path.isabs(value.strip()):
            yield Path(value.strip()).parent


def _narrowed(prefix: Path, hidden: Iterable[Path]) -> tuple[Path, ...]:
    """Show a whole installation, unless it is a home in which much else stands."""
    homes = [part for home in hidden for part in (home, home / ".local")]
    if any(home.is_relative_to(prefix) for home in homes):
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return (prefix / "bin" / version, prefix / "lib" / version)
    return (prefix,)


def _hideable(places: Iterable[Path]) -> tuple[Path, ...]:
    """Leave out a place without which nothing would run; a home can be `/`."""
    return tuple(
        place for place in places if not any(system.is_relative_to(place) for system in _SYSTEM)
    )


def _alternates(git_dir: Path) -> tuple[Path, ...]:
    """Name the object stores a repository borrows from, which git must be able to read."""
    found: list[Path] = []
    waiting = [git_dir / "objects"]
    while waiting:
        listed = waiting.pop() / "info" / "alternates"
        lines = listed.read_text("utf-8", "replace").splitlines() if listed.is_file() else []
        for line in lines:
            store = Path(os.path.normpath(listed.parent.parent / line))
            if line and not line.startswith("#") and store not in found:
                found.append(store)
                waiting.append(store)
    return tuple(found)


def _is_listed(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
