"""The dispute: a worker says the contract is at fault, and the evaluator rules on it once."""

from __future__ import annotations

from tilth.bench import Bench
from tilth.briefs import DisputeView, dispute_message, dispute_system
from tilth.case import Blocker, parse_blocker
from tilth.errors import Unreadable
from tilth.exchange.asking import ask, open_conversation
from tilth.exchange.attempt import Attempt
from tilth.exchange.opening import seed_test_texts
from tilth.exchange.toolrun import give_result
from tilth.messages import Conversation, Role, ToolCall, ToolResult
from tilth.outcomes import FailReason, TaskEnd
from tilth.payloads import BlockerRaised, EvaluatorParseError
from tilth.requests import answered_about
from tilth.ruling import SUBMIT_RULING, Ruling, parse_ruling

UNREADABLE_RULING = (
    "The reviewer gave no readable ruling, so the contract stands as written. Go on with the task."
)


def hear_blocker(bench: Bench, attempt: Attempt, call: ToolCall) -> ToolResult | TaskEnd:
    """End the task as blocked when the evaluator agrees; otherwise give its answer back."""
    try:
        blocker = parse_blocker(call.arguments)
    except Unreadable as error:
        return give_result(bench, attempt, call, str(error), is_error=True)
    ruled = attempt.rulings.pop(call.id, None)
    if ruled is None:
        ruling = _rule(bench, attempt, blocker)
        ruled = BlockerRaised(
            call_id=call.id,
            blocker=blocker,
            contract_at_fault=ruling.contract_at_fault,
            ruling=ruling.reason,
        )
        attempt.emit(ruled)
    if ruled.contract_at_fault:
        return TaskEnd(FailReason.BLOCKED, f"{blocker.reason} Reviewer: {ruled.ruling}")
    told = f"The contract stands. {ruled.ruling}"
    return give_result(bench, attempt, call, told, is_error=False)


def _rule(bench: Bench, attempt: Attempt, blocker: Blocker) -> Ruling:
    if not bench.settings.evaluate:
        # Nobody else is there to rule, and the worker may not rule for itself.
        return Ruling(contract_at_fault=False, reason=UNREADABLE_RULING)
    model = bench.evaluator_for(attempt.task)
    conversation = Conversation(
        id=bench.new_id(),
        role=Role.EVALUATOR,
        model=model.name,
        max_tokens=bench.settings.max_output_tokens,
        system=dispute_system(),
        tools=(SUBMIT_RULING,),
    )
    conversation.say(
        bench.mask.result(dispute_message(_view(bench, attempt, blocker), bench.new_id()))
    )
    open_conversation(conversation, model, attempt.emit)
    turn = ask(bench, model, conversation, attempt.emit)
    try:
        return parse_ruling(turn)
    except Unreadable as error:
        attempt.emit(
            EvaluatorParseError(
                conversation=conversation.id, attempt=1, error=str(error), raw=list(turn.content)
            )
        )
        return Ruling(contract_at_fault=False, reason=UNREADABLE_RULING)


def _view(bench: Bench, attempt: Attempt, blocker: Blocker) -> DisputeView:
    frozen = bench.tree.freeze(attempt.base)
    return DisputeView(
        task=attempt.task,
        blocker=blocker,
        seed_tests=seed_test_texts(bench, attempt.task),
        diff=bench.tree.diff(attempt.base, frozen.tree),
        answers=answered_about(bench.record.requests(), attempt.task.id),
    )
