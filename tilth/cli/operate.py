"""The commands of the person in charge: answer, eval-check."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tilth.cli.edge import guarded


def answer(
    session: Annotated[
        str,
        typer.Argument(metavar="ID", help="A session id, a unique prefix of one, or `latest`."),
    ],
    request: Annotated[
        str, typer.Argument(metavar="REQUEST", help="The request's id, such as R-001.")
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you answer.")],
) -> None:
    """Answer a question that a session waits on; the next attempt at the task sees it.

    Worker and evaluator both read the answer as part of the contract. `tilth info ID` lists what
    is open.

    Example: tilth answer latest R-001 "Criterion 2 holds; drop criterion 3."
    """
    from tilth.cli.answering import answer as body

    guarded(lambda: body(session, request, text))


def eval_check(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
    repeat: Annotated[
        int,
        typer.Option("--repeat", metavar="N", min=1, max=20, help="Play every change N times."),
    ] = 1,
    reviewer: Annotated[
        str | None,
        typer.Option("--reviewer", metavar="NAME", help="Check a reviewer of evaluators.toml."),
    ] = None,
) -> None:
    """Measure the evaluator: play planted right and wrong changes to it and count its mistakes.

    Every planted change passes its tests; half of them are wrong all the same. Exit code 0 if it
    judged all of them rightly, 1 if it accepted a wrong one, rejected a right one or gave no
    readable verdict, 5 if the endpoint failed.

    Example: tilth eval-check --repeat 3
    """
    from tilth.cli.evalchecking import eval_check as body

    def whole() -> int:
        code = body(as_json=as_json, repeat=repeat, reviewer=reviewer)
        sys.stdout.flush()
        return code

    guarded(whole)


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(answer)
    app.command(name="eval-check")(eval_check)
