"""The two loops: tasks one after another, and within a task one worker call after another.

It decides and emits; it never prints and never writes a file. Everything it touches stands on the
`Bench` it is handed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tilth.base.errors import (
    CapReached,
    DiskError,
    Interrupted,
    ProviderError,
    Unreadable,
    UserError,
    WorkspaceError,
    fault_line,
)
from tilth.config.settings import OnExhausted
from tilth.contract.case import RAISE_BLOCKER, SUBMIT_CASE, Case, parse_case
from tilth.contract.ledger_text import format_reject_feedback
from tilth.contract.outcomes import FailReason, StopReason, TaskEnd
from tilth.contract.prd import Plan, Status, Task
from tilth.contract.rules import Rules
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import (
    CaseParseError,
    Nudge,
    Stagnation,
)
from tilth.model.messages import ToolCall, ToolResult, Turn
from tilth.task import landing, review
from tilth.task.asking import ask, check_caps, check_stop
from tilth.task.attempt import Attempt, Green, OpenReview, RedCase, Snapshot, Submission
from tilth.task.bench import Bench, RunContext
from tilth.task.briefs import CUT_CALL, ONE_CASE, nudge
from tilth.task.case import (
    is_untouched,
    mechanical_reject,
    resubmitted,
    snapshot,
    submit,
    untouched_reject,
    validate,
)
from tilth.task.dispute import hear_blocker
from tilth.task.ending import Ending, stop
from tilth.task.evaluator_tools import EvaluatorTools
from tilth.task.evidence import gather
from tilth.task.failed_case import answer_again, keep_red
from tilth.task.final_tip import prove_tip
from tilth.task.foresight import foresee
from tilth.task.hearing import deliver, hear, hear_stop, hear_verdict
from tilth.task.opening import begin
from tilth.task.review import Evidence
from tilth.task.review_turns import read_verdict
from tilth.task.second_opinion import seek_opinion
from tilth.task.tool_turns import give_result, run_tool
from tilth.task.watch import find_standstill

QUIET_TURNS = 3
UNREADABLE_VERDICTS = 3
CONTROL_TOOLS = frozenset({SUBMIT_CASE.name, RAISE_BLOCKER.name})


@dataclass(frozen=True)
class _Halt:
    """Say why the work ended; `tip_red` is of all of it together."""

    reason: StopReason
    detail: str
    tip_red: bool = False


def run(context: RunContext, open_bench: Callable[[], tuple[Bench, Attempt | None]]) -> Ending:
    """Run the plan to its end or to whatever stops it, and record the stop.

    `open_bench` makes what is missing and gives the bench to work at, with the task that was in the
    middle of its work, if there is one. What goes wrong in it is a recorded stop like any other.
    """
    try:
        bench, attempt = open_bench()
        halt = _work(bench, attempt)
    except CapReached as cap:
        halt = _Halt(StopReason(cap.reason), str(cap))
    except ProviderError as error:
        halt = _Halt(StopReason.PROVIDER_FAILURE, str(error))
    except (Interrupted, KeyboardInterrupt):
        halt = _Halt(StopReason.INTERRUPTED, "stopped by the user")
        hear_stop(context)
    except (WorkspaceError, DiskError, UserError) as error:
        halt = _Halt(StopReason.ERROR, str(error))
    # The loop's edge: whatever goes wrong in a night, the record says that it stopped and why.
    except Exception as error:  # noqa: BLE001
        halt = _Halt(StopReason.ERROR, fault_line(error))
    return stop(context, halt.reason, halt.detail, tip_red=halt.tip_red)


def _work(bench: Bench, reattached: Attempt | None) -> _Halt:
    """Take one task after another until none is left that can be worked on."""
    failures: list[tuple[FailReason, Task]] = []
    while True:
        hear(bench, reattached)
        plan = bench.record.plan
        task = reattached.task if reattached else plan.next_pending()
        if task is None:
            if seek_opinion(bench):
                continue
            break
        check_caps(bench)
        foresee(bench, plan, starting=reattached is None)
        failure = _run_task(bench, task, plan, reattached)
        reattached = None
        if failure is not None:
            failures.append((failure, task))
            if bench.settings.on_exhausted.effective(plan) is not OnExhausted.SKIP:
                break
    # A person may have sent one back or accepted it since; one that waited for that may be left.
    failures = [each for each in failures if _still_failed(bench, each[1])]
    failures = failures or [
        (bench.words.state.task(task.id).reason or FailReason.ITER_CAP, task)
        for task in plan.with_status(Status.FAILED)
    ]
    if failures:
        reason, task = failures[0]
        return _Halt(StopReason(reason), f"{task.id} failed: {reason}")
    if plan.all_done:
        red = prove_tip(bench)
        said = f"; but red on the final tip: {', '.join(red)}" if red else ""
        early = f"; {bench.leftovers.over}" if bench.leftovers and bench.leftovers.over else ""
        whole = f"{len(plan.tasks)} of {len(plan.tasks)}{said}{early}"
        return _Halt(StopReason.ALL_DONE, whole, tip_red=bool(red))
    waiting = ", ".join(task.id for task in plan.tasks if task.status is not Status.DONE)
    return _Halt(StopReason.ERROR, f"no task can be started; not done: {waiting}")


def _still_failed(bench: Bench, task: Task) -> bool:
    now = bench.record.plan.task(task.id)
    return now is None or now.status is Status.FAILED


def _run_task(
    bench: Bench, task: Task, plan: Plan, reattached: Attempt | None = None
) -> FailReason | None:
    """Work on one task until it is done (None) or has failed for a reason."""
    attempt = reattached or begin(bench, task, plan)
    end: TaskEnd | None = None
    while end is None:
        turn, attempt.open_turn = attempt.open_turn, None
        if turn is None and attempt.spent:
            end = TaskEnd(FailReason.ITER_CAP, f"{attempt.iterations} iterations are used up")
        else:
            end = _answer(bench, attempt, plan, turn or _next_turn(bench, attempt))
    return _close(bench, attempt, end)


def _next_turn(bench: Bench, attempt: Attempt) -> Turn:
    hear(bench, attempt)
    deliver(attempt)
    emit = attempt.emit.bind(iter=attempt.iterations + 1, span_id=bench.new_id())
    turn = ask(bench, bench.worker, attempt.conversation, emit)
    # Counted once there is an answer: a call that failed has cost the task nothing.
    attempt.iterations += 1
    attempt.emit = emit
    return turn


def _close(bench: Bench, attempt: Attempt, end: TaskEnd) -> FailReason | None:
    """Land a failure as the settings say; a done task has landed already."""
    if end.failure is None:
        return None
    if end.failure is FailReason.BLOCKED:
        landing.block(bench, attempt, end.detail)
        return end.failure
    may_accept = bench.settings.on_exhausted is OnExhausted.ACCEPT
    exhausted = end.failure in (FailReason.ITER_CAP, FailReason.EVALUATOR_CAP)
    if may_accept and exhausted and attempt.green is not None:
        landing.force_accept(bench, attempt, attempt.green, end.failure)
        return None
    landing.fail(bench, attempt, end.failure, end.detail)
    return end.failure


def _answer(bench: Bench, attempt: Attempt, plan: Plan, turn: Turn) -> TaskEnd | None:
    """Act on one answer of the worker; every call in it is answered in one message."""
    if not turn.tool_calls:
        return _nudge(attempt, turn)
    attempt.quiet = 0
    results = dict(attempt.answered)
    control: ToolCall | None = None
    for call in turn.tool_calls:
        if call.id in results:
            continue
        check_stop(bench)
        if turn.was_cut:
            results[call.id] = give_result(bench, attempt, call, CUT_CALL, is_error=True)
        elif call.name not in CONTROL_TOOLS:
            results[call.id] = run_tool(bench, attempt, call)
            if bench.rules >= Rules.PROGRESS and attempt.repeats.is_endless:
                said = f"{call.name} was called {attempt.repeats.times} times in a row alike"
                return TaskEnd(FailReason.NO_PROGRESS, said)
        elif control is None:
            control = call
        else:
            results[call.id] = give_result(bench, attempt, call, ONE_CASE, is_error=True)
    if control is not None:
        check_stop(bench)
        heard = _hear(bench, attempt, plan, control)
        if isinstance(heard, TaskEnd):
            return heard
        results[control.id] = heard
    attempt.answered = {}
    attempt.conversation.reply([results[call.id].to_wire() for call in turn.tool_calls])
    return None


def _nudge(attempt: Attempt, turn: Turn) -> TaskEnd | None:
    attempt.quiet += 1
    if attempt.quiet >= QUIET_TURNS:
        return TaskEnd(FailReason.NO_CASE, f"{attempt.quiet} answers in a row called no tool")
    text = nudge(turn, attempt.conversation.head["tools"])
    attempt.emit(Nudge(conversation=attempt.conversation.id, text=text, in_a_row=attempt.quiet))
    attempt.conversation.say(text)
    return None


def _hear(bench: Bench, attempt: Attempt, plan: Plan, call: ToolCall) -> ToolResult | TaskEnd:
    if call.name == RAISE_BLOCKER.name:
        return hear_blocker(bench, attempt, call)
    return _hear_case(bench, attempt, plan, call)


def _hear_case(bench: Bench, attempt: Attempt, plan: Plan, call: ToolCall) -> ToolResult | TaskEnd:
    """Take a case through its gates: empty diff, parse, same tree, proof, verdict."""
    left, attempt.open_review = attempt.open_review, None
    ruled = attempt.ruled.pop(call.id, None)
    if ruled is not None and not ruled.accepted:
        return _act_on(bench, attempt, call, None, ruled)
    seen = snapshot(bench, attempt)
    if left is not None and ruled is None and (left.call_id, left.tree) == (call.id, seen.tree):
        return _judge(bench, attempt, call, resubmitted(bench, attempt, left), left)
    if ruled is None and bench.rules >= Rules.PROGRESS and is_untouched(bench, attempt, seen):
        return _hear_untouched(bench, attempt, call, seen)
    try:
        case = parse_case(call.arguments, attempt.task, bench.tree.has_file)
    except Unreadable as error:
        attempt.tell(CaseParseError(call_id=call.id, error=str(error), raw=call.arguments))
        return give_result(bench, attempt, call, str(error), is_error=True)
    if ruled is not None:
        return _act_on(bench, attempt, call, case, ruled)
    submission = submit(attempt, call, case, seen)
    if (red := _same_red(bench, attempt, seen)) is not None:
        return answer_again(bench, attempt, call, red)
    reject = mechanical_reject(bench, attempt, submission)
    if reject is not None:
        review.record(bench, attempt, call.id, reject)
        return keep_red(attempt, submission, _act_on(bench, attempt, call, case, reject))
    validation = validate(bench, attempt, plan, submission)
    if not validation.passed:
        # A case heard again after a crash had passed before.
        _move(bench, attempt, Status.IN_PROGRESS)
        told = give_result(bench, attempt, call, validation.render(), is_error=True)
        return keep_red(attempt, submission, told)
    attempt.red = None
    attempt.green = Green(submission.tree, case)
    found = gather(bench, attempt, call.id, submission, validation)
    if isinstance(found, LedgerEntry):
        review.record(bench, attempt, call.id, found)
        return _act_on(bench, attempt, call, case, found)
    _move(bench, attempt, Status.PENDING_EVAL)
    if not bench.settings.evaluate:
        landing.land(bench, attempt, attempt.green, verdict=landing.NOT_EVALUATED, score=None)
        return TaskEnd()
    return _judge(bench, attempt, call, submission, found)


def _judge(
    bench: Bench,
    attempt: Attempt,
    call: ToolCall,
    submission: Submission,
    by: Evidence | OpenReview,
) -> ToolResult | TaskEnd:
    """Have a case judged and act on it; a person's word ends the review under way."""
    entry = hear_verdict(bench, attempt, call.id)
    if entry is None:
        judged = _evaluator_task(bench, attempt, submission, by)
        entry = hear_verdict(bench, attempt, call.id)
        if entry is None:
            review.record(bench, attempt, call.id, judged)
            entry = judged
    return _act_on(bench, attempt, call, submission.case, entry)


