"""A run beside the command that starts it: the same command, in a process of its own.

It has no screen and a terminal session of its own. What it says before it works is passed on; from
then on nobody reads it, and a terminal that is closed is none of its business.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tilth.config.settings import Settings, load
from tilth.session.catalog import holder_of, list_sessions
from tilth.session.session import Session

_LOOK_EVERY_S = 0.1
_MOST_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Beside:
    """Name the session that works and its process, or give the exit code of what did not start."""

    session: str | None
    pid: int
    exit_code: int = 0


def start_beside(
    arguments: Sequence[str], environ: Mapping[str, str], tell: Callable[[str], None]
) -> Beside:
    """Start this program with these arguments, and wait until a session's log grows by it."""
    # A copy: reading the settings takes the keys out, and the other process needs them.
    settings = load({}, dict(environ))
    before = {name: _size(settings, name) for name in list_sessions(settings.sessions_dir)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tilth", *arguments],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    name = _wait_until_it_works(settings, process, before, tell)
    if name is None:
        return Beside(None, process.pid, process.wait())
    # How it ends stands in its log: nobody waits for it here.
    process.returncode = 0
    return Beside(name, process.pid)


def _size(settings: Settings, name: str) -> int:
    with suppress(OSError):
        return (settings.sessions_dir / name / "events.jsonl").stat().st_size
    return 0


def _wait_until_it_works(
    settings: Settings,
    process: subprocess.Popen[bytes],
    before: Mapping[str, int],
    tell: Callable[[str], None],
) -> str | None:
    said = process.stderr
    while said is not None:
        ended = process.poll() is not None
        if select.select([said], [], [], 0 if ended else _LOOK_EVERY_S)[0]:
            now = os.read(said.fileno(), _MOST_AT_ONCE)
            for line in now.decode("utf-8", "replace").splitlines():
                tell(line)
            if now:
                continue
        if ended:
            return None
        for name in list_sessions(settings.sessions_dir):
            grown = _size(settings, name) > before.get(name, 0)
            if grown and holder_of(Session.look(settings.sessions_dir, name)) == str(process.pid):
                return name
    return None
