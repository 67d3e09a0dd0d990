"""Obstacles: what stood in a task's way, counted from its events.

Pure: an event is read, and what it tells of is named by kind, subject and place. The words for
people are made where they are shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tilth.base.values import Value

_MOST_A_REPORT = 20
_RUFF_LINE = re.compile(r"^(\S+?):\d+(?::\d+)?:? ([A-Z]+\d+|invalid-syntax)", re.MULTILINE)
# As Python itself words it, in a line of pytest's that holds an error.
_MODULE = re.compile(
    r"^E\s+(?:\w+\.)*ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE
)
_TEST = re.compile(r"([\w./-]+\.py::[\w:\[\].-]+)")


class ObstacleKind(StrEnum):
    """Say what kind of thing stood in the way."""

    # What a whole run misses: it stands behind whatever else is red.
    MODULE = "module"
    MARKERS = "markers"
    LINT = "lint"
    TEST = "test"
    VALIDATOR = "validator"
    CONCERN = "concern"
    UNREADABLE_CASE = "unreadable_case"


_One = tuple[ObstacleKind, str, str | None]
_TELLING = (ObstacleKind.MODULE, ObstacleKind.MARKERS)


class Obstacle(Value):
    """Hold what was met how often: `ruff UP032` in `names.py`, a test, a category of concern."""

    kind: ObstacleKind
    subject: str
    place: str | None = None
    times: int = 1


Met = Mapping[_One, int]


@dataclass(frozen=True)
class Obstacles:
    """Count what stood in a task's way: in all, and on the tree that it submitted last."""

    met: Met = field(default_factory=dict)
    lately: Met = field(default_factory=dict)
    tree: str | None = None

    def after(self, kind: str, payload: Mapping[str, Any]) -> Obstacles:
        """Take in one event; one report counts each thing once."""
        if kind == "case_submitted":
            # The same tree again is answered from the record: what stands in its way stays.
            same = payload["tree"] == self.tree
            return replace(self, tree=payload["tree"], lately=self.lately if same else {})
        found = dict.fromkeys(_found_in(kind, payload)[:_MOST_A_REPORT], 1)
        if not found:
            return self
        return replace(self, met=_added(self.met, found), lately=_added(self.lately, found))

    @property
    def worst(self) -> Obstacle | None:
        """Give what was met most often, of what the end of the task is about.

        Of several it is the latest, since earlier ones were passed.
        """
        counts = self.lately or self.met
        if not counts:
            return None
        most = max(counts.values())
        one = [each for each, times in counts.items() if times == most][-1]
        kind, subject, place = next((each for each in counts if each[0] in _TELLING), one)
        times = self.met[kind, subject, place]
        return Obstacle(kind=kind, subject=subject, place=place, times=times)


def _added(met: Met, found: Met) -> Met:
    return dict(Counter(met) + Counter(found))


def _found_in(kind: str, payload: Mapping[str, Any]) -> list[_One]:
    if kind == "hook_run" and payload["exit_code"] == 1:
        return _lint(payload["output"])
    if kind == "validator_run" and payload["phase"] == "case" and not payload["passed"]:
        return _validator(payload["name"], payload["output"])
    if kind == "evaluator_verdict" and payload["verdict"] == "reject":
        place = next(iter(payload["evidence"]), None)
        if payload["source"] == "harness" and place is not None:
            # Of its own rejects only the one for markers names a file.
            return [(ObstacleKind.MARKERS, "conflict markers", place)]
        return [(ObstacleKind.CONCERN, str(payload["rejection_category"]), place)]
    if kind == "case_parse_error":
        return [(ObstacleKind.UNREADABLE_CASE, "submit_case", None)]
    return []


def _lint(output: str) -> list[_One]:
    return [(ObstacleKind.LINT, code, path) for path, code in _RUFF_LINE.findall(output)]


def _validator(name: str, output: str) -> list[_One]:
    if name == "ruff" and (lint := _lint(output)):
        return lint
    modules = dict.fromkeys(_MODULE.findall(output))
    if modules:
        return [(ObstacleKind.MODULE, module, None) for module in modules]
    tests = _TEST.findall(output) if name in ("pytest", "suite") else []
    if tests:
        return [(ObstacleKind.TEST, test, None) for test in tests]
    return [(ObstacleKind.VALIDATOR, name, None)]
