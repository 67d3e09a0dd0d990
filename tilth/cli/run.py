"""`tilth run`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import (
    Carry,
    Detach,
    EvalThreshold,
    Jobs,
    NoEval,
    NoPing,
    NoPreflight,
    NoSandbox,
    Plain,
    RunTarget,
    SpendLeftovers,
    Until,
    WorkedOn,
    settings_of,
)


def run(
    target: RunTarget = Path(),
    repo: WorkedOn = None,
    new: Annotated[
        bool, typer.Option("--new", help="Start afresh even if a session could be resumed.")
    ] = False,
    renumber: Annotated[
        bool, typer.Option("--renumber", help="Number the tasks on where their ids have landed.")
    ] = False,
    jobs: Jobs = None,
    carry: Carry = None,
    plain: Plain = False,
    until: Until = None,
    detach: Detach = False,
    no_ping: NoPing = False,
    no_preflight: NoPreflight = False,
    spend_leftovers: SpendLeftovers = False,
    no_eval: NoEval = False,
    eval_threshold: EvalThreshold = None,
    no_sandbox: NoSandbox = False,
) -> int:
    """Run a PRD to commits on a branch of its own.

    Example: tilth run plans/search --repo ~/src/shop
    """
    from tilth.interview.preflight import preflight
    from tilth.session.start import start
    from tilth.show.detach import carry_out
    from tilth.show.terminal import terminal

    asked = settings_of(
        no_eval=no_eval,
        eval_threshold=eval_threshold,
        no_sandbox=no_sandbox,
        jobs=jobs,
        carry=carry,
    )
    body = partial(start, target, repo, asked, new=new, renumber=renumber, until=until)
    body = partial(body, ping=not no_ping, spend_leftovers=spend_leftovers)
    body = partial(body, preflight=None if no_preflight else preflight)
    return carry_out(lambda: body(frontend=terminal(plain=plain)).exit_code, detach=detach)
