"""`tilth info`: the sessions there are, or one of them in detail."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tilth.base.clock import Clock, SystemClock
from tilth.config.settings import load
from tilth.contract.outcomes import ExitCode
from tilth.session.catalog import open_to_look
from tilth.session.shown_mask import Masks
from tilth.show.session_list import list_all
from tilth.show.tables import Page


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
    from tilth.show.session_detail import document, print_detail
    from tilth.show.session_view import view_session

    session = Masks(settings, environ).put_on(open_to_look(settings, wanted))
    view = view_session(session, settings, now)
    page = Page.out(environ, session.mask)
    if as_json:
        page.json(document(view))
    else:
        print_detail(view, page, environ.get("HOME", ""))
    return ExitCode.DONE
