"""`tilth visualize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import session_or


def visualize(
    session: Annotated[str, session_or(True)] = "latest",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0: any free port.")
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write one HTML file instead of serving."),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Export without prompts, tool output and outside paths."),
    ] = False,
) -> int:
    """Show a session in the browser, live, or export it as one file.

    Example: tilth visualize latest
    """
    from tilth.show.viewer.visualize import visualize as view

    return view(session, port=port, export=export, redact=redact)
