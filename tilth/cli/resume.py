"""`tilth resume`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from tilth.cli.options import (
    Detach,
    EvalThreshold,
    Jobs,
    NoEval,
    NoSandbox,
    Plain,
    Until,
    session_or,
    settings_of,
)


def resume(
    session: Annotated[str | None, session_or("the latest that can be resumed")] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Begin the open task anew from its base, its verdicts in view."
        ),
    ] = False,
    jobs: Jobs = None,
    plain: Plain = False,
    until: Until = None,
    detach: Detach = False,
    no_eval: NoEval = False,
    eval_threshold: EvalThreshold = None,
    no_sandbox: NoSandbox = False,
) -> int:
    """Go on with a session that was stopped, failed or killed.

    Example: tilth resume 20261116-0930
    """
    from tilth.session.resume import resume as resume_session
    from tilth.show.detach import carry_out
    from tilth.show.terminal import terminal

    asked = settings_of(
        no_eval=no_eval, eval_threshold=eval_threshold, no_sandbox=no_sandbox, jobs=jobs
    )
    body = partial(resume_session, session, asked, fresh=fresh, until=until)
    return carry_out(lambda: body(frontend=terminal(plain=plain)).exit_code, detach=detach)
