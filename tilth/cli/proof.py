"""The commands that prove: demo and replay. Neither needs a key or a network."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.edge import guarded


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Never replace this demo's files by a later one's.")
    ] = False,
    fast: Annotated[
        bool, typer.Option("--fast", help="Do not pause to let the run be watched.")
    ] = False,
) -> None:
    """Watch a whole run on a small project, played from a recording with real git and tests.

    Example: tilth demo --fast
    """
    from tilth.cli.demonstrating import demonstrate

    guarded(lambda: demonstrate(keep=keep, fast=fast))


def replay(
    session: Annotated[
        str, typer.Argument(metavar="ID", help="A session's id, a unique prefix, or `latest`.")
    ],
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Check the requests; run nothing again.")
    ] = False,
) -> None:
    """Prove a session from its log: every request rebuilt, every task played again.

    Example: tilth replay latest
    """
    from tilth.cli.replaying import replay as body

    guarded(lambda: body(session, verify_only=verify_only))


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(demo)
    app.command()(replay)
