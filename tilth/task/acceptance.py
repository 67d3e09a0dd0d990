"""Acceptance: a task that a person accepts lands, its change merged onto the tip.

What its last case left is put onto what has landed since, and the gate runs there; where nothing
has come between, the tree that was under review lands as it is. Only what passes is committed. It
never asks a model.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilth.base.errors import UserError, WorkspaceError
from tilth.base.failpoint import reach
from tilth.contract.operator_word import OperatorWord, find_task
from tilth.contract.prd import Status, Task
from tilth.gate.findings import Validation
from tilth.log.events import CaseSubmitted, Emit, OperatorSpoke
from tilth.log.task_state import AttemptState, TaskState
from tilth.task import landing
from tilth.task.attempt import Green
from tilth.task.bench import Bench
from tilth.task.opening import validator_run
from tilth.task.proving import run_gate
from tilth.task.words import take_up


@dataclass
class Rescue:
    """Hold a failed task on its way into the branch; landing asks for no more of an attempt."""

    task: Task
    base: str
    emit: Emit
    iterations: int = 0


@dataclass(frozen=True)
class Proven:
    """Hold the merged tree that passed the gate on the tip."""

    green: Green
    onto: str
    validation: Validation


def accept(bench: Bench, word: OperatorWord, *, strict: bool = False) -> OperatorSpoke:
    """Land a failed task on a person's word; what cannot land is recorded as refused.

    A `strict` one raises UserError then, before anything is recorded.
    """
    task = find_task(bench.record.plan, word.task or "")
    try:
        proven = prove(bench, task)
    except UserError as error:
        if strict:
            raise
        spoken = OperatorSpoke(**dict(word), refused=str(error))
        bench.emit.bind(task_id=task.id)(spoken)
        bench.words.remove(word)
        return spoken
    spoken = take_up(bench, word, None)
    _land(bench, task, proven)
    return spoken


def finish_begun(bench: Bench) -> None:
    """Land what a person accepted before a crash; what no longer passes stays failed."""
    for task in bench.record.plan.with_status(Status.FAILED, Status.DONE):
        if not bench.words.state.task(task.id).rescued:
            continue
        landed = _landed(bench, task)
        if landed is not None:
            landing.finish(bench, _rescue(bench, task), landed, None)
            continue
        try:
            proven = prove(bench, task)
        except UserError:
            continue
        _land(bench, task, proven)


def prove(bench: Bench, task: Task) -> Proven:
    """Merge a failed task's last case onto the tip and run the gate there, or say why not."""
    known = bench.words.state.task(task.id)
    attempt, case = _last_case(task, known)
    onto = _tip_without_failure(bench, task)
    merged = bench.tree.merge(base=attempt.case_base, onto=onto, change=case.tree)
    if not merged.clean:
        raise UserError(
            f"{task.id} no longer fits: conflict in {', '.join(merged.conflicted)}; "
            "send it back to work with `tilth reject`"
        )
    if task.status is Status.PENDING_EVAL and merged.tree == case.tree:
        return Proven(Green(case.tree, case.case), onto, Validation(reports=()))
    plan = bench.record.plan
    baseline = bench.gate.baseline(task, plan, onto)
    emit = bench.emit.bind(task_id=task.id, trace_id=known.attempt.trace_id)
    validation = run_gate(bench, task, plan, onto, merged.tree, baseline, emit)
    red = [report.name for report in validation.reports if not report.passed]
    if red:
        raise UserError(
            f"{task.id} is red on what has landed since ({', '.join(red)}); "
            "send it back to work with `tilth reject`"
        )
    return Proven(Green(merged.tree, case.case), onto, validation)


def check_last_case(task: Task, known: TaskState) -> None:
    """Refuse an accept of a failed task whose last case was not green."""
    _last_case(task, known)


def _last_case(task: Task, known: TaskState) -> tuple[AttemptState, CaseSubmitted]:
    for attempt in reversed(known.attempts):
        case = attempt.last(CaseSubmitted)
        if case is None:
            continue
        runs = attempt.validators
        red = ", ".join(run.name for run in runs if not run.passed)
        if red or not runs:
            why = f"was red ({red})" if red else "was not put to the validators"
            raise UserError(f"{task.id} cannot be accepted: its last case {why}")
        return attempt, case
    raise UserError(f"{task.id} cannot be accepted: it failed before it had a case")


def _tip_without_failure(bench: Bench, task: Task) -> str:
    """Give the commit to land on: the tip, without the partial work that a failure left there."""
    newest = bench.tree.newest()
    if newest is None:
        raise WorkspaceError(f"branch {bench.tree.branch} is gone; restore it or reset the session")
    if newest.failed and newest.task == task.id and newest.parent is not None:
        return newest.parent
    return newest.id


def _land(bench: Bench, task: Task, proven: Proven) -> None:
    rescue = _rescue(bench, task, proven.onto)
    for report in proven.validation.reports:
        rescue.emit(validator_run(bench, report, phase="case", tree=proven.green.tree))
    ref = landing.set_aside_ref(bench.record.id, task.id)
    newest = bench.tree.newest()
    if newest is not None and newest.id != proven.onto:
        # The partial work leaves the branch, and is kept until the whole of it stands there.
        bench.tree.set_aside(ref, newest.id, back_to=proven.onto)
    reach("before landing what a person accepted")
    landing.land(bench, rescue, proven.green, verdict=landing.PERSON, score=task.score)
    bench.tree.drop_aside(ref)


def _rescue(bench: Bench, task: Task, base: str = "") -> Rescue:
    known = bench.words.state.task(task.id)
    emit = bench.emit.bind(task_id=task.id, trace_id=known.attempt.trace_id)
    return Rescue(task, base, emit, known.attempt.iterations)


def _landed(bench: Bench, task: Task) -> landing.Landed | None:
    """Find the commit of an accept that was interrupted before the task was marked done."""
    newest = bench.tree.newest()
    if newest is None or newest.task != task.id or newest.verdict != landing.PERSON:
        return None
    return landing.Landed(newest.id, landing.PERSON, task.score, below_bar=False)
