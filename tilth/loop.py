"""The two loops: tasks one after another, and within a task one worker call after another.

It decides and emits; it never prints and never writes a file. Everything it touches stands on the
`Bench` it is handed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tilth.base.errors import Unreadable
from tilth.config.settings import OnExhausted
from tilth.contract.case import CONTROL_TOOLS, RAISE_BLOCKER, Case, parse_case
from tilth.contract.ledger_text import format_reject_feedback, place_in
from tilth.contract.outcomes import FailReason, StopReason, TaskEnd
from tilth.contract.prd import Plan, Status, Task
from tilth.contract.rules import Rules
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import CaseParseError, LandingRefused, OperatorSpoke
from tilth.model.messages import ToolCall, ToolResult, Turn
from tilth.task import dropping, hearing, landing, rejection, review
from tilth.task.asking import ask, check_caps, check_stop
from tilth.task.attempt import Attempt, Green, OpenReview, Snapshot, Submission
from tilth.task.bench import Bench, RunContext
from tilth.task.briefs import CUT_CALL, ONE_CASE
from tilth.task.case import (
    is_untouched,
    mechanical_reject,
    resubmitted,
    snapshot,
    submit,
    untouched_reject,
    validate,
)
from tilth.task.crew import Crew
from tilth.task.dispute import hear_blocker
from tilth.task.ending import Ending, Halt, halt_of, out_of_work, stop
from tilth.task.evaluator_tools import EvaluatorTools
from tilth.task.evidence import gather
from tilth.task.failed_case import answer_again, end_by_challenges, keep_red, same_red
from tilth.task.foresight import foresee
from tilth.task.landing_turn import (
    OnTip,
    judged_again,
    land,
    put_onto_tip,
    refuse,
    refused_for_good,
    tell_refusal,
)
from tilth.task.lanes import LandingTurn, Lanes, LaneWork, Work
from tilth.task.opening import begin
from tilth.task.order import failures, may_start, next_to_land
from tilth.task.review import Evidence
from tilth.task.review_turns import read_verdict
from tilth.task.second_opinion import seek_opinion
from tilth.task.tool_turns import give_result, nudge, run_tool


def run(context: RunContext, open_bench: Callable[[], Work]) -> Ending:
    """Run the plan to its end or to whatever stops it, and record the stop.

    `open_bench` makes what is missing and gives what to work at, with the task that was in the
    middle of its work, if there is one. What goes wrong in it is a recorded stop like any other.
    """
    try:
        work = open_bench()
        bench, lanes = work.bench, work.lanes
        halt = _work_in_lanes(bench, lanes) if lanes else _work(bench, work.attempt)
    # The loop's edge: whatever goes wrong in a night, the record says that it stopped and why.
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001
        halt = halt_of(error, wished=context.interrupt.asked())
        if halt.reason is StopReason.INTERRUPTED:
            hearing.hear_stop(context)
    return stop(context, halt)


def _work(bench: Bench, reattached: Attempt | None) -> Halt:
    """Take one task after another until none is left that can be worked on."""
    failed: list[Task] = []
    while True:
        hearing.hear(bench, reattached)
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
            failed.append(task)
            goes_on = bench.settings.on_exhausted.effective(plan) is OnExhausted.SKIP
            if not goes_on and failure is not FailReason.DROPPED:
                break
    return out_of_work(bench, failed)


def _work_in_lanes(bench: Bench, lanes: Lanes) -> Halt:
    """Work on several tasks at once, each in a thread; they land in the order of one job."""
    with Crew(bench.interrupt) as crew:
        while True:
            taken = {*crew.busy, *crew.over}
            hearing.hear_for(bench, taken, landing=bool(lanes.landing))
            dropping.end_resting(bench, taken, lanes.place_of)
            plan = bench.record.plan
            held = {task.id for task in plan.tasks if bench.words.come_before(task)}
            resting = {*crew.busy, *crew.over, *held}
            halts = bench.settings.on_exhausted.effective(plan) is not OnExhausted.SKIP
            due = next_to_land(plan, halts=halts)
            if due and due.id not in resting and not lanes.landing:
                crew.begin(due.id, partial(_land_in_turn, lanes.turn_of(due)))
            free = lanes.jobs - len(crew.busy - lanes.landing)
            for task in may_start(plan, resting, halts=halts)[: max(0, free)]:
                check_caps(bench)
                foresee(bench, plan, starting=task.status is Status.PENDING)
                crew.begin(task.id, partial(_work_lane, lanes.at(task), plan))
            if crew.busy:
                crew.wait()
            elif not seek_opinion(bench):
                break
    if crew.over:
        raise next(iter(crew.over.values()))
    return out_of_work(bench, failures(bench.record.plan))


def _work_lane(lane: LaneWork, plan: Plan) -> None:
    """Work on one of several tasks until it is accepted or has failed."""
    if lane.attempt is None:
        lane.attempt = begin(lane.bench, lane.task, plan, lane.why, base=lane.base)
    end = refused_for_good(lane.bench, lane.attempt)
    if end is not None:
        _close(lane.bench, lane.attempt, end)
        return
    tell_refusal(lane.bench, lane.attempt)
    _run_task(lane.bench, lane.attempt.task, plan, lane.attempt)


def _land_in_turn(turn: LandingTurn) -> None:
    """Land an accepted task on what has landed before it, or give it back to its worker."""
    with turn as (bench, attempt, accepted):
        came = put_onto_tip(bench, attempt, accepted)
        if isinstance(came, OnTip) and came.reads_differently and bench.settings.evaluate:
            came = judged_again(bench, attempt, came, _evaluator_task)
        if isinstance(came, LandingRefused):
            refuse(bench, attempt, came)
        else:
            land(bench, attempt, came)


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
            came = turn or _next_turn(bench, attempt)
            end = came if isinstance(came, TaskEnd) else _answer(bench, attempt, plan, came)
    return _close(bench, attempt, end)


def _next_turn(bench: Bench, attempt: Attempt) -> Turn | TaskEnd:
    hearing.hear(bench, attempt)
    if (end := hearing.given_up(bench, attempt)) is not None:
        return end
    hearing.deliver(attempt)
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
    if end.failure is FailReason.DROPPED:
        return dropping.end_here(bench, attempt)
    if end.failure is FailReason.BLOCKED:
        landing.block(bench, attempt, end.detail)
        return end.failure
    may_accept = bench.settings.on_exhausted is OnExhausted.ACCEPT
    exhausted = end.failure in (FailReason.ITER_CAP, FailReason.EVALUATOR_CAP)
    may_accept = may_accept and not hearing.is_sent_back(bench, attempt)
    if may_accept and exhausted and attempt.green is not None:
        landing.force_accept(bench, attempt, attempt.green, end.failure)
        return None
    landing.fail(bench, attempt, end.failure, end.detail)
    return end.failure


def _answer(bench: Bench, attempt: Attempt, plan: Plan, turn: Turn) -> TaskEnd | None:
    """Act on one answer of the worker; every call in it is answered in one message."""
    if not turn.tool_calls:
        return nudge(attempt, turn)
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
            # Should its landing be refused, the same conversation goes on from here.
            attempt.open_turn, attempt.answered = turn, results
            return heard
        results[control.id] = heard
    attempt.answered = {}
    attempt.conversation.reply([results[call.id].to_wire() for call in turn.tool_calls])
    return None


def _hear(bench: Bench, attempt: Attempt, plan: Plan, call: ToolCall) -> ToolResult | TaskEnd:
    """Hear a case or blocker, unless what a person has said is the answer to it."""
    ruled = hearing.hear_before(bench, attempt, call.id)
    if (end := hearing.given_up(bench, attempt)) is not None:
        return end
    if ruled is not None and not ruled.accepted:
        return _act_on(bench, attempt, call, None, ruled)
    if ruled is None and call.id in attempt.held:
        return hearing.hold(bench, attempt, call)
    if call.name == RAISE_BLOCKER.name:
        return hear_blocker(bench, attempt, call)
    return _hear_case(bench, attempt, plan, call)


def _hear_case(bench: Bench, attempt: Attempt, plan: Plan, call: ToolCall) -> ToolResult | TaskEnd:
    """Take a case through its gates: empty diff, parse, same tree, proof, verdict."""
    left, attempt.open_review = attempt.open_review, None
    ruled = attempt.ruled.pop(call.id, None)
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
    if (red := same_red(bench, attempt, seen)) is not None:
        return answer_again(bench, attempt, call, red)
    reject = mechanical_reject(bench, attempt, submission)
    if reject is not None:
        review.record(bench, attempt, call.id, reject)
        return keep_red(attempt, submission, _act_on(bench, attempt, call, case, reject))
    validation = validate(bench, attempt, plan, submission)
    if not validation.passed:
        # A case heard again after a crash had passed before.
        landing.move(bench, attempt, Status.IN_PROGRESS)
        if (end := end_by_challenges(bench, attempt)) is not None:
            return end
        told = give_result(bench, attempt, call, validation.render(), is_error=True)
        return keep_red(attempt, submission, told)
    attempt.red = None
    attempt.green = Green(submission.tree, case)
    found = gather(bench, attempt, call.id, submission, validation)
    if isinstance(found, LedgerEntry):
        review.record(bench, attempt, call.id, found)
        return _act_on(bench, attempt, call, case, found)
    landing.move(bench, attempt, Status.PENDING_EVAL)
    if bench.settings.evaluate:
        return _judge(bench, attempt, call, submission, found)
    if (said := hearing.hear_verdict(bench, attempt, call.id)) is not None:
        return _act_on_person(bench, attempt, call, case, said)
    end = hearing.given_up(bench, attempt)
    if end is None:
        landing.land(bench, attempt, attempt.green, verdict=landing.NOT_EVALUATED, score=None)
    return end or TaskEnd()


def _judge(
    bench: Bench,
    attempt: Attempt,
    call: ToolCall,
    submission: Submission,
    by: Evidence | OpenReview,
) -> ToolResult | TaskEnd:
    """Have a case judged and act on it; a person's word ends the review under way."""
    said = hearing.hear_verdict(bench, attempt, call.id)
    if (end := hearing.given_up(bench, attempt)) is not None:
        return end
    if said is None:
        judged = _evaluator_task(bench, attempt, submission, by)
        said = hearing.hear_verdict(bench, attempt, call.id)
        if said is None:
            review.record(bench, attempt, call.id, judged)
            entry = hearing.overruled(bench, attempt, call.id, judged)
            return _act_on(bench, attempt, call, submission.case, entry)
    return _act_on_person(bench, attempt, call, submission.case, said)


