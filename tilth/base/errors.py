"""The exception tree: every error Tilth raises on purpose, sorted by who is told.

TilthError
├── UserError            printed as one line, exit 2
│   ├── BadSetting       a setting that cannot be read
│   ├── BadPlan          a PRD with problems, all of them at once
│   ├── BadText          TOML, INI or JSON of somebody else's that cannot be read
│   ├── UnknownSession   an id that names no session, or several
│   ├── SessionBusy      another process holds the session's lock
│   ├── Superseded       another run has taken the session over: write no more
│   └── CorruptSession   a session file that cannot be trusted; never guessed around
├── ToolError            told to the model as the tool's result
├── Unreadable           told to the model as what was wrong with its answer
├── ProviderError        a resumable stop: the endpoint failed or refused us
│   ├── PromptTooLong    answered by trimming old tool results
│   └── QuotaReached     answered by sleeping until the time the endpoint names
├── WorkspaceError       git could not do what was asked; stop, never guess
└── DiskError            a file could not be written; stop with the old files intact
"""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Sequence

# What a system call says of the machine, whatever it was asked.
OF_THE_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS}
)


class TilthError(Exception):
    """Be the root, so that the edge can catch everything expected in one place.

    Where an error says its fix apart from the problem, both can be shown apart.
    """

    def __init__(self, problem: str = "", fix: str = "") -> None:
        self.problem = problem
        self.fix = fix
        super().__init__(f"{problem}; {fix}" if fix else problem)


class UserError(TilthError):
    """Name a problem the user can fix, and the fix."""


class BadSetting(UserError):
    """Name a setting and the value that cannot be read."""


class BadPlan(UserError):
    """Hold every problem of a PRD, one line each."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))


class BadText(UserError):
    """Say why a text that somebody else wrote cannot be read."""


class UnknownSession(UserError):
    """Name an id that matches no session, or more than one."""


class SessionBusy(UserError):
    """Name the process that holds a session's lock."""


class Superseded(UserError):
    """Name a session that another run has taken over."""


class CorruptSession(UserError):
    """Name the file and line of a session that cannot be trusted."""


class ToolError(TilthError):
    """Tell the worker why a tool call could not be done."""


class Unreadable(TilthError):
    """Tell a model what was wrong with its structured answer."""


class ProviderError(TilthError):
    """Say why the model endpoint failed or refused us; the session stays resumable."""


class PromptTooLong(ProviderError):
    """Say that the request is over the model's window."""


class QuotaReached(ProviderError):
    """Say that a rate or quota limit is used up and for how long the endpoint wants to be left."""

    def __init__(self, problem: str, fix: str, wait_s: float) -> None:
        self.wait_s = wait_s
        super().__init__(problem, fix)


class WorkspaceError(TilthError):
    """Say which git operation failed and what git printed."""


class DiskError(TilthError):
    """Say which file could not be written and why."""


class CapReached(TilthError):
    """Say which limit of the session is used up and which setting raises it."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class Interrupted(TilthError):
    """Say that the user asked to stop."""


class Halted(Interrupted):
    """Say that something else has stopped the run, and this part of it with it."""


class RecordingOver(ProviderError):
    """Say that a recording has no more answers here; others of its tasks may have."""


def fault_line(error: BaseException) -> str:
    """Tell of a fault of our own in one line, with the place to look at."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    place = f"{os.path.basename(last.filename)}:{last.lineno}" if last else "unknown place"
    said = " ".join(str(error).split())[:300]
    return f"internal error: {type(error).__name__}: {said} ({place})"
