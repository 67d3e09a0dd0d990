"""The turn to land: an accepted change put onto what has landed before it, and proven there.

No worktree is touched until a landing is refused. Then what has landed is merged into the task's
files, it counts from there, and its conversation goes on. The event comes first, so that a crash at
any step is mended from the log.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tilth.base.failpoint import reach
from tilth.base.values import digest
from tilth.contract.ledger_text import format_reject_feedback, place_in
from tilth.contract.outcomes import Refused, TaskEnd
from tilth.contract.prd import Status
from tilth.contract.verdict import LedgerEntry
from tilth.gate.findings import Baseline, Validation
from tilth.git.changes import same_patch
from tilth.log.events import LandingRefused
from tilth.model.messages import ToolResult
from tilth.task import landing, rejection, review
from tilth.task.attempt import Accepted, Attempt, Green, Submission
from tilth.task.bench import Bench
from tilth.task.landing_briefs import conflict_told, red_told, rejected_told
from tilth.task.opening import validator_run
from tilth.task.proving import run_gate
from tilth.task.review import Evidence
from tilth.task.tool_turns import give_result

Judge = Callable[[Bench, Attempt, Submission, Evidence], LedgerEntry]


@dataclass(frozen=True)
class OnTip:
    """Hold an accepted change on the branch's tip, where it passed the gate.

    `attempt` counts from the tip. A change `reads_differently` if its patch is not the one that
    was judged.
    """

    attempt: Attempt
    accepted: Accepted
    submission: Submission
    validation: Validation
    reads_differently: bool = False


def tip_of(bench: Bench) -> str:
    """Name the tip as the session left it, wherever the branch is now."""
    return bench.words.state.tip or bench.record.start_commit


def put_onto_tip(bench: Bench, attempt: Attempt, accepted: Accepted) -> OnTip | LandingRefused:
    """Merge an accepted change onto the tip and run the gate there, or say why it cannot land."""
    onto, green = tip_of(bench), accepted.green
    if bench.tree.tree_of(onto) == bench.tree.tree_of(attempt.base):
        # Nothing has come between: this very tree has passed.
        seen, there = _submission(bench, attempt, green), dataclasses.replace(attempt, base=onto)
        return OnTip(there, accepted, seen, Validation(reports=()))
    merged = bench.tree.merge(base=attempt.base, onto=onto, change=green.tree)
    if not merged.clean:
        told = conflict_told(merged.conflicts, merged.conflicted)
        said = "\n".join(conflict.message for conflict in merged.conflicts)
        about = {"files": merged.conflicted, "report": said}
        return _refusal(bench, attempt, Refused.CONFLICT, onto, merged.tree, told, **about)
    known, validation = _prove(bench, attempt, onto, merged.tree)
    for report in validation.reports:
        attempt.emit(validator_run(bench, report, phase="landing", tree=merged.tree))
    if not validation.passed:
        said = bench.mask.result(validation.render())
        told = red_told(said)
        return _refusal(bench, attempt, Refused.GATE, onto, merged.tree, told, report=said)
    on_tip = dataclasses.replace(attempt, base=onto, baseline=known)
    before = bench.tree.diff(attempt.base, green.tree)
    seen = _submission(bench, on_tip, Green(merged.tree, green.case))
    # What no evaluator accepted in the first place is not put to one again.
    judged = not accepted.below_bar and accepted.verdict != landing.PERSON
    differs = judged and not same_patch(before, seen.diff)
    return OnTip(on_tip, accepted, seen, validation, reads_differently=differs)


def judged_again(
    bench: Bench, attempt: Attempt, on_tip: OnTip, judge: Judge
) -> OnTip | LandingRefused:
    """Have a change judged that reads differently where it lands, unless that was done."""
    seen, entry = on_tip.submission, attempt.ruled_merged
    if entry is None or entry.tree != seen.tree:
        entry = judge(bench, on_tip.attempt, seen, Evidence(on_tip.validation))
        call = attempt.open_call
        review.record(bench, attempt, call.id if call else "", entry)
    if entry.accepted:
        verdict = landing.UNPARSED if entry.parse_failed else str(entry.verdict)
        accepted = dataclasses.replace(on_tip.accepted, verdict=verdict, score=entry.score)
        return dataclasses.replace(on_tip, accepted=accepted)
    rejection.count(attempt, entry)
    number = place_in(bench.record.read_ledger(attempt.task.id), entry)
    told = rejected_told(format_reject_feedback(entry, number))
    onto = on_tip.attempt.base
    return _refusal(bench, attempt, Refused.VERDICT, onto, seen.tree, told)


def _submission(bench: Bench, attempt: Attempt, green: Green) -> Submission:
    diff = bench.tree.diff(attempt.base, green.tree)
    return Submission(green.tree, (), {}, diff, digest(diff), green.case)


def _prove(bench: Bench, attempt: Attempt, onto: str, tree: str) -> tuple[Baseline, Validation]:
    """Run the gate on a merged tree; what is red is held against the tip itself before it counts.

    What the task's own base was known for is enough to pass.
    """
    task, plan, gate, emit = attempt.task, bench.record.plan, bench.gate, attempt.emit
    if attempt.baseline is not None:
        known = gate.baseline_onto(task, plan, onto, attempt.baseline)
        validation = run_gate(bench, task, plan, onto, tree, known, emit)
        if validation.passed:
            return known, validation
    there = gate.baseline(task, plan, onto)
    return there, run_gate(bench, task, plan, onto, tree, there, emit)


def _refusal(
    bench: Bench,
    attempt: Attempt,
    cause: Refused,
    onto: str,
    tree: str,
    told: str,
    **about: Any,
) -> LandingRefused:
    call = attempt.open_call
    done = bench.record.plan.with_status(Status.DONE)
    return LandingRefused(
        cause=cause,
        onto=onto,
        tree=tree,
        told=told,
        call_id=call.id if call else None,
        conversation=None if call else attempt.conversation.id,
        merged_with=tuple(task.id for task in done if task.id != attempt.task.id),
        **about,
    )


def refuse(bench: Bench, attempt: Attempt, refused: LandingRefused) -> None:
    """Put a refused landing on record, and its task back to work."""
    reach("before refusing a landing")
    attempt.emit(refused)
    reach("after refusing a landing")
    attempt.allowance = attempt.allowance.after_rejection()
    go_on_from(bench, attempt, refused)


def go_on_from(bench: Bench, attempt: Attempt, refused: LandingRefused) -> None:
    """Have a task count from the tip it was merged with; every step may have been taken before."""
    lane = bench.lane
    if lane is None:
        raise ValueError("only a lane can be merged with what has landed")
    attempt.base, attempt.baseline, attempt.accepted = refused.onto, None, None
    attempt.red = attempt.ruled_merged = None
    # What was judged on the tip has passed the gate there; a tree of before would undo the tip.
    passed = attempt.green if refused.cause is Refused.VERDICT else None
    attempt.green = Green(refused.tree, passed.case) if passed else None
    attempt.conflicted = refused.files
    attempt.ruled = {}
    lane.stand_at(refused.onto)
    lane.put(refused.tree)
    reach("after merging what has landed")
    task = attempt.task.model_copy(update={"merged_with": refused.merged_with})
    attempt.task = task if task.status is Status.IN_PROGRESS else task.moved(Status.IN_PROGRESS)
    bench.record.save_task(attempt.task)
    attempt.refused = refused


def refused_for_good(bench: Bench, attempt: Attempt) -> TaskEnd | None:
    """Say how a task ends whose landing was refused by the last verdict it may have."""
    refused = attempt.refused
    if refused is None or refused.cause is not Refused.VERDICT:
        return None
    ledger = bench.record.read_ledger(attempt.task.id)
    return rejection.end_of(bench, attempt, ledger[-1], ledger)


def tell_refusal(bench: Bench, attempt: Attempt) -> None:
    """Give the worker what became of its landing: its case's result, or its next message."""
    refused, attempt.refused = attempt.refused, None
    if refused is None:
        return
    call = attempt.open_call
    if refused.call_id is None or call is None:
        if refused.told not in attempt.notes:
            attempt.notes.append(refused.told)
        return
    result: ToolResult = give_result(bench, attempt, call, refused.told, is_error=True)
    attempt.answered[call.id] = result
    if refused.cause is Refused.VERDICT:
        rejection.require_readable(attempt)


def land(bench: Bench, attempt: Attempt, on_tip: OnTip) -> None:
    """Commit an accepted change onto the tip, then mark its task done."""
    green = Green(on_tip.submission.tree, on_tip.accepted.green.case)
    accepted = dataclasses.replace(on_tip.accepted, green=green)
    landing.commit_done(bench, on_tip.attempt, accepted)
    attempt.task = on_tip.attempt.task
