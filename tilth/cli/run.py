"""`tilth run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import (
    Carry,
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
    jobs: Jobs = None,
    carry: Carry = None,
    plain: Plain = False,
    until: Until = None,
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
    from tilth.show.terminal import terminal

    asked = settings_of(
        no_eval=no_eval,
        eval_threshold=eval_threshold,
        no_sandbox=no_sandbox,
        jobs=jobs,
        carry=carry,
    )
    result = start(
        target,
        repo,
        asked,
        new=new,
        until=until,
        ping=not no_ping,
        preflight=None if no_preflight else preflight,
        spend_leftovers=spend_leftovers,
        frontend=terminal(plain=plain),
    )
    return result.exit_code
