"""The digest: a session's whole record as one compact text, for another agent to read.

The same facts as the report, then every task's rounds: case, gate, verdict. Plain lines, no
tables and no colour; texts stand whole, each in one line. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from tilth.base.safe_text import inert
from tilth.contract.verdict import concern_id
from tilth.log import events as ev
from tilth.log.state import SessionState
from tilth.log.task_state import TaskState
from tilth.show import figures
from tilth.show.night_lines import opinion_words
from tilth.show.report import Report, TaskReport


def digest(report: Report, state: SessionState) -> str:
    """Write the digest."""
    lines = [*_head(report)]
    for task in report.tasks:
        lines += [*_task(task), *_rounds(state.task(task.id))]
    lines += [
        f"question {q.request} ({q.task_id}): {q.text} -> {q.command}" for q in report.questions
    ]
    lines += [f"next: {command}" for command in report.next]
    return "".join(f"{_flat(line)}\n" for line in lines)


def _head(report: Report) -> Iterator[str]:
    yield f"session {report.session} feature={report.feature or '-'} branch={report.branch}"
    ended = report.ended
    if ended is None:
        yield "not stopped"
    else:
        yield f"stopped {ended.reason} exit={ended.exit_code}: {ended.why}; {ended.detail}"
    yield "tasks: " + ", ".join(f"{times} {ending}" for ending, times in report.outcomes.items())
    total, effort = report.landed, report.effort
    landed = total.fault or (
        f"{total.commits} commits {total.files} files +{total.added} -{total.deleted}"
    )
    cost = "unknown" if not report.cost.known else figures.money(report.cost.usd)
    yield f"landed: {landed}"
    yield (
        f"cost: {cost} tokens={report.cost.tokens} iterations={effort.iterations} "
        f"work={effort.work} rework={effort.rework} tail={effort.tail} retries={effort.retries}"
    )
    yield f"look first: {', '.join(report.look_first) or '-'}"
    yield f"nothing speaks against: {', '.join(report.clear) or '-'}"


def _task(task: TaskReport) -> Iterator[str]:
    score = "-" if task.score is None else task.score
    commit = figures.short_sha(task.landed.commit) if task.landed else "-"
    failure = f" ({task.failure})" if task.failure else ""
    head = f"{task.id} {task.title}: {task.ending}{failure}"
    yield f"{head} score={score} doubt={task.doubt} commit={commit}"
    for reason in task.reasons:
        yield f"  doubt +{reason.points} {reason.ground}: {reason.text}"
    for item in task.coverage:
        evidence = f" | {item.evidence}" if item.evidence else ""
        yield f"  claim {item.criterion} -> {item.addressed_by}{evidence}"


def _rounds(task: TaskState) -> Iterator[str]:
    numbers = count()
    for number, attempt in enumerate(task.attempts, start=1):
        yield f"  attempt {number}: {figures.counted(attempt.iterations, 'iteration')}"
        for event in attempt.milestones:
            is_verdict = isinstance(event.payload, ev.EvaluatorVerdict)
            name = concern_id(next(numbers)) if is_verdict else ""
            yield f"    {_milestone(event.payload, name)}"
    for said in task.opinions:
        step = f" | next step: {said.next_step}" if said.next_step else ""
        yield f"  second opinion: {opinion_words(said)}: {said.concern}{step}"


def _milestone(payload: ev.Payload, name: str) -> str:
    match payload:
        case ev.CaseSubmitted():
            return f"case: {payload.case.summary}"
        case ev.ValidatorRun():
            return f"gate {payload.name}: {'passed' if payload.passed else 'FAILED'}"
        case ev.EvaluatorVerdict():
            return f"verdict {name} {_verdict(payload)}"
        case ev.BlockerRaised():
            return f"blocker: {payload.blocker.reason} | ruling: {payload.ruling}"
        case ev.TaskFailed():
            return f"failed {payload.reason}: {payload.detail}"
        case ev.Committed():
            return f"commit {figures.short_sha(payload.commit)} {payload.subject}"
    return payload.type


def _verdict(said: ev.EvaluatorVerdict) -> str:
    what = [str(said.verdict), str(said.rejection_category or ""), f"by {said.source}"]
    what += [] if said.score is None else [f"score={said.score}"]
    evidence = f" | {'; '.join(said.evidence)}" if said.evidence else ""
    step = f" | next step: {said.next_step}" if said.next_step else ""
    return f"{' '.join(word for word in what if word)}: {said.concern}{evidence}{step}"


def _flat(line: str) -> str:
    return inert(line).replace("\n", " ")
