"""`tilth replay`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import SessionId


def replay(
    session: SessionId,
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Check the requests; run nothing again.")
    ] = False,
) -> int:
    """Prove a session from its log, without key or network.

    Every request is rebuilt and compared; every task is played again.

    Example: tilth replay latest
    """
    from tilth.replay.run import replay as prove

    return prove(session, verify_only=verify_only)
