"""Measured evaluators: what `tilth eval-check` found out, kept in Tilth's home for later runs.

A figure belongs to a model and to the prompts it was asked with: whatever changes the question
changes the hash, and a figure of another question is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError

from tilth.base.plain_file import read_plain
from tilth.base.rate import Rate
from tilth.base.values import Value, digest, jsonable
from tilth.config.settings import Settings
from tilth.contract.case import Case
from tilth.contract.prd import Task
from tilth.session.store import Journal, make_private
from tilth.task.briefs import EvaluatorView, evaluator_message, render
from tilth.task.evaluator_tools import offered_tools
from tilth.task.review import review_conversation
from tilth.task.shown_change import shown_change
from tilth.tools import Toolbox

EVAL_CHECKS = "eval-checks.jsonl"


class Measurement(Value):
    """Hold one line of the file; `whole` is true where nothing of a suite was left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    ts: str
    model: str
    endpoint: str = ""
    prompt_sha256: str
    # `shipped`, `history`, or the directory of a suite of the user's own.
    suite: str
    whole: bool
    repeat: int = 1
    false_accept: Rate
    false_reject: Rate
    unreadable: int = 0
    proven: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    by_category: Mapping[str, Any] = {}
    tilth_version: str = ""

    @property
    def figure(self) -> str:
        """Say in one line how often it accepts what is wrong, and how sure that is."""
        part = "" if self.whole else ", limited"
        return f"false accepts {self.false_accept}, n={self.false_accept.of}{part}"


def prompt_sha256(settings: Settings) -> str:
    """Hash all that an evaluator is asked with, but for the change itself."""
    specs = offered_tools(Toolbox.for_reading(Path("/")).specs) if settings.evaluator_tools else ()
    blank = EvaluatorView(
        task=Task(id="T-001", title="-", description="-", acceptance_criteria=("-",)),
        change=shown_change(""),
        case=Case(summary="-", ac_coverage=()),
        seed_tests=(),
        validators="",
        red_to_green="",
        tampering=(),
        upstream=(),
        conventions=(),
        ledger=(),
        threshold=settings.eval_threshold,
        turns=settings.max_evaluator_turns if specs else 1,
    )
    message = evaluator_message(blank, "word")
    asked = review_conversation(message, id="", model="", max_tokens=0, tools=specs)
    # The threshold decides beside the words: an accept below it is a reject.
    later = render("prior-iterations", verdicts="")
    return hash_of([asked.request(), later, settings.eval_threshold])


def hash_of(asked: Any) -> str:
    """Hash a question as it is put: in a schema, what comes first is written first."""
    return digest(json.dumps(asked, ensure_ascii=False))


def keep(home: Path, measurement: Measurement) -> None:
    """Add what was measured."""
    make_private(home)
    journal = Journal(home / EVAL_CHECKS)
    try:
        journal.append(json.dumps(jsonable(measurement), ensure_ascii=False), sync=True)
    finally:
        journal.close()


def newest(settings: Settings, model: str) -> Measurement | None:
    """Give the newest whole measurement of a model with today's prompts, else the newest at all."""
    prompts = prompt_sha256(settings)
    found = [
        each
        for each in _read(settings.home / EVAL_CHECKS)
        if (each.model, each.prompt_sha256) == (model, prompts) and each.false_accept.of
    ]
    best = [each for each in found if each.whole] or found
    return best[-1] if best else None


def figures(settings: Settings, models: Iterable[str]) -> dict[str, str]:
    """Give the newest figure of each model that has one."""
    known = {model: newest(settings, model) for model in dict.fromkeys(models)}
    return {model: each.figure for model, each in known.items() if each is not None}


def _read(path: Path) -> Iterable[Measurement]:
    """Read every line that can be read: a figure is a courtesy, never a reason to fail."""
    try:
        lines = read_plain(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield Measurement.model_validate_json(line)
        except ValidationError:
            continue
