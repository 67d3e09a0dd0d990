"""`tilth rejudge`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import AsJson, ReviewerName, SessionId


def rejudge(
    session: SessionId,
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Only the cases of this task.")
    ] = None,
    reviewer: ReviewerName = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="Another model at the evaluator's endpoint."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Put a session's cases to another evaluator and compare.

    Nothing is written into the session. Exit code 0 when every case was judged.

    Example: tilth rejudge latest --model claude-opus-5-5
    """
    from tilth.replay.rejudge import rejudge as judge

    return judge(session, task, reviewer=reviewer, model=model, as_json=as_json)
