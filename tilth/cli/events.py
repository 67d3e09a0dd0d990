"""`tilth events`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import session_or


def events(
    session: Annotated[str, session_or(True)] = "latest",
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Go on as the log grows, until the session stops."),
    ] = False,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="T", help="Only events of this type; may be repeated."),
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", metavar="TASK", help="Only events of this task.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the lines as they are kept.")] = False,
    digest: Annotated[
        bool,
        typer.Option("--digest", help="Print the whole record as one compact text, for an agent."),
    ] = False,
) -> int:
    """Print the event log, one line an event.

    Example: tilth events latest --follow --type evaluator_verdict
    """
    from tilth.base.errors import UserError
    from tilth.show.events import events as print_events
    from tilth.show.events import print_digest

    if digest:
        if follow or raw or types or task:
            raise UserError("--digest tells the whole session: give it alone")
        return print_digest(session)
    return print_events(session, types=types or (), task_id=task, follow=follow, raw=raw)
