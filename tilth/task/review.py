"""The review: one conversation with the evaluator about one case, and the entry it ends in.

`loop._evaluator_task` shows the order of these steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tilth.contract.evidence import Mutated
from tilth.contract.open_concerns import open_ids
from tilth.contract.operator_requests import answered_about
from tilth.contract.rules import Rules
from tilth.contract.verdict import (
    SUBMIT_VERDICT,
    Decision,
    Judged,
    LedgerEntry,
    RejectionCategory,
    concern_id,
    entry_of,
    harness_reject,
)
from tilth.gate.findings import Validation
from tilth.git.changes import is_cut
from tilth.log.events import EvaluatorVerdict, LedgerAppended
from tilth.model.messages import Conversation, Model, Role, ToolSpec
from tilth.task import landing
from tilth.task.asking import open_conversation
from tilth.task.attempt import Attempt, Review, Snapshot, Submission
from tilth.task.bench import Bench
from tilth.task.briefs import EvaluatorView, block_word, evaluator_message, evaluator_system
from tilth.task.opening import conventions, seed_test_texts, upstream
from tilth.task.review_turns import Reading, Terms
from tilth.task.shown_change import ShownChange, led_to, shown_change

ROUND_NOTE = (
    "Not asked of this change. It is round {round} of a task that was done before and that a "
    "person sent back: the diff is against that work{passing} "
    "What counts is whether the person's concern is settled and the criteria still hold."
)
PASSING_NOTE = ", which the acceptance tests pass already."


@dataclass(frozen=True)
class Evidence:
    """Hold all that was run on a case, for the evaluator to judge by."""

    validation: Validation
    probes: str = ""
    mutated: Mutated | None = None

    @property
    def validators(self) -> Mapping[str, Literal["passed", "failed"]]:
        return self.validation.summary


def open_review(
    bench: Bench,
    attempt: Attempt,
    model: Model,
    submission: Submission,
    evidence: Evidence,
    tools: tuple[ToolSpec, ...] = (),
) -> Review:
    """Begin a conversation that has never seen the worker's."""
    view = _view(bench, attempt, submission, evidence, can_look=bool(tools))
    conversation = review_conversation(
        bench.mask.result(evaluator_message(view, block_word(bench.new_id()))),
        id=bench.new_id(),
        model=model.name,
        max_tokens=bench.settings.max_output_tokens,
        tools=tools,
        cached_for=bench.words.state.cache_gaps.life(Role.EVALUATOR),
    )
    open_conversation(conversation, model, attempt.emit, unshown=view.change.unshown)
    return Review(conversation)


def change_of(bench: Bench, attempt: Attempt, tree: str, diff: str) -> ShownChange:
    """Decide what is shown of a change; git is asked for paths that the diff no longer holds."""
    beyond = bench.tree.changes(attempt.base, tree) if is_cut(diff) else ()
    paths = (change.path for change in beyond)
    if bench.rules < Rules.CHALLENGE:
        return shown_change(diff, paths)
    # A key that is broken over two lines would not be found again.
    return shown_change(bench.mask.result(diff), paths, partial(_led, bench, tree))


def _led(bench: Bench, tree: str, path: str) -> str:
    to = bench.tree.links(tree, path).get(path)
    content = bench.tree.read(tree, to) if to is not None else None
    return bench.mask.result(led_to(path, to, content, bench.tree.files(tree)))


def review_conversation(
    message: str,
    *,
    id: str,
    model: str,
    max_tokens: int,
    tools: tuple[ToolSpec, ...] = (),
    cached_for: Literal["5m", "1h"] = "5m",
) -> Conversation:
    """Put one message to the evaluator; without tools the verdict is all it can give."""
    conversation = Conversation(
        id=id,
        role=Role.EVALUATOR,
        model=model,
        max_tokens=max_tokens,
        system=evaluator_system(can_look=bool(tools)),
        tools=tools or (SUBMIT_VERDICT,),
        cached_for=cached_for,
    )
    conversation.say(message)
    return conversation


