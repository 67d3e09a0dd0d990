"""Planted changes: small tasks that ship with Tilth, each with a wrong and a right change.

Both pass the task's tests and ruff; only judgement tells them apart. What git and the validators
said about them stands in `recorded.json`, written down from a real run of the gate.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from tilth.base.values import Value
from tilth.contract.case import Case
from tilth.contract.prd import Task
from tilth.contract.verdict import RejectionCategory
from tilth.task.briefs import EvaluatorView, NamedText

RECORDED = "recorded.json"


class Change(Value):
    """Hold one change as whole files, and the case made for it."""

    files: Mapping[str, str]
    case: Case


class Pair(Value):
    """Hold one task with a change that is wrong, for the fault it names, and one that is right."""

    category: RejectionCategory
    fault: str
    task: Task
    base: Mapping[str, str]
    tests: Mapping[str, str]
    wrong: Change
    right: Change


class Proof(Value):
    """Hold what a real run said about one change."""

    diff: str
    checks: str


class Record(Value):
    """Hold what a real run said about one pair."""

    red_to_green: str
    wrong: Proof
    right: Proof


class Planted(Value):
    """Hold one change to be played, and what a good evaluator says to it."""

    pair: Pair
    record: Record
    is_right: bool

    @property
    def name(self) -> str:
        return f"{self.pair.category} {'right' if self.is_right else 'wrong'}"

    def view(self, threshold: int, context_files: tuple[str, ...]) -> EvaluatorView:
        """Show it as a run would."""
        pair = self.pair
        change, proof = (
            (pair.right, self.record.right) if self.is_right else (pair.wrong, self.record.wrong)
        )
        return EvaluatorView(
            task=pair.task,
            diff=proof.diff,
            case=change.case,
            seed_tests=_named({f"tests/{name}": text for name, text in pair.tests.items()}),
            validators=proof.checks,
            red_to_green=self.record.red_to_green,
            tampering=(),
            upstream=(),
            conventions=_named({n: pair.base[n] for n in context_files if n in pair.base}),
            ledger=(),
            threshold=threshold,
        )


def _named(texts: Mapping[str, str]) -> tuple[NamedText, ...]:
    return tuple(NamedText(name=name, text=text) for name, text in texts.items())


def pairs() -> tuple[Pair, ...]:
    """Read every pair that ships with Tilth, in the order of their categories' names."""
    found = [entry for entry in _home().joinpath("changes").iterdir() if entry.name[-5:] == ".toml"]
    texts = [entry.read_text("utf-8") for entry in sorted(found, key=lambda entry: entry.name)]
    return tuple(Pair.model_validate(tomllib.loads(text)) for text in texts)


def records() -> dict[str, Record]:
    """Read what a real run said about every pair, by category."""
    written = json.loads(_home().joinpath(RECORDED).read_text("utf-8"))
    return {category: Record.model_validate(record) for category, record in written.items()}


def planted() -> tuple[Planted, ...]:
    """Give every change to be played."""
    known = records()
    return tuple(
        Planted(pair=pair, record=known[pair.category], is_right=is_right)
        for pair in pairs()
        for is_right in (False, True)
    )


def _home() -> Traversable:
    return resources.files("tilth").joinpath("evalcheck")
