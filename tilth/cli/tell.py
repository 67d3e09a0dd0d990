"""`tilth tell`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import SessionId


def tell(
    session: SessionId,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[TASK] TEXT",
            help="The note; - reads it from stdin. Without a task's id: the one under way.",
        ),
    ],
) -> int:
    """Give the worker a note, while it works or before it begins.

    It stands in the worker's next message, and this task's evaluator sees it too.

    Example: tilth tell latest T-002 "Use the clock in tools/clock.py, do not write another."
    """
    from tilth.show.words import tell_worker

    return tell_worker(session, words)
