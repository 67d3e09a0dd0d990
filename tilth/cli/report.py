"""`tilth report`."""

from __future__ import annotations

from typing import Annotated

from tilth.cli.options import AsJson, session_or


def report(
    session: Annotated[str, session_or(True)] = "latest",
    as_json: AsJson = False,
) -> int:
    """Print the morning report: what to look at first, and why.

    Rendered on a terminal, Markdown in a pipe.

    Example: tilth report latest > report.md
    """
    from tilth.show.report_page import report as print_report

    return print_report(session, as_json=as_json)
