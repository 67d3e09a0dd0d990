"""The review: one conversation with the evaluator about one case."""

from __future__ import annotations

from collections.abc import Callable

from tilth.bench import Bench
from tilth.briefs import EvaluatorView, evaluator_message, evaluator_system
from tilth.errors import Unreadable
from tilth.exchange.asking import open_conversation
from tilth.exchange.attempt import Attempt, Submission
from tilth.exchange.opening import conventions, seed_test_texts, upstream
from tilth.findings import Validation
from tilth.messages import Block, Conversation, Model, Role, ToolResult, Turn
from tilth.payloads import EvaluatorParseError
from tilth.requests import answered_about
from tilth.values import Value
from tilth.verdict import (
    SUBMIT_VERDICT,
    Decision,
    Judged,
    LedgerEntry,
    RejectionCategory,
    Verdict,
    harness_reject,
    parse_verdict,
)

VERDICT_TRIES = 2


class Reading(Value):
    """Hold the verdict that was read, if one could be, and the model that gave it."""

    verdict: Verdict | None
    model: str


def open_review(
    bench: Bench, attempt: Attempt, model: Model, submission: Submission, validation: Validation
) -> Conversation:
    """Begin a conversation that has never seen the worker's."""
    view = _view(bench, attempt, submission, validation)
    conversation = review_conversation(
        bench.mask.result(evaluator_message(view, bench.new_id())),
        id=bench.new_id(),
        model=model.name,
        max_tokens=bench.settings.max_output_tokens,
    )
    open_conversation(conversation, model, attempt.emit)
    return conversation


def review_conversation(message: str, *, id: str, model: str, max_tokens: int) -> Conversation:
    """Put one message to the evaluator, with the verdict as the only tool."""
    conversation = Conversation(
        id=id,
        role=Role.EVALUATOR,
        model=model,
        max_tokens=max_tokens,
        system=evaluator_system(),
        tools=(SUBMIT_VERDICT,),
    )
    conversation.say(message)
    return conversation


def read_verdict(
    conversation: Conversation,
    answer: Callable[[], Turn],
    threshold: int,
    on_unread: Callable[[EvaluatorParseError], object],
) -> Reading:
    """Have a verdict; one that cannot be read is asked for once more, with what was wrong."""
    for number in range(1, VERDICT_TRIES + 1):
        turn = answer()
        try:
            return Reading(verdict=parse_verdict(turn, threshold), model=turn.model)
        except Unreadable as error:
            again = number < VERDICT_TRIES
            reply = _correction(turn, error) if again else []
            on_unread(
                EvaluatorParseError(
                    conversation=conversation.id,
                    attempt=number,
                    error=str(error),
                    raw=list(turn.content),
                    reply=tuple(reply),
                )
            )
            if reply:
                conversation.reply(reply)
    return Reading(verdict=None, model=turn.model)


def _view(
    bench: Bench, attempt: Attempt, submission: Submission, validation: Validation
) -> EvaluatorView:
    task = attempt.task
    red_to_green = attempt.baseline.render() if attempt.baseline else "Not known."
    return EvaluatorView(
        task=task,
        diff=submission.diff,
        case=submission.case,
        seed_tests=seed_test_texts(bench, task),
        validators=validation.render(),
        red_to_green=red_to_green,
        tampering=validation.notes,
        upstream=upstream(bench, task, bench.record.plan),
        conventions=conventions(bench, attempt.base),
        ledger=bench.record.read_ledger(task.id),
        threshold=bench.settings.eval_threshold,
        answers=answered_about(bench.record.requests(), task.id),
    )


def _correction(turn: Turn, error: Unreadable) -> list[Block]:
    text = f"Your verdict could not be read: {error}. Call submit_verdict once more, corrected."
    results = [
        ToolResult(call_id=call.id, content=text, is_error=True).to_wire()
        for call in turn.tool_calls
    ]
    return results or [{"type": "text", "text": text}]


def unread_verdict(judged: Judged, model: str, *, fail_open: bool) -> LedgerEntry:
    """Rule where the evaluator could not be read: against the case, unless told otherwise."""
    closed = harness_reject(
        judged,
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern="The reviewer's verdict could not be read, so the case was not accepted.",
        next_step="This is no fault of yours: check your work once more and submit it again.",
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