def _hear_untouched(
    bench: Bench, attempt: Attempt, call: ToolCall, seen: Snapshot
) -> ToolResult | TaskEnd:
    """Answer a case on a tree in which nothing has changed; its paperwork is not looked at."""
    with suppress(Unreadable):
        case = parse_case(call.arguments, attempt.task, bench.tree.has_file)
        submit(attempt, call, case, seen)
    if (red := _same_red(bench, attempt, seen)) is not None:
        return answer_again(bench, attempt, call, red)
    reject = untouched_reject(bench, attempt, seen)
    review.record(bench, attempt, call.id, reject)
    return keep_red(attempt, seen, _act_on(bench, attempt, call, None, reject))


def _same_red(bench: Bench, attempt: Attempt, seen: Snapshot) -> RedCase | None:
    red = attempt.red if bench.rules >= Rules.PROGRESS else None
    return red if red is not None and red.tree == seen.tree else None


def _evaluator_task(
    bench: Bench, attempt: Attempt, submission: Submission, by: Evidence | OpenReview
) -> LedgerEntry:
    """Put a case to the evaluator, read its verdict, and make it an entry for the ledger.

    A review that an interruption left open goes on where it was.
    """
    model = bench.evaluator_for(attempt.task)
    tools = EvaluatorTools(bench, attempt, submission.tree)
    if isinstance(by, OpenReview):
        held = by.review
    else:
        held = review.open_review(bench, attempt, model, submission, by, tools.offered)
    reading = read_verdict(
        held,
        lambda: ask(bench, model, held.conversation, attempt.emit),
        bench.settings.eval_threshold,
        attempt.emit,
        tools if tools.were_offered(held.conversation) else None,
    )
    return review.entry_from(bench, attempt, submission, by.validators, reading)


