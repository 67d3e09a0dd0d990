"""`tilth stop`."""

from __future__ import annotations

from typing import Annotated

from tilth.cli.options import session_or


def stop(session: Annotated[str | None, session_or("the running session")] = None) -> int:
    """Ask a running session to stop, and wait until it has.

    It stops between two steps, as after one Ctrl-C, and can be resumed.

    Example: tilth stop
    """
    from tilth.show.words import stop as stop_session

    return stop_session(session)
