"""`tilth take`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import AsJson, session_or


def take(
    session: Annotated[str | None, session_or("latest")] = None,
    into: Annotated[
        str | None,
        typer.Option(metavar="BRANCH", help="Where to; else where the session began."),
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="T,…", help="These tasks, with their dependencies.")
    ] = None,
    clean: Annotated[
        bool,
        typer.Option("--clean", help="Leave out what is below the bar, sent back or unjudged."),
    ] = False,
    squash: Annotated[bool, typer.Option("--squash", help="Make one commit of it all.")] = False,
    push: Annotated[
        str | None, typer.Option(metavar="REMOTE", help="Push the branch there too.")
    ] = None,
    pr: Annotated[bool, typer.Option("--pr", help="Open a pull request through `gh`.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would come.")] = False,
    as_json: AsJson = False,
) -> int:
    """Bring a session's accepted commits onto your branch.

    Failed work and the tests of unfinished tasks stay behind. The result is proven before the
    branch moves; if it is red or in conflict, nothing is changed.

    Example: tilth take latest --dry-run
    """
    from tilth.base.errors import UserError
    from tilth.session.proposal import Wishes
    from tilth.session.take import TakeOptions
    from tilth.show.take import take as bring

    named = tuple(part.strip() for part in (only or "").split(",") if part.strip())
    if only is not None and not named:
        raise UserError(f"--only names no task, got {only!r}: name tasks such as T-001,T-003")
    wishes = Wishes(only=named, clean=clean, squash=squash)
    options = TakeOptions(into, wishes, push=push, pull_request=pr, dry_run=dry_run)
    return bring(session, options, as_json=as_json)
