"""`tilth demo`."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Never replace this demo's files by a later one's.")
    ] = False,
    fast: Annotated[
        bool, typer.Option("--fast", help="Do not pause to let the run be watched.")
    ] = False,
    jobs: Annotated[
        str | None,
        typer.Option("--jobs", metavar="N", help="Play ten tasks instead, N at the same time."),
    ] = None,
) -> int:
    """Watch a whole run on a small project: no key, no network.

    The models' answers come from a recording; git, ruff and pytest are real.

    Example: tilth demo --fast
    """
    from tilth.demo.play import demonstrate

    return demonstrate(keep=keep, fast=fast, jobs=jobs)
