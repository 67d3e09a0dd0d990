"""What worker, validators and setup commands may reach: the policy, as values of `Access`.

Homes, sessions, Tilth's home and the source checkout are hidden; what a run needs of them is shown
again: the worktree, what git reads of the repository, the interpreters and tools in use. Nothing is
shown because a file of the repository names it. It reads where things stand and decides; no wall is
built here.

A `.venv` that setup makes stands in `setup/venv` of the session and is bound over the worktree's
`.venv`: writable while setup runs, read-only afterwards. So its scripts hold the worktree's path,
its interpreter can be named outside the worktree, and no worker can change it.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.sandbox import forbidden
from tilth.sandbox.confinement import Access, Bind
from tilth.sandbox.interpreters import own_places

_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/lib", "/etc", "/dev", "/proc", "/tmp")))  # noqa: S108
_HOMES_OF_OTHERS = (Path("/home"), Path("/root"))
_TOOLS_IN_HOMES = Path("/home/linuxbrew/.linuxbrew")
# Not config, hooks, logs, modules and what other programs keep there: tokens and keys are among it.
_READ_BY_GIT = ("HEAD", "objects", "refs", "packed-refs", "reftable", "info", "shallow")


@dataclass(frozen=True)
class Policy:
    """Hold where everything stands that a run needs, and everything it must not see.

    `shown` is what the interpreter needs, `stores` are object stores that Tilth itself made the
    repository borrow from, `registration` is the worktree's place in the git directory, and
    `git_config` a configuration that holds nothing to hide.
    """

    hidden: tuple[Path, ...]
    source: Path
    git_dir: Path
    workspace: Path
    setup: Path
    home: Path
    python: Path
    shown: tuple[Path, ...] = ()
    programs: tuple[Path, ...] = ()
    stores: tuple[Path, ...] = ()
    registration: Path | None = None
    git_config: Path | None = None
    network: bool = False
    # Files that git ignores and that the worker is given: to be read, never to be changed.
    carried: tuple[Path, ...] = ()

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
            readable=(*self._own_git(), *self._programs(), self.setup_home, *self.carried),
            pinned=self._read_by_git(),
            hidden=self._hidden(),
            binds=(*self._clean_config(), *self._made_venv(), *self._in_the_sources_place()),
            network=self.network,
        )

    def gate(self) -> Access:
        """Say what validators may reach beside the export, which they bring along themselves."""
        return Access(
            readable=(*self._programs(), self.setup_home),
            hidden=(*self.hidden, *_hideable([self.git_dir])),
            binds=self._made_venv(),
            network=self.network,
        )

    def for_setup(self) -> Access:
        """Say what setup commands may reach: the same as the worker, with a writable `.venv`."""
        return Access(
            writable=(self.workspace, self.setup_home),
            readable=(*self._own_git(), *self._programs()),
            pinned=self._read_by_git(),
            hidden=self._hidden(),
            binds=(
                *self._clean_config(),
                Bind(source=self.venv, target=self.workspace / ".venv", writable=True),
            ),
            network=self.network,
        )

    def _hidden(self) -> tuple[Path, ...]:
        return (*self.hidden, *_hideable([self.source, self.git_dir]))

    def _own_git(self) -> tuple[Path, ...]:
        return (self.workspace / ".git", *self.stores)

    def _read_by_git(self) -> tuple[Bind, ...]:
        """Name what git reads of a repository; all else in its directory stays hidden.

        A link in there could lead anywhere, so none is followed, whenever it is put there.
        """
        parts = [self.git_dir / name for name in _READ_BY_GIT]
        parts += [] if self.registration is None else [self.registration]
        given, real = str(self.git_dir), os.path.realpath(self.git_dir)
        return tuple(
            Bind(source=Path(real, os.path.relpath(part, given)), target=part) for part in parts
        )

    def _clean_config(self) -> tuple[Bind, ...]:
        if self.git_config is None:
            return ()
        return (Bind(source=self.git_config, target=self.git_dir / "config"),)

    def _programs(self) -> tuple[Path, ...]:
        return (*own_places(self.hidden), *self.shown, *self.programs)

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
            if entry.name not in (".git", ".venv")
            and not entry.is_symlink()
            and not (self.source / entry.name).is_symlink()
        )


def has_interpreter(venv: Path) -> bool:
    """Tell whether a virtual environment stands there; its link may lead to a hidden place."""
    return os.path.lexists(venv / "bin" / "python")


def hidden_places(
    environ: Mapping[str, str], *more: Path, confined: bool = True
) -> tuple[Path, ...]:
    """Name what no command may see: homes, the given directories, what root alone can read.

    Where commands are not confined, all that only a sandbox could hide is not looked for.
    """
    euid = os.geteuid()
    homes = [Path(environ["HOME"])] if os.path.isabs(environ.get("HOME", "")) else []
    homes += [Path(pwd.getpwuid(euid).pw_dir)] if _is_listed(euid) else []
    others = _HOMES_OF_OTHERS if euid == 0 else ()
    private = forbidden.root_only(euid=euid) if confined else ()
    return (*_hideable([*homes, *others, *more]), *private)


def tool_places(*programs: Path | None) -> tuple[Path, ...]:
    """Name the tools to show wherever they stand."""
    return (*(program for program in programs if program is not None), _TOOLS_IN_HOMES)


def _hideable(places: Iterable[Path]) -> tuple[Path, ...]:
    """Leave out a place without which nothing would run; a home can be `/`."""
    return tuple(
        place for place in places if not any(system.is_relative_to(place) for system in _SYSTEM)
    )


def _is_listed(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
