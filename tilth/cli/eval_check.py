"""`tilth eval-check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import AsJson, ReviewerName


def eval_check(
    suite: Annotated[
        Path | None,
        typer.Option("--suite", metavar="DIR", help="Play the cases of a suite of your own."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Play the trees you have accepted or rejected here.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="N", min=1, help="Play N changes, right and wrong in turn."
        ),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option("--repeat", metavar="N", min=1, max=20, help="Play every change N times."),
    ] = 1,
    reviewer: ReviewerName = None,
    as_json: AsJson = False,
) -> int:
    """Measure how often the evaluator is wrong, on known changes.

    Every change passes its tests; many of them are wrong all the same. Ctrl-C stops, and the same
    command goes on. Exit code 0 once it is measured, 1 if a case of the suite is broken.

    Example: tilth eval-check --limit 20
    """
    from tilth.evalcheck.run import eval_check as measure
    from tilth.evalcheck.wanted import Wanted

    wanted = Wanted(suite, history, limit, repeat, reviewer)
    return measure(wanted, as_json=as_json)
