"""The commands that work on a session: run, resume, reset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.edge import guarded

NoEval = Annotated[
    bool, typer.Option("--no-eval", help="Let the validators alone decide (TILTH_EVALUATE).")
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--eval-threshold",
        metavar="N",
        help="Lowest score, 0 to 100, an accept must carry (TILTH_EVAL_THRESHOLD).",
    ),
]
NoSandbox = Annotated[
    bool,
    typer.Option("--no-sandbox", help="Run commands unconfined (TILTH_SANDBOX=off)."),
]


def _flags(
    *, no_eval: bool = False, eval_threshold: str | None = None, no_sandbox: bool = False
) -> dict[str, object]:
    flags: dict[str, object] = {}
    if no_eval:
        flags["evaluate"] = False
    if eval_threshold is not None:
        flags["eval_threshold"] = eval_threshold
    if no_sandbox:
        flags["sandbox"] = "off"
    return flags


def run(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="[TARGET]",
            help="A prd.json, a directory that holds one, or a repo with a prepared session.",
            show_default="the current directory",
        ),
    ] = Path(),
    repo: Annotated[
        Path | None,
        typer.Option("--repo", metavar="DIR", help="The git repository to work on."),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Start afresh even if a session could be resumed.")
    ] = False,
    no_eval: NoEval = False,
    eval_threshold: Threshold = None,
    no_sandbox: NoSandbox = False,
) -> None:
    """Run a PRD to commits on a branch of its own.

    Example: tilth run plans/search --repo ~/src/shop
    """
    from tilth.cli.running import start

    flags = _flags(no_eval=no_eval, eval_threshold=eval_threshold, no_sandbox=no_sandbox)
    guarded(lambda: start(target, repo, flags, new=new))


def resume(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="A session id, a unique prefix of one, or `latest`.",
            show_default="the latest that can be resumed",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Start the open task anew, with its verdicts in view."),
    ] = False,
    no_eval: NoEval = False,
    eval_threshold: Threshold = None,
    no_sandbox: NoSandbox = False,
) -> None:
    """Go on with a session that was stopped, failed or killed.

    Example: tilth resume 20261116-0930
    """
    from tilth.cli.resuming import resume as body

    flags = _flags(no_eval=no_eval, eval_threshold=eval_threshold, no_sandbox=no_sandbox)
    guarded(lambda: body(session, flags, fresh=fresh))


def reset(
    session: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A session id, a unique prefix, or `latest`."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Reset every session.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Remove a session: its worktree, branch, refs and directory.

    Example: tilth reset 20261116-093000-a1b2c3 --yes
    """
    from tilth.cli.resetting import reset as body

    guarded(lambda: body(session, yes=yes, dry_run=dry_run, everything=everything, as_json=as_json))


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    for command in (run, resume, reset):
        app.command()(command)
