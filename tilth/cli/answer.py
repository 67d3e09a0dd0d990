"""`tilth answer`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import SessionId


def answer(
    session: SessionId,
    request: Annotated[
        str, typer.Argument(metavar="REQUEST", help="The request's id, such as R-001.")
    ],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What you answer; - reads it from stdin.")
    ],
) -> int:
    """Answer a question that a session waits on.

    The next attempt at the task sees it: worker and evaluator both read the answer as part of the
    contract. The answer to work below the bar is a verdict: it begins with `accept` or `reject`.
    `tilth info ID` lists what is open.

    Example: tilth answer latest R-001 "Criterion 2 holds; drop criterion 3."
    """
    from tilth.contract.operator_word import Verb
    from tilth.session.speaking import Draft
    from tilth.show.words import say_word

    return say_word(session, Draft(Verb.ANSWER, text, request=request))
