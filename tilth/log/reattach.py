"""Reattaching: where the exchange of an interrupted task stood when its log ended.

Pure: from the state of its attempt and its rebuilt conversation to what is still to be acted on.
What is done with it is decided in `tilth.session.recovery`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from tilth.contract.case import CONTROL_TOOLS
from tilth.contract.evidence import Mutated, Probed
from tilth.contract.operator_word import Verb
from tilth.contract.outcomes import FailReason
from tilth.contract.verdict import LedgerEntry
from tilth.log.conversations import Thread, turn_of
from tilth.log.events import (
    BlockerRaised,
    CaseSubmitted,
    EvaluatorVerdict,
    LandingRefused,
    OperatorSpoke,
)
from tilth.log.state import SessionState
from tilth.log.task_state import AttemptState, RedTree, ReviewState, TaskState
from tilth.model.messages import ToolCall, ToolResult, Turn
from tilth.task.attempt import Green, OpenReview, Review
from tilth.task.evidence_record import EvidenceRecord


@dataclass(frozen=True)
class Exchange:
    """Hold where an exchange stood when its log ended."""

    thread: Thread | None = None
    iterations: int = 0
    quiet: int = 0
    bonuses: int = 0
    rejections: int = 0
    unreadable: int = 0
    green: Green | None = None
    red: RedTree | None = None
    forced: FailReason | None = None
    # The last answer, if it is not wholly acted on, and what was ruled on it but not yet told.
    open_turn: Turn | None = None
    submitted: CaseSubmitted | None = None
    validators: dict[str, bool] = field(default_factory=dict)
    review: OpenReview | None = None
    # What the evaluator's endpoint was when the open review began.
    reviewed_at: str = ""
    ruled: dict[str, LedgerEntry] = field(default_factory=dict)
    rulings: dict[str, BlockerRaised] = field(default_factory=dict)
    # What a person said that no message holds yet.
    notes: tuple[str, ...] = ()
    # The cases and blockers that are given back unheard, because a person has a note first.
    held: frozenset[str] = frozenset()
    # With several jobs: what was ruled on the open case, as first submitted and once merged, a
    # landing that was refused since the last answer, and where the last one was in conflict.
    verdicts: tuple[LedgerEntry, ...] = ()
    refused: LandingRefused | None = None
    conflicted: tuple[str, ...] = ()

    @property
    def answered(self) -> dict[str, ToolResult]:
        return self.thread.results if self.thread and self.open_turn else {}

    def green_of(self, tree: str) -> Green | None:
        """Give a landed tree with its case; without an evaluator only the case tells of it."""
        if self.submitted is not None and self.submitted.tree == tree:
            return Green(tree, self.submitted.case)
        return self.green

    @property
    def waiting_call(self) -> str | None:
        """Name the case or blocker that a resume would hear next."""
        turn = self.open_turn
        if turn is None or turn.was_cut or self.refused is not None:
            return None
        answered = self.answered
        calls = (call for call in turn.tool_calls if call.name in CONTROL_TOOLS)
        return next((call.id for call in calls if call.id not in answered), None)

    def unanswered(self, control: frozenset[str]) -> tuple[ToolCall, ...]:
        """Give the worktree calls of the open answer that have no recorded result."""
        turn = self.open_turn
        if turn is None or turn.was_cut:
            return ()
        answered = self.answered
        return tuple(
            call for call in turn.tool_calls if call.id not in answered and call.name not in control
        )


def exchange_of(task: TaskState, state: SessionState) -> Exchange:
    """Say where a task's last attempt stood."""
    attempt = task.attempt
    threads = state.conversations.threads if state.conversations else {}
    thread = threads.get(attempt.conversation or "")
    open_turn = None if thread is None or thread.is_answered else thread.turn
    since = attempt.last_answer
    verdicts = tuple(attempt.all(EvaluatorVerdict, since)) if open_turn is not None else ()
    submitted = attempt.last(CaseSubmitted, since)
    about = threads.get(attempt.review.conversation) if attempt.review else None
    last, refused = attempt.last(LandingRefused), attempt.last(LandingRefused, since)
    if refused is not None:
        # Whatever was ruled before it is over with.
        verdicts = ()
    acted = [*attempt.all(EvaluatorVerdict)][: -len(verdicts) or None]
    ruled = {each.call_id: each.entry for each in verdicts}
    green = attempt.green
    return Exchange(
        thread=thread,
        iterations=attempt.iterations,
        quiet=attempt.quiet,
        # What verdicts earned that were acted on; the others are counted when they are.
        bonuses=sum(verdict.earns_bonus for verdict in acted) + _refusals(attempt),
        rejections=sum(verdict.counts_toward_cap for verdict in acted),
        unreadable=_unread_at_the_end(acted),
        green=Green(green.tree, green.case) if green else None,
        red=attempt.red,
        forced=attempt.forced,
        open_turn=open_turn,
        submitted=submitted,
        validators={run.name: run.passed for run in attempt.validators} if submitted else {},
        review=_open_review(attempt, about, submitted) if open_turn and not verdicts else None,
        reviewed_at=about.endpoint if about else "",
        # A person has the last word on a case.
        ruled={**ruled, **_sent_back(attempt, since)} if refused is None else {},
        rulings={raised.call_id: raised for raised in attempt.all(BlockerRaised, since)},
        notes=tuple(note["text"] for note in thread.notes) if thread and open_turn else (),
        held=_held(task, state),
        verdicts=tuple(verdict.entry for verdict in verdicts),
        refused=refused,
        conflicted=last.files if last else (),
    )