def _view(
    bench: Bench, attempt: Attempt, submission: Submission, evidence: Evidence, *, can_look: bool
) -> EvaluatorView:
    task = attempt.task
    known = attempt.baseline
    red_to_green = known.render() if known else "Not known."
    if task.round > 1:
        run = known is None or not known.seeds_left_out
        passing = PASSING_NOTE if run else f". {red_to_green}"
        red_to_green = ROUND_NOTE.format(round=task.round, passing=passing)
    return EvaluatorView(
        task=task,
        change=change_of(bench, attempt, submission.tree, submission.diff),
        case=submission.case,
        seed_tests=seed_test_texts(bench, task),
        validators=evidence.validation.render(),
        red_to_green=red_to_green,
        tampering=evidence.validation.notes,
        upstream=upstream(bench, task, bench.record.plan),
        conventions=conventions(bench, attempt.base),
        ledger=bench.record.read_ledger(task.id),
        threshold=bench.settings.eval_threshold,
        answers=answered_about(bench.record.requests(), task.id),
        notes=bench.words.state.notes_on(task.id),
        probes=evidence.probes,
        mutants=evidence.mutated.render() if evidence.mutated else "",
        turns=bench.settings.max_evaluator_turns if can_look else 1,
    )


def terms_of(bench: Bench, attempt: Attempt, tree: str) -> Terms:
    """Say what a verdict on a tree is read by."""
    return Terms(
        tree=tree,
        threshold=bench.settings.eval_threshold,
        open_ids=open_ids(bench.record.read_ledger(attempt.task.id)),
        rules=bench.rules,
    )


def entry_from(
    bench: Bench,
    attempt: Attempt,
    submission: Submission,
    validators: Mapping[str, Literal["passed", "failed"]],
    reading: Reading,
) -> LedgerEntry:
    """Make the entry; an unreadable verdict fails closed, unless told otherwise."""
    about = judged(bench, attempt, submission, validators)
    if reading.verdict is None:
        fail_open = bench.settings.fail_open_on_unparsed
        return _unread(about, reading.model, fail_open=fail_open)
    landing.flag_seed(bench, attempt, reading.verdict.seed_concern)
    threshold = bench.settings.eval_threshold
    return entry_of(
        reading.verdict, about, model=reading.model, threshold=threshold, proof=reading.proof
    )


def judged(
    bench: Bench,
    attempt: Attempt,
    seen: Snapshot,
    validators: Mapping[str, Literal["passed", "failed"]],
) -> Judged:
    """Say what a verdict is about."""
    return Judged(
        ts=bench.stamp(),
        task_id=attempt.task.id,
        iter=attempt.iterations,
        tree=seen.tree,
        diff_sha256=seen.diff_sha256,
        validators=validators,
    )


def record(bench: Bench, attempt: Attempt, call_id: str, entry: LedgerEntry) -> None:
    """Record a verdict: first in the log, which is the truth, then in the ledger."""
    # A word that another lane hears in between puts ledgers right from the log, this one too.
    with bench.one_at_a_time:
        number = len(bench.record.read_ledger(entry.task_id))
        entry = entry.model_copy(update={"id": concern_id(number)})
        attempt.tell(EvaluatorVerdict(call_id=call_id, **dict(entry)))
        entries = bench.record.append_ledger_entry(entry)
        attempt.emit(LedgerAppended(entries=entries))


def _unread(about: Judged, model: str, *, fail_open: bool) -> LedgerEntry:
    """Rule where the evaluator could not be read: against the case, unless told otherwise."""
    closed = harness_reject(
        about,
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern="The evaluator's verdict could not be read, so the case was not accepted.",
        next_step="Nothing was found against your work: call `submit_case` again.",
        parse_failed=True,
        model=model,
    )
    if not fail_open:
        return closed
    return closed.model_copy(
        update={
            "verdict": Decision.ACCEPT,
            "rejection_category": None,
            "concern": "Accepted unread: TILTH_FAIL_OPEN_ON_UNPARSED is on.",
            "next_step": None,
        }
    )
