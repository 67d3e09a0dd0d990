"""`tilth drop`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import SessionId


def drop(
    session: SessionId,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, such as T-001.")],
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="Why; - reads it from stdin.")
    ] = "",
) -> int:
    """Give a task up: it is not tried again.

    What depends on it is held. Work that was begun is kept aside, and `tilth reject` brings the
    task back.

    Example: tilth drop latest T-003 --note "We buy that instead."
    """
    from tilth.contract.operator_word import Verb
    from tilth.session.speaking import Draft
    from tilth.show.words import say_word

    return say_word(session, Draft(Verb.DROP, note, task=task))