def _act_on(
    bench: Bench, attempt: Attempt, call: ToolCall, case: Case | None, entry: LedgerEntry
) -> ToolResult | TaskEnd:
    """Land an accept; count a reject and give it back, or end the task on it."""
    if entry.accepted and case is not None:
        verdict = landing.UNPARSED if entry.parse_failed else str(entry.verdict)
        green = Green(entry.tree, case)
        landing.land(bench, attempt, green, verdict=verdict, score=entry.score)
        return TaskEnd()
    _count(bench, attempt, entry)
    ledger = bench.record.read_ledger(attempt.task.id)
    standstill = find_standstill(ledger[attempt.ledger_start :])
    if standstill is not None and entry.source == "evaluator":
        attempt.emit(Stagnation(**dict(standstill)))
        return TaskEnd(FailReason.EVALUATOR_CAP, f"{standstill.category} came back three times")
    cap = bench.settings.max_evaluator_calls_per_task
    if cap and attempt.rejections >= cap:
        return TaskEnd(FailReason.EVALUATOR_CAP, f"rejected {attempt.rejections} times")
    probed = bench.evidence.probed(entry.tree, entry.probe or "")
    feedback = format_reject_feedback(entry, len(ledger) - 1, probed.output if probed else "")
    result = give_result(bench, attempt, call, feedback, is_error=True)
    if attempt.unreadable >= UNREADABLE_VERDICTS:
        # Only now: a resume must find this case answered, or it would stop here again at once.
        raise ProviderError(
            "the evaluator gave no readable verdict three times in a row; "
            "check TILTH_EVALUATOR_MODEL"
        )
    return result


def _count(bench: Bench, attempt: Attempt, entry: LedgerEntry) -> None:
    if entry.earns_bonus:
        attempt.allowance = attempt.allowance.after_rejection()
    if entry.counts_toward_cap:
        attempt.rejections += 1
    attempt.unreadable = attempt.unreadable + 1 if entry.parse_failed else 0
    if attempt.task.status is Status.PENDING_EVAL:
        _move(bench, attempt, Status.IN_PROGRESS, rescue_count=attempt.task.rescue_count + 1)


def _move(bench: Bench, attempt: Attempt, to: Status, **changes: int) -> None:
    # A reattached task may stand there already.
    if attempt.task.status is not to:
        attempt.task = attempt.task.moved(to, **changes)
        bench.record.save_task(attempt.task)
