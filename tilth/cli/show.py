"""`tilth show`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import AsJson, SessionId


def show(
    session: SessionId,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, such as T-001.")],
    as_json: AsJson = False,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Print the task's whole conversation instead.")
    ] = False,
) -> int:
    """Show one task: verdicts, case, validator reports and diff.

    With --transcript: what worker and evaluator were told and said, every call with its output,
    every gate, every verdict, and what a person said in between. The header goes to stderr, so
    that stdout can be redirected.

    Example: tilth show latest T-001 > T-001.txt
    """
    from tilth.show.task import show as show_task

    return show_task(session, task, as_json=as_json, transcript=transcript)
