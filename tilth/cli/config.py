"""`tilth config`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import AsJson


def config(
    repo: Annotated[
        Path | None,
        typer.Option(
            "--repo",
            metavar="DIR",
            help="The repository whose [tool.tilth] counts.",
            show_default="the one around the current directory",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show the settings in force and where each came from.

    Keys are masked.

    Example: tilth config --json
    """
    from tilth.show.config import config as show

    return show(repo=repo, as_json=as_json)
