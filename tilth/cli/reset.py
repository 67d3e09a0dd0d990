"""`tilth reset`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import AsJson, session_or


def reset(
    session: Annotated[str | None, session_or(False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    discard: Annotated[
        bool,
        typer.Option("--discard", help="Lose accepted work that stands on no other branch."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Reset every session of this repository.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Remove a session: its worktree, branch, refs and directory.

    Accepted work that stands on no other branch is named first, and kept unless you say --discard.

    Example: tilth reset 20261116-093000-a1b2c3 --yes
    """
    from tilth.show.reset import reset as remove

    return remove(
        session,
        yes=yes,
        discard=discard,
        dry_run=dry_run,
        everything=everything,
        as_json=as_json,
    )
