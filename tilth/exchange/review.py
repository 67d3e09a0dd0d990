"""The review: one conversation with the evaluator about one case."""

from __future__ import annotations

from tilth.bench import Bench
from tilth.briefs import EvaluatorView, evaluator_message, evaluator_system
from tilth.errors import Unreadable
from tilth.events import Emit
from tilth.exchange.asking import open_conversation
from tilth.exchange.attempt import Attempt, Submission
from tilth.exchange.opening import conventions, seed_test_texts, upstream
from tilth.findings import Validation
from tilth.messages import Block, Conversation, Model, Role, ToolResult, Turn
from tilth.payloads import EvaluatorParseError
from tilth.verdict import (
    SUBMIT_VERDICT,
    Decision,
    Judged,
    LedgerEntry,
    RejectionCategory,
    harness_reject,
)


def open_review(
    bench: Bench, attempt: Attempt, model: Model, submission: Submission, validation: Validation
) -> Conversation:
    """Begin a conversation that has never seen the worker's."""
    conversation = Conversation(
        id=bench.new_id(),
        role=Role.EVALUATOR,
        model=model.name,
        max_tokens=bench.settings.max_output_tokens,
        system=evaluator_system(),
        tools=(SUBMIT_VERDICT,),
    )
    view = _view(bench, attempt, submission, validation)
    conversation.say(bench.mask.result(evaluator_message(view, bench.new_id())))
    open_conversation(conversation, model, attempt.emit)
    return conversation


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
    )


def ask_again(
    conversation: Conversation,
    emit: Emit,
    turn: Turn,
    number: int,
    error: Unreadable,
    *,
    again: bool,
) -> None:
    """Record an unreadable answer and, if there is a second try, say what was wrong with it."""
    reply = _correction(turn, error) if again else []
    emit(
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
