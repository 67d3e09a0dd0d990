"""`tilth check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import AsJson, Carry, NoSandbox, settings_of


def check(
    prd: Annotated[
        Path, typer.Argument(metavar="PRD", help="A prd.json or a directory that holds one.")
    ],
    repo: Annotated[
        Path | None,
        typer.Option("--repo", metavar="DIR", help="The git repository it is for."),
    ] = None,
    as_json: AsJson = False,
    no_sandbox: NoSandbox = False,
    carry: Carry = None,
) -> int:
    """Prove a hand-written PRD before it runs.

    It must be valid, its tests must collect and fail on the last commit for the right reason, and
    every criterion must be named in a test.

    Example: tilth check plans/search --repo ~/src/shop
    """
    from tilth.interview.check import check as prove

    return prove(prd, repo, settings_of(no_sandbox=no_sandbox, carry=carry), as_json=as_json)
