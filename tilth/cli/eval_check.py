"""`tilth eval-check`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import AsJson


def eval_check(
    as_json: AsJson = False,
    repeat: Annotated[
        int,
        typer.Option("--repeat", metavar="N", min=1, max=20, help="Play every change N times."),
    ] = 1,
    reviewer: Annotated[
        str | None,
        typer.Option("--reviewer", metavar="NAME", help="Check a reviewer of evaluators.toml."),
    ] = None,
) -> int:
    """Measure the evaluator: count its mistakes on known changes.

    Every planted change passes its tests; half of them are wrong all the same. Exit code 0 if it
    judged all of them rightly, 1 if it accepted a wrong one, rejected a right one or gave no
    readable verdict, 5 if the endpoint failed.

    Example: tilth eval-check --repeat 3
    """
    from tilth.evalcheck.run import eval_check as measure

    return measure(as_json=as_json, repeat=repeat, reviewer=reviewer)
