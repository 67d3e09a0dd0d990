"""One finding of the doctor, and how it is graded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """Say how a check went."""

    PASS = "pass"  # noqa: S105  # not a password
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """Hold one finding; `fix` says what to do about it."""

    name: str
    grade: Grade
    found: str
    fix: str = ""
