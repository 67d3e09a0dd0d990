"""`tilth doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli.options import AsJson


def doctor(
    online: Annotated[
        bool, typer.Option("--online", help="Try each endpoint with two small calls.")
    ] = False,
    notify: Annotated[
        bool, typer.Option("--notify", help="Send one word through each notification.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check this machine and the settings, and say how to fix each.

    git, ruff, pytest, sandbox, disk, settings, sessions and models are looked at.

    Example: tilth doctor --online
    """
    from tilth.show.doctor import doctor as show

    return show(online=online, notify=notify, as_json=as_json)