def _open_review(
    attempt: AttemptState, thread: Thread | None, submitted: CaseSubmitted | None
) -> OpenReview | None:
    """Give the review that was under way, so that it goes on in its own conversation."""
    known = attempt.review
    if known is None or thread is None or submitted is None:
        return None
    return OpenReview(
        review=_review_of(known, thread),
        call_id=submitted.call_id,
        case=submitted.case,
        tree=submitted.tree,
        diff_sha256=submitted.diff_sha256,
        validators={run.name: "passed" if run.passed else "failed" for run in attempt.validators},
    )


def _review_of(known: ReviewState, thread: Thread) -> Review:
    pending = None if thread.is_answered else thread.turn
    given = {} if pending is None else thread.results
    if pending is None:
        thread.settle()
    return Review(
        conversation=thread.conversation,
        answers=known.answers,
        unread=[turn_of(call) for call in known.unread],
        corrected=known.corrected,
        completed=known.completed,
        pending=pending,
        given=given,
    )


def open_opinions(state: SessionState) -> dict[str, Review]:
    """Give the second opinions that were under way, by task, so that they go on where they were."""
    threads = state.conversations.threads if state.conversations else {}
    asked = {
        task_id: (task.seconding, threads.get(task.seconding.conversation))
        for task_id, task in state.tasks.items()
        if task.seconding
    }
    return {
        task_id: _review_of(known, thread)
        for task_id, (known, thread) in asked.items()
        if thread is not None
    }


def evidence_of(state: SessionState, *, is_closed: bool = False) -> EvidenceRecord:
    """Give what the log says of challenges, probes and mutants, so that none is run again."""
    record = EvidenceRecord(is_closed=is_closed)
    for task in state.tasks.values():
        for run in task.probes:
            found = Probed(outcome=run.outcome, output=run.output, duration_ms=run.duration_ms)
            record.keep_probed(run.tree, run.probe, found)
        record.refused.update(failed.call_id for failed in task.refusals)
        for tried in task.mutant_runs:
            fields = {name: getattr(tried, name) for name in Mutated.model_fields}
            record.keep_mutated(task.id or "", tried.tree, Mutated(**fields))
        for made in task.challenges:
            record.keep_challenged(task.id or "", made.tree, made.found)
        for looked in task.evaluator_probes:
            test = looked.arguments.get("test") if isinstance(looked.arguments, dict) else None
            if isinstance(test, str) and not looked.is_error:
                told = ToolResult(call_id=looked.call_id, content=looked.content)
                record.keep_told(looked.tree, test, told)
    return record


def _refusals(attempt: AttemptState) -> int:
    return sum(refused.earns_bonus for refused in attempt.all(LandingRefused))


def _unread_at_the_end(verdicts: list[EvaluatorVerdict]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda entry: entry.parse_failed, verdicts[::-1]))


def _held(task: TaskState, state: SessionState) -> frozenset[str]:
    """Name what a person's notes were the answer to in the last conversation."""
    words = (word for word in state.words if word.verb is Verb.TELL)
    mine = (word for word in words if word.conversation == task.attempt.conversation)
    return frozenset(word.call_id for word in mine if word.call_id)


def _sent_back(attempt: AttemptState, since: int) -> dict[str, LedgerEntry]:
    """Give a person's verdicts on cases that were not yet told."""
    words = attempt.all(OperatorSpoke, since)
    return {word.call_id: word.entry for word in words if word.call_id and word.entry}
