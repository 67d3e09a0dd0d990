"""`--detach`: a run or resume started without a screen, beside the command that starts it.

It is the same command in a process and terminal session of its own. What it says before it works is
passed on; from then on nobody reads it, and a terminal that is closed is none of its business.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress

from tilth.config.secrets import Mask
from tilth.config.settings import Settings, load
from tilth.contract.outcomes import ExitCode
from tilth.session.catalog import holder_of, list_sessions
from tilth.session.session import Session
from tilth.show.notices import tell
from tilth.show.tables import Page

FLAG = "--detach"
_LOOK_EVERY_S = 0.1
_MOST_AT_ONCE = 1 << 16


def detach(
    arguments: Sequence[str] | None = None, *, environ: MutableMapping[str, str] = os.environ
) -> int:
    """Start this very command without a screen, and say how to watch and stop it."""
    asked = sys.argv[1:] if arguments is None else arguments
    # A copy: reading the settings takes the keys out, and the other process needs them.
    settings = load({}, dict(environ))
    before = _logs(settings)
    process = subprocess.Popen(
        [sys.executable, "-m", "tilth", *(word for word in asked if word != FLAG)],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    name = _wait_until_it_works(settings, process, before)
    if name is None:
        return process.wait()
    page = Page.out(environ, Mask())
    page.line(f"session {name} runs in the background (process {process.pid})")
    page.line(f"watch it  tilth events {name} --follow")
    page.line(f"stop it   tilth stop {name}")
    # How it ends stands in its log: nobody waits for it here.
    process.returncode = ExitCode.DONE
    return ExitCode.DONE


def _logs(settings: Settings) -> dict[str, int]:
    return {name: _size(settings, name) for name in list_sessions(settings.sessions_dir)}


def _size(settings: Settings, name: str) -> int:
    with suppress(OSError):
        return (settings.sessions_dir / name / "events.jsonl").stat().st_size
    return 0


def _wait_until_it_works(
    settings: Settings, process: subprocess.Popen[bytes], before: Mapping[str, int]
) -> str | None:
    """Pass on what it says until its session's log grows; None if it ended before."""
    said = process.stderr
    while said is not None:
        ended = process.poll() is not None
        if select.select([said], [], [], 0 if ended else _LOOK_EVERY_S)[0]:
            said_now = os.read(said.fileno(), _MOST_AT_ONCE).decode("utf-8", "replace")
            for line in said_now.splitlines():
                tell(line)
            if said_now:
                continue
        if ended:
            return None
        for name in list_sessions(settings.sessions_dir):
            grown = _size(settings, name) > before.get(name, 0)
            if grown and holder_of(Session.look(settings.sessions_dir, name)) == str(process.pid):
                return name
    return None