def _act_on_person(
    bench: Bench, attempt: Attempt, call: ToolCall, case: Case, said: OperatorSpoke
) -> ToolResult | TaskEnd:
    """Act on a person's verdict on the case under review."""
    if said.entry is not None:
        return _act_on(bench, attempt, call, case, said.entry)
    landing.land_for_person(bench, attempt, case)
    return TaskEnd()


def _hear_untouched(
    bench: Bench, attempt: Attempt, call: ToolCall, seen: Snapshot
) -> ToolResult | TaskEnd:
    """Answer a case on a tree in which nothing has changed; its paperwork is not looked at."""
    with suppress(Unreadable):
        case = parse_case(call.arguments, attempt.task, bench.tree.has_file)
        submit(attempt, call, case, seen)
    if (red := same_red(bench, attempt, seen)) is not None:
        return answer_again(bench, attempt, call, red)
    reject = untouched_reject(bench, attempt, seen)
    review.record(bench, attempt, call.id, reject)
    return keep_red(attempt, seen, _act_on(bench, attempt, call, None, reject))


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
        review.terms_of(bench, attempt, submission.tree),
        attempt.emit,
        tools if tools.were_offered(held.conversation) else None,
    )
    return review.entry_from(bench, attempt, submission, by.validators, reading)


def _act_on(
    bench: Bench, attempt: Attempt, call: ToolCall, case: Case | None, entry: LedgerEntry
) -> ToolResult | TaskEnd:
    """Land an accept; count a reject and give it back, or end the task on it."""
    if (dropped := hearing.given_up(bench, attempt)) is not None:
        return dropped
    if entry.accepted and case is not None:
        verdict = landing.UNPARSED if entry.parse_failed else str(entry.verdict)
        green = Green(entry.tree, case)
        landing.land(bench, attempt, green, verdict=verdict, score=entry.score)
        return TaskEnd()
    rejection.count(attempt, entry)
    if entry.earns_bonus:
        attempt.allowance = attempt.allowance.after_rejection()
    ledger = bench.record.read_ledger(attempt.task.id)
    if (end := rejection.end_of(bench, attempt, entry, ledger)) is not None:
        return end
    if attempt.task.status is Status.PENDING_EVAL:
        rescues = attempt.task.rescue_count + (not attempt.spent)
        landing.move(bench, attempt, Status.IN_PROGRESS, rescue_count=rescues)
    probed = bench.evidence.probed(entry.tree, entry.probe or "")
    printed = probed.output if probed else ""
    feedback = format_reject_feedback(entry, place_in(ledger, entry), printed)
    result = give_result(bench, attempt, call, feedback, is_error=True)
    rejection.require_readable(attempt)
    return result
