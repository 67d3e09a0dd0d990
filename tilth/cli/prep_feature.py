"""`tilth prep-feature`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import NoSandbox, settings_of

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
) -> int:
    """Be interviewed about a feature; leaves tasks and tests to run.

    The interview leaves a prepared session, which `tilth run REPO` takes up.

    Example: tilth prep-feature ~/src/shop --brief "customers can pay in instalments"
    """
    from tilth.interview.prepare import PrepareOptions, prepare

    options = PrepareOptions(
        brief=brief,
        brief_file=brief_file,
        answers=answers,
        review=not no_review,
        force=force,
        keep_existing=keep_existing,
    )
    return prepare(repo, options, settings_of(no_sandbox=no_sandbox))
