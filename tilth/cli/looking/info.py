"""`tilth info`: the sessions there are, or one of them in detail."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tilth.cli.finding import open_to_look
from tilth.cli.looking.listing import list_all
from tilth.cli.looking.page import Page
from tilth.clock import Clock, SystemClock
from tilth.outcomes import ExitCode
from tilth.settings import load


def info(
    wanted: str | None,
    *,
    as_json: bool,
    environ: Mapping[str, str] = os.environ,
    clock: Clock | None = None,
) -> int:
    """Print all sessions, or the one that was asked for."""
    settings = load({}, environ)
    now = (clock or SystemClock()).now()
    if wanted is None:
        return list_all(settings, environ, now, as_json=as_json)
    # What one session in detail takes is not loaded for the list.
    from tilth.cli.looking.detail import document, print_detail
    from tilth.cli.looking.standing import stand

    standing = stand(open_to_look(settings, wanted), settings, now)
    page = Page.out(environ)
    if as_json:
        page.json(document(standing))
    else:
        print_detail(standing, page, environ.get("HOME", ""))
    return ExitCode.DONE
