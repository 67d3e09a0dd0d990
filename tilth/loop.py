"""The two loops: tasks one after another, and within a task one worker call after another.

It decides and emits; it never prints and never writes a file. Everything it touches stands on the
`Bench` it is handed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tilth.bench import Bench
from tilth.briefs import CUT_CALL, CUT_TEXT, NUDGE, ONE_CASE
from tilth.case import RAISE_BLOCKER, SUBMIT_CASE, Case, parse_case
from tilth.errors import (
    CapReached,
    DiskError,
    Interrupted,
    ProviderError,
    Unreadable,
    UserError,
    WorkspaceError,
)
from tilth.exchange import landing
from tilth.exchange.asking import ask, check_caps
from tilth.exchange.attempt import Attempt, Green, Submission
from tilth.exchange.dispute import hear_blocker
from tilth.exchange.opening import begin, take_baseline, validator_run
from tilth.exchange.review import open_review, read_verdict, unread_verdict
from tilth.exchange.toolrun import give_result, run_tool
from tilth.findings import Baseline, Validation
from tilth.messages import ToolCall, ToolResult, Turn
from tilth.outcomes import ExitCode, FailReason, StopReason, TaskEnd, exit_code
from tilth.payloads import (
    CaseParseError,
    CaseSubmitted,
    EvaluatorVerdict,
    LedgerAppended,
    Nudge,
    SeedTampered,
    Stagnation,
    Stop,
)
from tilth.prd import Plan, Status, Task
from tilth.requests import still_open
from tilth.settings import OnExhausted
from tilth.verdict import (
    Judged,
    LedgerEntry,
    RejectionCategory,
    entry_of,
    format_reject_feedback,
    harness_reject,
)
from tilth.watch import find_standstill

QUIET_TURNS = 3
UNREADABLE_VERDICTS = 3
CONTROL_TOOLS = frozenset({SUBMIT_CASE.name, RAISE_BLOCKER.name})


@dataclass(frozen=True)
class Ending:
    """Say how a run ended."""

    reason: StopReason
    exit_code: ExitCode
    detail: str


def run(bench: Bench, wake: Callable[[], Attempt | None] | None = None) -> Ending:
    """Run the plan to its end or to whatever stops it, and record the stop.

    `wake` gives the task that was in the middle of its work, if there is one.
    """
    try:
        reason, detail = _work(bench, wake() if wake else None)
    except CapReached as cap:
        reason, detail = StopReason(cap.reason), str(cap)
    except ProviderError as error:
        reason, detail = StopReason.PROVIDER_FAILURE, str(error)
    except (Interrupted, KeyboardInterrupt):
        reason, detail = StopReason.INTERRUPTED, "stopped by the user"
    except (WorkspaceError, DiskError, UserError) as error:
        reason, detail = StopReason.ERROR, str(error)
    code = exit_code(
        reason,
        request_open=_waits(bench),
        below_bar=any(task.quality_flag for task in bench.record.plan.tasks),
    )
    try:
        bench.emit(Stop(reason=reason, exit_code=code, detail=detail))
        bench.record.close_out(reason, bench.meter.by_role)
    except DiskError as error:
        # What stopped the run matters more than that it could not be written down.
        why = f"{detail}; " if detail and detail not in str(error) else ""
        raise DiskError(f"{why}{error}") from error
    return Ending(reason, code, detail)


def _waits(bench: Bench) -> bool:
    """Tell whether a question to a person still matters."""
    done = {task.id for task in bench.record.plan.with_status(Status.DONE)}
    return bool(still_open(bench.record.requests(), done))


def _work(bench: Bench, reattached: Attempt | None) -> tuple[StopReason, str]:
    """Take one task after another until none is left that can be worked on."""
    failures: list[tuple[FailReason, Task]] = []
    while True:
        plan = bench.record.plan
        task = reattached.task if reattached else plan.next_pending()
        if task is None:
            break
        check_caps(bench)
        failure = _run_task(bench, task, plan, reattached)
        reattached = None
        if failure is not None:
            failures.append((failure, task))
            if bench.settings.on_exhausted is not OnExhausted.SKIP:
                break
    if failures:
        reason, task = failures[0]
        return StopReason(reason), f"{task.id} failed: {reason}"
    if plan.all_done:
        return StopReason.ALL_DONE, f"{len(plan.tasks)} of {len(plan.tasks)}"
    waiting = ", ".join(task.id for task in plan.tasks if task.status is not Status.DONE)
    return StopReason.ERROR, f"no task can be started; not done: {waiting}"


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
        if turn.was_cut:
            results[call.id] = give_result(bench, attempt, call, CUT_CALL, is_error=True)
        elif call.name not in CONTROL_TOOLS:
            results[call.id] = run_tool(bench, attempt, call)
        elif control is None:
            control = call
        else:
            results[call.id] = give_result(bench, attempt, call, ONE_CASE, is_error=True)
    if control is not None:
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
    text = CUT_TEXT if turn.was_cut else NUDGE
    attempt.emit(Nudge(conversation=attempt.conversation.id, text=text, in_a_row=attempt.quiet))
    attempt.conversation.say(text)
    return None


def _hear(bench: Bench, attempt: Attempt, plan: Plan, call: ToolCall) -> ToolResult | TaskEnd:
    if call.name == RAISE_BLOCKER.name:
        return hear_blocker(bench, attempt, call)
    return _hear_case(bench, attempt, plan, call)


def _hear_case(bench: Bench, attempt: Attempt, plan: Plan, call: ToolCall) -> ToolResult | TaskEnd:
    """Take a case through its gates: parse, empty diff, validators, evaluator."""
    try:
        case = parse_case(call.arguments, attempt.task, bench.tree.has_file)
    except Unreadable as error:
        attempt.emit(CaseParseError(call_id=call.id, error=str(error), raw=call.arguments))
        return give_result(bench, attempt, call, str(error), is_error=True)
    ruled = attempt.ruled.pop(call.id, None)
    if ruled is not None:
        return _act_on(bench, attempt, call, case, ruled)
    submission = _submit(bench, attempt, call, case)
    reject = _mechanical_reject(bench, attempt, submission)
    if reject is not None:
        enter(bench, attempt, call.id, reject)
        return _act_on(bench, attempt, call, case, reject)
    validation = _validate(bench, attempt, plan, submission)
    if not validation.passed:
        # A case heard again after a crash had passed before.
        _move(bench, attempt, Status.IN_PROGRESS)
        return give_result(bench, attempt, call, validation.render(), is_error=True)
    attempt.green = Green(submission.tree, case)
    _move(bench, attempt, Status.PENDING_EVAL)
    if not bench.settings.evaluate:
        landing.land(bench, attempt, attempt.green, verdict=landing.NOT_EVALUATED, score=None)
        return TaskEnd()
    entry = _evaluator_task(bench, attempt, submission, validation)
    enter(bench, attempt, call.id, entry)
    return _act_on(bench, attempt, call, case, entry)


def _submit(bench: Bench, attempt: Attempt, call: ToolCall, case: Case) -> Submission:
    frozen = bench.tree.freeze(attempt.base)
    diff = bench.tree.diff(attempt.base, frozen.tree)
    digest = hashlib.sha256(diff.encode("utf-8", "surrogatepass")).hexdigest()
    attempt.emit(CaseSubmitted(call_id=call.id, case=case, tree=frozen.tree, diff_sha256=digest))
    return Submission(case, frozen.tree, frozen.nested, diff, digest)


def _mechanical_reject(
    bench: Bench, attempt: Attempt, submission: Submission
) -> LedgerEntry | None:
    """Reject what needs no judgement: a nested repository, or no change at all."""
    judged = _judged(bench, attempt, submission, {})
    if submission.nested:
        return harness_reject(
            judged,
            category=RejectionCategory.SPEC_VIOLATION,
            concern=f"The worktree holds a nested git repository: {', '.join(submission.nested)}.",
            next_step="Remove it, or turn it into plain files.",
        )
    if submission.diff or _baseline(bench, attempt).was_green:
        return None
    return harness_reject(
        judged,
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern="Nothing has changed since the task began.",
        next_step="Make the change the task asks for, then submit it.",
    )


def _validate(bench: Bench, attempt: Attempt, plan: Plan, submission: Submission) -> Validation:
    baseline = _baseline(bench, attempt)
    validation = bench.gate.validate(attempt.task, plan, attempt.base, submission.tree, baseline)
    for report in validation.reports:
        attempt.emit(validator_run(bench, report, phase="case", tree=submission.tree))
    if validation.tampered:
        attempt.emit(SeedTampered(files=validation.tampered, notes=validation.notes))
    return validation


def _baseline(bench: Bench, attempt: Attempt) -> Baseline:
    # A reattached task takes it only when it is needed, so that waking stays quick.
    if attempt.baseline is None:
        attempt.baseline = take_baseline(
            bench, attempt.task, bench.record.plan, attempt.base, attempt.emit
        )
    return attempt.baseline


def _evaluator_task(
    bench: Bench, attempt: Attempt, submission: Submission, validation: Validation
) -> LedgerEntry:
    """Ask the evaluator for its verdict, once more if it cannot be read, then fail closed."""
    model = bench.evaluator_for(attempt.task)
    conversation = open_review(bench, attempt, model, submission, validation)
    judged = _judged(bench, attempt, submission, validation.summary)
    threshold = bench.settings.eval_threshold
    reading = read_verdict(
        conversation,
        lambda: ask(bench, model, conversation, attempt.emit),
        threshold,
        attempt.emit,
    )
    if reading.verdict is None:
        return unread_verdict(judged, reading.model, fail_open=bench.settings.fail_open_on_unparsed)
    return entry_of(reading.verdict, judged, model=reading.model, threshold=threshold)


def _judged(
    bench: Bench,
    attempt: Attempt,
    submission: Submission,
    validators: Mapping[str, Literal["passed", "failed"]],
) -> Judged:
    return Judged(
        ts=bench.stamp(),
        task_id=attempt.task.id,
        iter=attempt.iterations,
        tree=submission.tree,
        diff_sha256=submission.diff_sha256,
        validators=validators,
    )


def enter(bench: Bench, attempt: Attempt, call_id: str, entry: LedgerEntry) -> None:
    """Record a verdict: first in the log, which is the truth, then in the ledger."""
    attempt.emit(EvaluatorVerdict(call_id=call_id, **dict(entry)))
    entries = bench.record.append_ledger_entry(entry)
    attempt.emit(LedgerAppended(entries=entries))


def _act_on(
    bench: Bench, attempt: Attempt, call: ToolCall, case: Case, entry: LedgerEntry
) -> ToolResult | TaskEnd:
    """Land an accept; count a reject and give it back, or end the task on it."""
    if entry.accepted:
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
    feedback = format_reject_feedback(entry, len(ledger) - 1)
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
