"""Obstacles: what stood in a task's way, counted from its events.

Pure: an event is read, and what it tells of is named by kind, subject and place. The words for
people are made where they are shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tilth.base.values import Value

_MOST_A_REPORT = 20
_RUFF_LINE = re.compile(r"^(\S+?):\d+(?::\d+)?:? ([A-Z]+\d+|invalid-syntax)", re.MULTILINE)
_TEST = re.compile(r"([\w./-]+\.py::[\w:\[\].-]+)")


class ObstacleKind(StrEnum):
    """Say what kind of thing stood in the way."""

    LINT = "lint"
    TEST = "test"
    VALIDATOR = "validator"
    CONCERN = "concern"
    UNREADABLE_CASE = "unreadable_case"


class Obstacle(Value):
    """Hold what was met how often: `ruff UP032` in `names.py`, a test, a category of concern."""

    kind: ObstacleKind
    subject: str
    place: str | None = None
    times: int = 1


Met = Counter[tuple[ObstacleKind, str, str | None]]


def met_in(kind: str, payload: Mapping[str, Any]) -> Met:
    """Count what one event tells of; one report counts each thing once."""
    found: list[tuple[ObstacleKind, str, str | None]] = []
    if kind == "hook_run" and payload["exit_code"] == 1:
        found = _lint(payload["output"])
    elif kind == "validator_run" and payload["phase"] == "case" and not payload["passed"]:
        found = _validator(payload["name"], payload["output"])
    elif kind == "evaluator_verdict" and payload["verdict"] == "reject":
        place = next(iter(payload["evidence"]), None)
        found = [(ObstacleKind.CONCERN, str(payload["rejection_category"]), place)]
    elif kind == "case_parse_error":
        found = [(ObstacleKind.UNREADABLE_CASE, "submit_case", None)]
    return Counter(dict.fromkeys(found[:_MOST_A_REPORT], 1))


def worst(met: Met) -> Obstacle | None:
    """Give what was met most often; of several the latest, since earlier ones were passed."""
    if not met:
        return None
    most = max(met.values())
    (kind, subject, place) = [one for one, times in met.items() if times == most][-1]
    return Obstacle(kind=kind, subject=subject, place=place, times=most)


def _lint(output: str) -> list[tuple[ObstacleKind, str, str | None]]:
    return [(ObstacleKind.LINT, code, path) for path, code in _RUFF_LINE.findall(output)]


def _validator(name: str, output: str) -> list[tuple[ObstacleKind, str, str | None]]:
    if name == "ruff" and (lint := _lint(output)):
        return lint
    tests = _TEST.findall(output) if name in ("pytest", "suite") else []
    if tests:
        return [(ObstacleKind.TEST, test, None) for test in tests]
    return [(ObstacleKind.VALIDATOR, name, None)]
