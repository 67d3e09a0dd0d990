"""`tilth accept`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import SessionId


def accept(
    session: SessionId,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, such as T-001.")],
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="Why; - reads it from stdin.")
    ] = "",
) -> int:
    """Accept a task: your verdict counts above the evaluator's.

    A failed task whose last case passed the validators lands, a task below the bar loses its flag,
    and for a clean one it is kept that you agree.

    Example: tilth accept latest T-003 --note "The rounding is what we want."
    """
    from tilth.contract.operator_word import Verb
    from tilth.session.speaking import Draft
    from tilth.show.words import say_word

    return say_word(session, Draft(Verb.ACCEPT, note, task=task))
