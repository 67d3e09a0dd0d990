"""The commands that come before a run: prep-feature, check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.edge import guarded

NoSandbox = Annotated[
    bool, typer.Option("--no-sandbox", help="Run the tests unconfined (TILTH_SANDBOX=off).")
]


Brief = Annotated[
    str | None, typer.Option("--brief", metavar="TEXT", help="What you want, in a sentence.")
]
BriefFile = Annotated[
    Path | None,
    typer.Option("--brief-file", metavar="F", help="A file that says what you want."),
]
AnswersFile = Annotated[
    Path | None,
    typer.Option(
        "--answers", metavar="F", help="Answer from a JSON list, or a map from question to answer."
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Start anew and give up what is prepared or interrupted.")
]


def _flags(*, no_sandbox: bool) -> dict[str, object]:
    return {"sandbox": "off"} if no_sandbox else {}


def prep_feature(
    repo: Annotated[
        Path,
        typer.Argument(
            metavar="[REPO]",
            help="The git repository the feature is for.",
            show_default="the current directory",
        ),
    ] = Path(),
    brief: Brief = None,
    brief_file: BriefFile = None,
    answers: AnswersFile = None,
    no_review: Annotated[
        bool, typer.Option("--no-review", help="Skip the evaluator's reading of the contract.")
    ] = False,
    force: Force = False,
    keep_existing: Annotated[
        bool, typer.Option("--keep-existing", help="Start another beside what is there.")
    ] = False,
    no_sandbox: NoSandbox = False,
) -> None:
    """Be interviewed about a feature; leaves a prepared session that `tilth run` takes up.

    Example: tilth prep-feature ~/src/shop --brief "customers can pay in instalments"
    """
    from tilth.cli.preparing import Wishes, prepare

    wishes = Wishes(
        brief=brief,
        brief_file=brief_file,
        answers=answers,
        review=not no_review,
        force=force,
        keep_existing=keep_existing,
    )
    guarded(lambda: prepare(repo, wishes, _flags(no_sandbox=no_sandbox)))


def check(
    prd: Annotated[
        Path, typer.Argument(metavar="PRD", help="A prd.json or a directory that holds one.")
    ],
    repo: Annotated[
        Path | None,
        typer.Option("--repo", metavar="DIR", help="The git repository it is for."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
    no_sandbox: NoSandbox = False,
) -> None:
    """Prove a hand-written PRD: valid, tests collect, red on the base, criteria covered.

    Example: tilth check plans/search --repo ~/src/shop
    """
    from tilth.cli.checking import check as prove

    guarded(lambda: prove(prd, repo, _flags(no_sandbox=no_sandbox), as_json=as_json))


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command(name="prep-feature")(prep_feature)
    app.command()(check)
