"""The dispute: a worker says the contract is at fault, and the evaluator rules on it once."""

from __future__ import annotations

from tilth.base.errors import Unreadable
from tilth.contract.case import Blocker, parse_blocker
from tilth.contract.operator_requests import answered_about
from tilth.contract.outcomes import FailReason, TaskEnd
from tilth.contract.rules import Rules
from tilth.contract.ruling import SUBMIT_RULING, Ruling, parse_ruling
from tilth.log.events import BlockerRaised, EvaluatorParseError
from tilth.model.messages import Block, Conversation, Role, ToolCall, ToolResult
from tilth.task.asking import ask, open_conversation
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench
from tilth.task.briefs import TRY_FIRST, DisputeView, block_word, dispute_message, dispute_system
from tilth.task.checks import runs_tests
from tilth.task.opening import seed_test_texts
from tilth.task.review import change_of
from tilth.task.tool_turns import give_result

UNREADABLE_RULING = (
    "The evaluator gave no readable ruling, so the contract stands as written. Go on with the task."
)


def hear_blocker(bench: Bench, attempt: Attempt, call: ToolCall) -> ToolResult | TaskEnd:
    """End the task as blocked when the evaluator agrees; otherwise give its answer back."""
    try:
        blocker = parse_blocker(call.arguments)
    except Unreadable as error:
        return give_result(bench, attempt, call, str(error), is_error=True)
    ruled = attempt.rulings.pop(call.id, None)
    if ruled is None and bench.rules >= Rules.PROGRESS and _is_untried(bench, attempt):
        ruled = BlockerRaised(
            call_id=call.id,
            blocker=blocker,
            contract_at_fault=False,
            ruling=TRY_FIRST,
            ruled_by="harness",
        )
        attempt.emit(ruled)
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
        return TaskEnd(FailReason.BLOCKED, f"{blocker.reason} Evaluator: {ruled.ruling}")
    told = ruled.ruling if ruled.ruled_by == "harness" else f"The contract stands. {ruled.ruling}"
    return give_result(bench, attempt, call, told, is_error=False)


def _is_untried(bench: Bench, attempt: Attempt) -> bool:
    """Tell whether this is the first blocker, and nothing was done before it was raised."""
    for message in attempt.conversation.messages:
        for block in message["content"]:
            if block.get("type") == "tool_result" and TRY_FIRST in block["content"]:
                return False
            if block.get("type") == "tool_use" and _runs_tests(bench, block):
                return False
    tree = bench.tree.freeze(attempt.base).tree
    return not bench.tree.diff(attempt.base, tree)


def _runs_tests(bench: Bench, call: Block) -> bool:
    arguments = call.get("input")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if call.get("name") != "bash" or not isinstance(command, str):
        return False
    return runs_tests(command, bench.validators)


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
    message = dispute_message(_view(bench, attempt, blocker), block_word(bench.new_id()))
    conversation.say(bench.mask.result(message))
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
    diff = bench.tree.diff(attempt.base, frozen.tree)
    return DisputeView(
        task=attempt.task,
        blocker=blocker,
        seed_tests=seed_test_texts(bench, attempt.task),
        change=change_of(bench, attempt, frozen.tree, diff),
        files=tuple(sorted(bench.tree.files(frozen.tree))),
        answers=answered_about(bench.record.requests(), attempt.task.id),
        notes=bench.words.state.notes_on(attempt.task.id),
    )
