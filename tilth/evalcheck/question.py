"""The question: one change with a known answer, and how it is laid out for a run to judge.

A question knows what is right; what it lays out does not. It makes a repository and a session in a
directory of the caller's, and never asks a model and never runs a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tilth.base.clock import SystemClock
from tilth.base.values import canonical, digest, jsonable
from tilth.config.project import ProjectFacts
from tilth.config.secrets import Mask
from tilth.contract.case import Case, Coverage
from tilth.contract.prd import Plan, Task
from tilth.contract.verdict import RejectionCategory
from tilth.evalcheck.cases import BrokenCase, EvalCase, EvalChange, place_of
from tilth.git import trees
from tilth.git.fresh import make_repo
from tilth.git.patching import patched
from tilth.git.source import SourceRepo
from tilth.log.events import OperatorSpoke
from tilth.session.parts import read_facts
from tilth.session.session import Session, SessionStatus
from tilth.session.start import new_checkpoint

TASK_ID = "T-001"
_AUTHOR, _DATE = "Suite", "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Layout:
    """Hold a repository and a session in which a worker hands in exactly one tree.

    `tree` gives that tree, once the session's branch stands at the commit it is handed.
    """

    source: SourceRepo
    facts: ProjectFacts
    session: Session
    task_id: str
    tree: Callable[[str], str]
    case: Case
    # What a person had told the worker by then.
    notes: tuple[OperatorSpoke, ...] = ()


class Question(Protocol):
    """Be one change to be judged, with its answer."""

    @property
    def case(self) -> str: ...

    @property
    def change(self) -> str: ...

    @property
    def category(self) -> RejectionCategory: ...

    @property
    def is_right(self) -> bool: ...

    @property
    def note(self) -> str:
        """Say why it is right or wrong: for people, never for the evaluator."""

    @property
    def fingerprint(self) -> str:
        """Tell this question from one that was changed since."""

    def lay_out(self, root: Path, mask: Mask) -> Layout:
        """Make repository and session below `root`, or raise BrokenCase."""


@dataclass(frozen=True)
class SuiteQuestion:
    """Be one change of a suite."""

    suite_case: EvalCase
    suite_change: EvalChange

    @property
    def case(self) -> str:
        return self.suite_case.id

    @property
    def change(self) -> str:
        return place_of(self.suite_change)

    @property
    def category(self) -> RejectionCategory:
        return self.suite_case.category

    @property
    def is_right(self) -> bool:
        return self.suite_change.is_right

    @property
    def note(self) -> str:
        return self.suite_change.note

    @property
    def fingerprint(self) -> str:
        shown = jsonable(self.suite_case.model_copy(update={"changes": ()}))
        return digest(canonical([shown, self.change, self.suite_change.patch]))

    def lay_out(self, root: Path, mask: Mask) -> Layout:
        """Commit the base, and make a session whose one task is the case's."""
        case, patch = self.suite_case, self.suite_change.patch
        source = make_repo(root / "repo", _raw(case.base), "base", _AUTHOR, _DATE)
        after = patched(source, source.head, patch)
        if after is None:
            raise BrokenCase(f"{self.change}: the patch does not fit base/")
        return Layout(
            source=source,
            facts=read_facts(source, source.head),
            session=new_session(source, root, Plan(tasks=(_task(case),)), _raw(case.visible), mask),
            task_id=TASK_ID,
            tree=lambda tip: _made(source, tip, patch),
            case=_claim(case, _standing(source, after) or sorted(case.base)),
        )


def new_session(
    source: SourceRepo, root: Path, plan: Plan, tests: Mapping[str, bytes], mask: Mask
) -> Session:
    """Make a session that goes away with its directory."""
    checkpoint = new_checkpoint(source, SessionStatus.RUNNING)
    clock = SystemClock()
    return Session.new(root / "sessions", checkpoint, plan, tests, clock=clock, mask=mask)


def _raw(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in texts.items()}


def _task(case: EvalCase) -> Task:
    return Task(
        id=TASK_ID,
        title=case.title,
        description=case.description,
        acceptance_criteria=case.acceptance_criteria,
    )


def _made(source: SourceRepo, tip: str, patch: str) -> str:
    tree = patched(source, tip, patch)
    if tree is None:
        raise BrokenCase("the patch does not fit base/ with the visible tests in it")
    return tree


def _standing(source: SourceRepo, after: str) -> list[str]:
    """Name the files a change leaves behind: a claim can point at no other."""
    changes = trees.changes(source, source.head, after)
    return [change.path for change in changes if change.status != "D"]


def _claim(case: EvalCase, changed: list[str]) -> Case:
    """Make the claim any worker would make: every criterion met, by the files that changed.

    The same words for every change, so that they tell nothing about which one it is.
    """
    files = ", ".join(changed)
    return Case(
        summary=f"{case.title}: done, every acceptance criterion is met.",
        ac_coverage=tuple(
            Coverage(criterion=str(number), addressed_by=files)
            for number in range(1, len(case.acceptance_criteria) + 1)
        ),
    )
