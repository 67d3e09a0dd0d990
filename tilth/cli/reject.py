"""`tilth reject`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import SessionId


def reject(
    session: SessionId,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task's id, such as T-001.")],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What is wrong; - reads it from stdin.")
    ],
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="C", help="acceptance_gap, weak_test, scope_creep, …"),
    ] = None,
) -> int:
    """Send a task back to work, whatever its state.

    What you say is the next attempt's first concern. The work of a done task stays in the branch,
    and what is accepted next is a further commit, `(round 2)`.

    Example: tilth reject latest T-002 "Dates before 1970 are off by a day."
    """
    from tilth.contract.operator_word import Verb
    from tilth.session.speaking import Draft
    from tilth.show.words import say_word

    return say_word(session, Draft(Verb.REJECT, text, task=task, category=category))
