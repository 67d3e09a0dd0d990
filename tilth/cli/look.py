"""The commands that look: info, show, events, config, doctor, init, and bare `tilth`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tilth.cli.edge import guarded

_ID_HELP = "A session id, a unique prefix of one, or `latest`."

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def _printed(body: Callable[[], int]) -> NoReturn:
    """Run a body that prints a result; a reader who went away is noticed before we leave."""

    def whole() -> int:
        code = body()
        sys.stdout.flush()
        return code

    guarded(whole)


def info(
    session: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help=_ID_HELP, show_default="all sessions, in a table"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the sessions, or show one in detail: tasks, verdicts, cost, caps.

    Example: tilth info latest
    """
    from tilth.cli.looking.info import info as body

    _printed(lambda: body(session, as_json=as_json))


def show(
    session: Annotated[str, typer.Argument(metavar="ID", help=_ID_HELP)],
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, such as T-001.")],
    as_json: Json = False,
) -> None:
    """Show one task: its verdicts, case, validator reports and diff.

    The header goes to stderr, so that stdout can be redirected.

    Example: tilth show latest T-001 > T-001.txt
    """
    from tilth.cli.looking.show import show as body

    _printed(lambda: body(session, task, as_json=as_json))


def events(
    session: Annotated[str, typer.Argument(metavar="[ID]", help=_ID_HELP)] = "latest",
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
) -> None:
    """Print the event log, one line an event.

    Example: tilth events latest --follow --type evaluator_verdict
    """
    from tilth.cli.looking.events import events as body

    _printed(lambda: body(session, types=types or (), task_id=task, follow=follow, raw=raw))


def config(
    repo: Annotated[
        Path | None,
        typer.Option(
            "--repo",
            metavar="DIR",
            help="The repository whose [tool.tilth] counts.",
            show_default="the one around the current directory",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the settings in force and where each came from; keys are masked.

    Example: tilth config --json
    """
    from tilth.cli.looking.config import config as body

    _printed(lambda: body(repo=repo, as_json=as_json))


def doctor(
    online: Annotated[
        bool, typer.Option("--online", help="Send each endpoint one tiny request.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check git, ruff, pytest, sandbox, disk, settings and sessions; say how to fix each.

    Example: tilth doctor --online
    """
    from tilth.cli.looking.doctor import doctor as body

    _printed(lambda: body(online=online, as_json=as_json))


def init() -> None:
    """Write a commented .env where Tilth looks for it; an existing one is never touched.

    Example: tilth init
    """
    from tilth.cli.looking.init import init as body

    _printed(body)


def stand() -> NoReturn:
    """Say where things stand: what bare `tilth` does."""
    from tilth.cli.looking.welcome import welcome

    _printed(welcome)


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    for command in (info, show, events, config, doctor, init):
        app.command()(command)
