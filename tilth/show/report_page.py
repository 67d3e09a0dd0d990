"""`tilth report`: the morning report, rendered on a terminal, as Markdown in a pipe, as JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tilth.base.values import jsonable
from tilth.contract.outcomes import ExitCode
from tilth.session.shown_mask import find_to_show
from tilth.show.report_markdown import markdown
from tilth.show.report_view import view_report
from tilth.show.tables import Page


def report(session: str, *, as_json: bool, environ: Mapping[str, str] = os.environ) -> int:
    """Print the report of a session as it stands now."""
    found = find_to_show(session, environ)
    made = view_report(found).report
    page = Page.out(environ, found.mask)
    if as_json:
        page.json(jsonable(made))
    else:
        page.markdown(markdown(made))
    return ExitCode.DONE
