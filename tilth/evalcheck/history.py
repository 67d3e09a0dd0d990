"""Trees on which a person has spoken: questions that the sessions here hold the answer to.

A person's accept says that a tree is right, a reject that it is wrong; the last word on a tree
counts. Each is judged again where it stood, in a repository of our own that borrows the source's
objects. The sessions and their repositories are only read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tilth.base.errors import CorruptSession, UserError
from tilth.base.safe_text import one_line
from tilth.base.values import canonical, digest
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.contract.case import Case
from tilth.contract.operator_word import Verb
from tilth.contract.prd import Plan, Status, Task
from tilth.contract.verdict import LedgerEntry, RejectionCategory
from tilth.evalcheck.cases import BrokenCase, CaseProblem
from tilth.evalcheck.question import Layout, new_session
from tilth.git import trees
from tilth.git.borrowed import borrow
from tilth.git.source import open_source
from tilth.log.events import CaseSubmitted, Committed, OperatorSpoke
from tilth.log.state import SessionState, fold
from tilth.log.task_state import AttemptState, TaskState
from tilth.session.catalog import readable_sessions
from tilth.session.files import read_tests
from tilth.session.parts import read_facts
from tilth.session.session import Session


@dataclass(frozen=True)
class Submitted:
    """Hold one case of a session as it was handed in."""

    base: str
    tree: str
    case: Case
    ts: str
    round: int


@dataclass(frozen=True)
class SpokenQuestion:
    """Be one tree a person has ruled on."""

    session: Session
    state: SessionState
    task: Task
    submitted: Submitted
    word: OperatorSpoke
    ruled: LedgerEntry | None

    @property
    def case(self) -> str:
        return self.session.id

    @property
    def change(self) -> str:
        return f"{self.task.id} {self.submitted.tree[:12]}"

    @property
    def is_right(self) -> bool:
        return self.word.accepts

    @property
    def category(self) -> RejectionCategory:
        """Give what the person, else the evaluator, found wrong with it."""
        said = self.word.category or (self.ruled.rejection_category if self.ruled else None)
        return said or RejectionCategory.ACCEPTANCE_GAP

    @property
    def note(self) -> str:
        return self.word.text or f"a person said {self.word.decision}"

    @property
    def fingerprint(self) -> str:
        return digest(canonical([self.case, self.change, self.submitted.base, self.is_right]))

    def lay_out(self, root: Path, mask: Mask) -> Layout:
        """Set the task up where it stood when the tree was handed in."""
        checkpoint, at = self.session.checkpoint, self.submitted
        origin = open_source(Path(checkpoint.source))
        source = borrow(origin, at.base, root / "git")
        if not trees.exists(source, at.tree):
            raise BrokenCase(f"{self.change}: its tree is gone from {origin.root}")
        tests = read_tests(self.session.seed_tests)
        session = new_session(source, root, self._plan(), tests, mask)
        for entry in self._before():
            session.append_ledger_entry(entry)
        for request in self.session.requests():
            if request.ts <= at.ts:
                session.append_request(request)
        return Layout(
            source=source,
            facts=read_facts(source, checkpoint.base_commit),
            session=session,
            task_id=self.task.id,
            tree=lambda tip: at.tree,
            case=at.case,
            notes=self._told(),
        )

    def _plan(self) -> Plan:
        """Give the plan as it stood then: what this task was built on is done, no other is left."""
        kept_of_it = {"round": self.submitted.round, "merged_with": self.task.merged_with}
        this = self.task.unstarted().model_copy(update=kept_of_it)
        plan, landed = self.session.plan, {None, *self._landed_before()}
        below = plan.upstream_of(self.task)
        done = [t for t in plan.tasks if t.status is Status.DONE and t.id != self.task.id]
        kept = [task for task in done if task in below or task.commit in landed]
        return plan.model_copy(update={"tasks": (*kept, this)})

    def _landed_before(self) -> set[str]:
        """Give the session's commits that its base stands on."""
        found: set[str] = set()
        commit = self.submitted.base
        while commit in self.state.commits:
            found.add(commit)
            commit = self.state.commits[commit].parent
        return found

    def _told(self) -> tuple[OperatorSpoke, ...]:
        """Give what the worker had been told; nothing said after the ruling may be heard here."""
        ruled = (i for i, word in enumerate(self.state.words) if word.tree == self.submitted.tree)
        words = self.state.words[: next(ruled, None)]
        return tuple(w for w in words if w.verb is Verb.TELL and w.task == self.task.id)

    def _before(self) -> Iterator[LedgerEntry]:
        """Give the verdicts that stood before anybody ruled on this tree."""
        for entry in self.state.task(self.task.id).ledger:
            if entry.tree == self.submitted.tree:
                return
            yield entry


def spoken_on(settings: Settings) -> tuple[list[SpokenQuestion], list[CaseProblem]]:
    """Find every tree a person has ruled on, oldest session first, and what cannot be used."""
    found: list[SpokenQuestion] = []
    problems: list[CaseProblem] = []
    for session in sorted(readable_sessions(settings), key=lambda session: session.id):
        try:
            found += _of(session)
        except (CorruptSession, UserError, OSError) as error:
            problems.append(CaseProblem(case=session.id, what=one_line(str(error))))
    return found, problems


def _of(session: Session) -> list[SpokenQuestion]:
    if not os.path.exists(session.log_path):
        return []
    state = fold(session.events())
    last = {
        (word.task, word.tree): word
        for word in state.words
        if word.decision is not None and word.refused is None and word.tree
    }
    return [question for word in last.values() if (question := _question(session, state, word))]


def _question(session: Session, state: SessionState, word: OperatorSpoke) -> SpokenQuestion | None:
    task = session.plan.task(word.task or "")
    known = state.task(word.task)
    submitted = _submitted(known, word.tree or "")
    if task is None or submitted is None:
        return None
    ruled = [e for e in known.ledger if e.tree == word.tree and e.source == "evaluator"]
    return SpokenQuestion(session, state, task, submitted, word, ruled[-1] if ruled else None)


def _submitted(task: TaskState, tree: str) -> Submitted | None:
    """Find the case in which a tree was handed in, and where its attempt began."""
    number = 1
    for attempt in task.attempts:
        for event in attempt.milestones:
            if isinstance(event.payload, CaseSubmitted) and event.payload.tree == tree:
                case = event.payload.case
                return Submitted(attempt.base_at(event.seq), tree, case, event.ts, number)
        number += _landed(attempt)
    return None


def _landed(attempt: AttemptState) -> bool:
    return any(commit.kind == "done" for commit in attempt.all(Committed))
