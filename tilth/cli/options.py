"""The options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_ID_HELP = "A session id, a unique prefix of one, or `latest` (of this repository)."

SessionId = Annotated[str, typer.Argument(metavar="ID", help=_ID_HELP)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ReviewerName = Annotated[
    str | None,
    typer.Option("--reviewer", metavar="NAME", help="A reviewer of evaluators.toml."),
]
NoEval = Annotated[
    bool, typer.Option("--no-eval", help="Let the validators alone decide (TILTH_EVALUATE).")
]
EvalThreshold = Annotated[
    str | None,
    typer.Option(
        "--eval-threshold",
        metavar="N",
        help="Lowest score, 0 to 100, an accept must carry (TILTH_EVAL_THRESHOLD).",
    ),
]
Plain = Annotated[
    bool, typer.Option("--plain", help="Print lines alone: no colour, nothing that moves.")
]
NoSandbox = Annotated[
    bool, typer.Option("--no-sandbox", help="Run commands unconfined (TILTH_SANDBOX=off).")
]

RunTarget = Annotated[
    Path,
    typer.Argument(
        metavar="[TARGET]",
        help="A prd.json, a directory that holds one, or a repo with a prepared session.",
        show_default="the current directory",
    ),
]
WorkedOn = Annotated[
    Path | None,
    typer.Option("--repo", metavar="DIR", help="The git repository to work on."),
]
Carry = Annotated[
    str | None,
    typer.Option(
        "--carry",
        metavar="WHAT",
        help="Ignored files to hand on: off, generated, project or globs (TILTH_CARRY).",
    ),
]
Jobs = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Tasks worked on at the same time, at most 16 (TILTH_JOBS).",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="Stop by this time, such as 07:00, in the place of the wall-clock cap.",
    ),
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Start it without a screen, in the background.")
]
NoPing = Annotated[
    bool, typer.Option("--no-ping", help="Do not try the models before the session is made.")
]
NoPreflight = Annotated[
    bool, typer.Option("--no-preflight", help="Do not prove the plan before it runs.")
]
SpendLeftovers = Annotated[
    bool,
    typer.Option(
        "--spend-leftovers",
        help="Buy second opinions on done tasks with the budget and time that remain.",
    ),
]


def session_or(what: str | bool) -> typer.models.ArgumentInfo:
    """Make the argument of a command that can do without a session, and then means `what`."""
    argument: typer.models.ArgumentInfo = typer.Argument(
        metavar="[ID]", help=_ID_HELP, show_default=what
    )
    return argument


def settings_of(
    *,
    no_eval: bool = False,
    eval_threshold: str | None = None,
    no_sandbox: bool = False,
    jobs: str | None = None,
    carry: str | None = None,
) -> dict[str, object]:
    """Give the settings that options ask for, by field name."""
    asked: dict[str, object] = {}
    if no_eval:
        asked["evaluate"] = False
    if eval_threshold is not None:
        asked["eval_threshold"] = eval_threshold
    if no_sandbox:
        asked["sandbox"] = "off"
    if jobs is not None:
        asked["jobs"] = jobs
    if carry is not None:
        asked["carry"] = carry
    return asked
