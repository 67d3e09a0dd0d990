"""The cases an evaluator is measured on: small tasks, each with changes known to be right or wrong.

Reads a suite's directory into frozen values and names every case it cannot use. Never applies a
patch, never runs a test, never asks a model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints, ValidationError, field_validator

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_toml
from tilth.base.plain_file import read_inside
from tilth.base.values import Value, describe_faults
from tilth.contract.verdict import RejectionCategory

RIGHT, WRONG = "right", "wrong"
TESTS = "tests"

_VISIBLE = re.compile(r"test_t001_\w+\.py")
_HIDDEN = re.compile(r"test_hidden_\w+\.py")
_SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_DIFF = re.compile(r"^diff --git a/(?P<old>.+) b/(?P<new>.+)$", re.MULTILINE)

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class EvalChange(Value):
    """Hold one change to a case's base, and whether it is right.

    `note` is what its author says about it: it gives the answer away, so no evaluator may see it.
    """

    name: str
    is_right: bool
    note: str
    patch: str


class EvalCase(Value):
    """Hold one task: the project before it, the tests that the gate runs, and those that decide."""

    id: str
    category: RejectionCategory
    title: Text
    description: Text
    acceptance_criteria: tuple[Text, ...]
    base: Mapping[str, str]
    visible: Mapping[str, str]
    hidden: Mapping[str, str]
    changes: tuple[EvalChange, ...]

    @property
    def rights(self) -> tuple[EvalChange, ...]:
        return tuple(change for change in self.changes if change.is_right)

    @property
    def wrongs(self) -> tuple[EvalChange, ...]:
        return tuple(change for change in self.changes if not change.is_right)


class CaseProblem(Value):
    """Say why a case cannot be used."""

    case: str
    what: str

    def __str__(self) -> str:
        return f"{self.case}: {self.what}"


class Suite(Value):
    """Hold the cases that can be used, and what is wrong with the others."""

    cases: tuple[EvalCase, ...]
    problems: tuple[CaseProblem, ...]


class BrokenCase(ValueError):
    """Say in one line what keeps a case from being used."""


class _Header(Value):
    """Read `case.toml`."""

    id: Text
    category: RejectionCategory
    title: Text
    description: Text
    acceptance_criteria: tuple[Text, ...]

    @field_validator("acceptance_criteria")
    @classmethod
    def _not_empty(cls, criteria: tuple[str, ...]) -> tuple[str, ...]:
        if not criteria:
            raise ValueError("name at least one criterion")
        return criteria


def shipped_suite() -> Path:
    """Give the directory of the suite that ships with Tilth."""
    return Path(str(resources.files("tilth").joinpath("evalcheck", "suite")))


def load_suite(directory: Path | None = None) -> Suite:
    """Read every case below a directory in the order of their names; none: the shipped suite."""
    home = directory or shipped_suite()
    if not home.is_dir():
        return _unusable(home, "no such directory; name one that holds a directory for each case")
    folders = sorted(
        entry for entry in home.iterdir() if entry.is_dir() and entry.name[0] not in "._"
    )
    if not folders:
        return _unusable(home, "holds no case; a case is a directory with a case.toml")
    cases, problems = [], []
    for folder in folders:
        try:
            cases.append(load_case(folder))
        except BrokenCase as broken:
            problems.append(CaseProblem(case=folder.name, what=str(broken)))
    return Suite(cases=tuple(cases), problems=tuple(problems))


def _unusable(home: Path, what: str) -> Suite:
    return Suite(cases=(), problems=(CaseProblem(case=str(home), what=what),))


def load_case(folder: Path) -> EvalCase:
    """Read one case; raise BrokenCase, which names the file and what it lacks."""
    header = _header(folder)
    base = _texts(folder / "base")
    case = EvalCase(
        **header.model_dump(),
        base=base,
        visible=_tests(folder / "visible", _VISIBLE, "test_t001_<slug>.py", base),
        hidden=_tests(folder / "hidden", _HIDDEN, "test_hidden_<slug>.py", base),
        changes=_changes(folder),
    )
    _refuse_twins(case)
    _refuse_tampering(case)
    return case


def _header(folder: Path) -> _Header:
    text = _text(folder / "case.toml", folder)
    try:
        header = _Header.model_validate(read_toml(text, "case.toml"))
    except BadText as error:
        raise BrokenCase(str(error)) from error
    except ValidationError as error:
        raise BrokenCase(f"case.toml: {describe_faults(error)}") from error
    if header.id != folder.name:
        raise BrokenCase(f"case.toml: id is {header.id!r}, but the directory is {folder.name!r}")
    return header


def _tests(
    folder: Path, pattern: re.Pattern[str], form: str, base: Mapping[str, str]
) -> dict[str, str]:
    texts = _texts(folder)
    for name in texts:
        if not pattern.fullmatch(name):
            raise BrokenCase(f"{folder.name}/{name}: a test here is named {form}")
        if f"{TESTS}/{name}" in base:
            raise BrokenCase(f"{folder.name}/{name}: stands in base/{TESTS} already")
    return texts


def _changes(folder: Path) -> tuple[EvalChange, ...]:
    changes = []
    for side in (RIGHT, WRONG):
        for name, text in _texts(folder / side).items():
            where = f"{side}/{name}"
            slug = name.removesuffix(".patch")
            if slug == name or not _SLUG.fullmatch(slug):
                raise BrokenCase(f"{where}: a change is named <slug>.patch, in small letters")
            note, patch = _parted(text, where)
            changes.append(EvalChange(name=slug, is_right=side == RIGHT, note=note, patch=patch))
    return tuple(changes)


def _parted(text: str, where: str) -> tuple[str, str]:
    """Part what an author says about a change from the change itself."""
    found = _DIFF.search(text)
    if found is None:
        raise BrokenCase(f"{where}: no line `diff --git a/... b/...`; write a git diff of base/")
    note, patch = text[: found.start()].strip(), text[found.start() :]
    if not note:
        raise BrokenCase(f"{where}: say above the diff what the change is, or why it is wrong")
    return note, patch


def _refuse_twins(case: EvalCase) -> None:
    """Refuse a change that stands there twice: it would be counted twice."""
    seen: dict[str, str] = {}
    for change in case.changes:
        where = place_of(change)
        if change.patch in seen:
            raise BrokenCase(f"{where}: the same change as {seen[change.patch]}")
        seen[change.patch] = where


def _refuse_tampering(case: EvalCase) -> None:
    """Refuse a change to the tests that decide about it."""
    given = {f"{TESTS}/{name}" for name in (*case.visible, *case.hidden)}
    for change in case.changes:
        touched = {name for pair in _DIFF.findall(change.patch) for name in pair}
        for name in sorted(touched & given):
            raise BrokenCase(f"{place_of(change)}: changes {name}, which belongs to the case")


def place_of(change: EvalChange) -> str:
    """Name a change as its file is named within the case."""
    return f"{RIGHT if change.is_right else WRONG}/{change.name}"


def _texts(folder: Path) -> dict[str, str]:
    """Read all files below a directory of a case, by their names within it."""
    if not folder.is_dir():
        raise BrokenCase(f"{folder.name}/ is missing")
    _refuse_way_out(folder, folder.parent)
    found = sorted(path for path in folder.rglob("*") if path.is_file() and _counts(path, folder))
    if not found:
        raise BrokenCase(f"{folder.name}/ is empty")
    return {path.relative_to(folder).as_posix(): _text(path, folder.parent) for path in found}


def _counts(path: Path, folder: Path) -> bool:
    """Tell whether a file is the author's, and not bytecode that a run of the tests left there."""
    return "__pycache__" not in path.relative_to(folder).parts


def _refuse_way_out(path: Path, case: Path) -> None:
    """Refuse a link out of a case: whatever it led to would be shown to the evaluator."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(case)):
        name = path.relative_to(case).as_posix()
        raise BrokenCase(f"{name}: leads out of the case; put the file itself there")


def _text(path: Path, case: Path) -> str:
    _refuse_way_out(path, case)
    name = path.relative_to(case).as_posix()
    try:
        # decoded by hand: a file's own line ends must stay for the patches to fit
        return read_inside(case, path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenCase(f"{name}: not UTF-8") from error
    except OSError as error:
        raise BrokenCase(f"{name}: cannot be read: {error.strerror}") from error
