"""`tilth doctor`: what is checked, one line each, with the fix."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tilth.contract.outcomes import ExitCode
from tilth.session.doctor import examine
from tilth.session.doctor_check import Check, Grade
from tilth.show.note import Tone
from tilth.show.progress_line import progress_line
from tilth.show.tables import Page

_TONES = {Grade.PASS: Tone.GOOD, Grade.WARN: Tone.WARN, Grade.FAIL: Tone.BAD}


def doctor(
    *,
    online: bool,
    as_json: bool,
    notify: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Check the installation and the settings; exit 2 if something failed."""
    with progress_line("looking at this machine", environ):
        checks = examine(environ, online=online, notify=notify)
    page = Page.out(environ)
    failed = any(check.grade is Grade.FAIL for check in checks)
    if as_json:
        page.json({"ok": not failed, "checks": [_document(check) for check in checks]})
    else:
        for check in checks:
            page.line(_line(check), _TONES[check.grade])
    return ExitCode.USAGE if failed else ExitCode.DONE


def _line(check: Check) -> str:
    fix = f"; {check.fix}" if check.fix else ""
    return f"{check.grade:<4}  {check.name:<9}  {check.found}{fix}"


def _document(check: Check) -> dict[str, str | None]:
    return {
        "check": check.name,
        "grade": str(check.grade),
        "found": check.found,
        "fix": check.fix or None,
    }
