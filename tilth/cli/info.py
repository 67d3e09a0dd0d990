"""`tilth info`."""

from __future__ import annotations

from typing import Annotated

from tilth.cli.options import AsJson, session_or


def info(
    session: Annotated[str | None, session_or("all sessions, in a table")] = None,
    as_json: AsJson = False,
) -> int:
    """List the sessions, or show one: tasks, verdicts, cost, caps.

    Example: tilth info latest
    """
    from tilth.show.info import info as show

    return show(session, as_json=as_json)
