"""How a command is confined: what it may see, what it may change, what it knows.

A confinement turns one command into another that runs it behind a wall; `run` runs either. It
never decides what is allowed: the caller says so in `Access`. Tools and validators take everything
they need to run a command from here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tilth.base.values import Value
from tilth.sandbox.runner import KEEP_BYTES, Command, Finished, run

__all__ = [
    "KEEP_BYTES",
    "Access",
    "Bind",
    "Command",
    "Confinement",
    "Finished",
    "Unconfined",
    "environment",
    "run",
]

_NO_CACHE = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "RUFF_NO_CACHE": "true",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
}
_NO_QUESTIONS = {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PAGER": "cat"}


class Bind(Value):
    """Show one path at the place of another."""

    source: Path
    target: Path
    writable: bool = False


class Access(Value):
    """Say what a confined command may reach. All paths are absolute.

    What is named nowhere is read-only. Where paths nest, the deepest one counts, so a hidden home
    can show an interpreter and a writable worktree can keep its `.git` read-only; on the very same
    path the stricter one counts: hidden, then readable, then writable. A bind counts at its target.
    What is `pinned` is readable as long as its target is the source itself, by no link but those
    that were there when the access was made: that is looked at anew for every command.
    """

    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    binds: tuple[Bind, ...] = ()
    pinned: tuple[Bind, ...] = ()
    network: bool = False


class Confinement(Protocol):
    """Wrap a command so that it reaches no further than its access.

    The wrapped command keeps the environment and the timeout, because the wall itself must not
    know more than what stands behind it. Its working directory is where the wall is started; the
    wall takes the command's own directory along.
    """

    @property
    def name(self) -> str: ...

    def wrap(self, command: Command, access: Access) -> Command: ...


class Unconfined:
    """Be no wall at all, where the user asked for none."""

    name = "off"

    def wrap(self, command: Command, access: Access) -> Command:
        return command


def environment(
    base: Mapping[str, str], *, home: Path, path_first: Path | None = None
) -> dict[str, str]:
    """Make the whole environment of a confined command; nothing else of `base` gets through."""
    # A relative entry on PATH would be looked up in the worktree, which is not trusted.
    entries = [
        entry
        for entry in base.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(entry) and entry != str(path_first)
    ]
    first = [] if path_first is None else [str(path_first)]
    return {
        "PATH": os.pathsep.join([*first, *entries]),
        "HOME": str(home),
        "LANG": base.get("LANG") or "C.UTF-8",
        "TERM": base.get("TERM") or "dumb",
        **_NO_CACHE,
        **_NO_QUESTIONS,
    }
