"""The rules: under which ways of the loop a session was begun.

A log is played again, and a session goes on, under the rules it was begun with: an answer that was
recorded under one rule need not fit another.
"""

from __future__ import annotations

from enum import IntEnum


class Rules(IntEnum):
    """Name the rules; a log that names none was written under the first."""

    FIRST = 1
    # Repeated calls are refused, a blocker comes after a try, an empty diff before the paperwork.
    PROGRESS = 2
    # The evaluator may look and prove, and mutants of the change are tried.
    EVIDENCE = 3
    # The gate challenges green tests, and shows what Python will run.
    CHALLENGE = 4
    # Scores are cut and never rounded up, and what a readable verdict lacks is asked for once more.
    EXCHANGE = 5


NEWEST_RULES = max(Rules)
