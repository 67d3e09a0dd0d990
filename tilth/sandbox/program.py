"""A program of the user's own, given one text and ended in time, with all it has started.

For what the user configured, never for what a model or a repository asks for: it is not confined.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

_OURS = ("TILTH_", "ANTHROPIC_")


def give(
    argv: Sequence[str], text: str, *, timeout_s: float, environ: Mapping[str, str]
) -> str | None:
    """Run a program with a text on stdin; gives what went wrong, if anything did."""
    own = {name: value for name, value in environ.items() if not name.startswith(_OURS)}
    try:
        started = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=own,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"it could not be started: {getattr(error, 'strerror', None) or error}"
    try:
        _, said = started.communicate(text.encode("utf-8", "backslashreplace"), timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return f"it did not finish within {timeout_s:g} seconds and was ended"
    finally:
        _end(started)
    if started.returncode == 0:
        return None
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return f"exit {started.returncode}" + (f": {lines[-1][:200]}" if lines else "")


def _end(started: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    for stream in (started.stdin, started.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    started.wait()
