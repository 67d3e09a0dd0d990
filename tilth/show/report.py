"""The report: what a person should know of a session in the morning, as one value.

Made from the session's state, its plan, the requests that wait and what git says of the commits.
Pure: it counts no events itself, reads no file, and leaves the words to `report_markdown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tilth.base.values import Value
from tilth.contract.case import Coverage, claimed_in
from tilth.contract.operator_requests import OperatorRequest
from tilth.contract.prd import Plan, Task
from tilth.contract.verdict import concern_id
from tilth.log.events import EvaluatorVerdict
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome, TaskState
from tilth.show.causes import Cause, causes
from tilth.show.doubt import Doubt, Landed, Reason, doubts, survivors
from tilth.show.endings import DONE_ENDINGS, TaskEnding, tally, task_endings, why_stopped
from tilth.show.foresight import Foreseen, foreseen
from tilth.task.budget import Spend


class Ended(Value):
    """Say how the session ended and why."""

    reason: str
    exit_code: int
    why: str
    detail: str


class Effort(Value):
    """Say where iterations went: `work` and `rework` make them all, `tail` is a part of them.

    Rework is what came after a rejection; the tail is what lay between the last edit and the case.
    Retries of the endpoint cost no iteration.
    """

    iterations: int = 0
    work: int = 0
    rework: int = 0
    tail: int = 0
    retries: int = 0


class Cost(Value):
    """Hold a cost; where a price is unknown, `usd` is what is known of it."""

    usd: float = 0.0
    known: bool = True
    tokens: int = 0

    @classmethod
    def of(cls, spent: Spend) -> Cost:
        return cls(usd=spent.cost_usd, known=spent.cost_known, tokens=spent.usage.counted)


class Second(Value):
    """Hold what another reviewer says of a done task; `agrees` is None where it was unreadable."""

    reviewer: str
    model: str
    verdict: str | None
    agrees: bool | None
    concern: str


class TaskReport(Value):
    """Hold what is to be said of one task."""

    id: str
    title: str
    ending: TaskEnding
    failure: str | None = None
    sent_back: bool = False
    score: int | None = None
    doubt: int = 0
    reasons: tuple[Reason, ...] = ()
    show: str
    coverage: tuple[Coverage, ...] = ()
    seed_tests: tuple[str, ...] = ()
    validators: Mapping[str, bool] = {}
    probes: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    landed: Landed | None = None
    cost: Cost = Cost()
    effort: Effort = Effort()
    second: Second | None = None
    tampered: tuple[str, ...] = ()
    # What the evaluator was told that its diff does not show.
    unshown: tuple[str, ...] = ()
    # The last verdict rejects: what the case claims is not shown by it.
    objected: bool = False


class Question(Value):
    """Hold a question that waits, whole, and the command that answers it."""

    request: str
    task_id: str | None
    text: str
    command: str


class Total(Value):
    """Sum what accepted tasks brought; `fault` says why git could not tell."""

    commits: int = 0
    files: int = 0
    added: int = 0
    deleted: int = 0
    fault: str = ""


class Report(Value):
    """Hold the whole report; `look_first` names tasks in doubt, the most doubtful first."""

    session: str
    feature: str | None = None
    ended: Ended | None = None
    # What several tasks failed of alike.
    causes: tuple[Cause, ...] = ()
    started: str | None = None
    updated: str | None = None
    starts: int = 0
    branch: str = ""
    base_commit: str = ""
    outcomes: Mapping[str, int] = {}
    look_first: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    tasks: tuple[TaskReport, ...] = ()
    questions: tuple[Question, ...] = ()
    landed: Total = Total()
    cost: Cost = Cost()
    usd_per_accepted: float | None = None
    effort: Effort = Effort()
    forecast: Foreseen | None = None
    next: tuple[str, ...] = ()

    @property
    def tally(self) -> str:
        """Count the tasks by their endings, in words."""
        return tally((task.ending, task.failure) for task in self.tasks)

    def task(self, task_id: str) -> TaskReport:
        return next(task for task in self.tasks if task.id == task_id)


@dataclass(frozen=True)
class Material:
    """Hold what a report is made of."""

    session: str
    state: SessionState
    plan: Plan
    questions: Sequence[OperatorRequest] = ()
    seed_tests: Sequence[str] = ()
    # By task; and why git could not tell, if it could not.
    landed: Mapping[str, Landed] = field(default_factory=dict)
    git_fault: str = ""
    branch: str = ""
    base_commit: str = ""
    next: tuple[str, ...] = ()


def make_report(given: Material) -> Report:
    """Make the report of a session as it stands."""
    state = given.state
    doubt = doubts(state, given.plan, given.landed)
    endings = task_endings(state, given.plan)
    tasks = tuple(
        _task(given, task, endings[task.id], doubt.get(task.id, Doubt()))
        for task in given.plan.tasks
    )
    ranked = sorted((task for task in tasks if task.reasons), key=_rank)
    accepted = [task for task in tasks if state.task(task.id).outcome is TaskOutcome.DONE]
    cost = Cost.of(state.spent)
    return Report(
        session=given.session,
        feature=given.plan.feature,
        ended=_ended(state),
        causes=causes(state),
        started=state.started,
        updated=state.updated,
        starts=len(state.starts),
        branch=given.branch,
        base_commit=given.base_commit,
        outcomes={str(each): n for each, n in Counter(endings.values()).items()},
        look_first=tuple(task.id for task in ranked),
        clear=tuple(task.id for task in accepted if not task.reasons),
        tasks=tasks,
        questions=tuple(_question(given.session, each) for each in given.questions),
        landed=_total(tasks, given.git_fault),
        cost=cost,
        usd_per_accepted=cost.usd / len(accepted) if accepted and cost.known else None,
        effort=_added(effort_of(work) for work in state.works),
        forecast=foreseen(state),
        next=given.next,
    )


def _rank(task: TaskReport) -> tuple[bool, int]:
    """Put what two reviewers see differently before all else, then by doubt."""
    return task.second is None or task.second.agrees is not False, -task.doubt


def _ended(state: SessionState) -> Ended | None:
    stop = state.stop if state.stopped else None
    if stop is None:
        return None
    why = why_stopped(stop)
    return Ended(reason=stop.reason, exit_code=stop.exit_code, why=why, detail=stop.detail)


def _task(given: Material, task: Task, ending: TaskEnding, doubt: Doubt) -> TaskReport:
    state = given.state.task(task.id)
    return TaskReport(
        id=task.id,
        title=task.title,
        ending=ending,
        failure=str(state.reason) if state.reason else None,
        sent_back=state.sent_back,
        score=state.score if state.score is not None else task.score,
        doubt=doubt.points,
        reasons=doubt.reasons,
        show=f"tilth show {given.session} {task.id}",
        coverage=_coverage(task, state),
        seed_tests=tuple(name for name in given.seed_tests if task.owns_test(name)),
        validators={run.name: run.passed for run in state.attempt.validators},
        probes=_probes(state),
        mutants=survivors(state),
        landed=given.landed.get(task.id),
        cost=Cost.of(state.spent),
        effort=effort_of(state),
        second=_second(state),
        tampered=state.tampered_files,
        unshown=state.unshown,
        objected=bool(state.ledger) and not state.ledger[-1].accepted,
    )


def _second(state: TaskState) -> Second | None:
    """Give what was said last of the work that stands."""
    said = state.opinions[-1] if state.opinions else None
    if said is None or (state.submitted and state.submitted.tree != said.tree):
        return None
    return Second(
        reviewer=said.reviewer,
        model=said.model,
        verdict=str(said.verdict) if said.verdict else None,
        agrees=said.agrees,
        concern=said.concern,
    )


def _coverage(task: Task, state: TaskState) -> tuple[Coverage, ...]:
    """Give the claims for each criterion by its text, however they name it."""
    criteria = task.acceptance_criteria
    return tuple(
        claim.model_copy(update={"criterion": text})
        for claim in (state.case.ac_coverage if state.case else ())
        for text in [criteria[number - 1] for number in claimed_in(claim, criteria)]
        or [claim.criterion]
    )


def _probes(state: TaskState) -> tuple[str, ...]:
    """Name the concerns that came with a probe, and whether it was seen to fail."""
    return tuple(
        f"{concern_id(index)} {proof}"
        for index, entry in enumerate(state.ledger)
        if (proof := entry.proof)
    )


def effort_of(task: TaskState) -> Effort:
    """Split a task's iterations at the first rejection of each attempt."""
    work = 0
    for attempt in task.attempts:
        rejected = (said.iter for said in attempt.all(EvaluatorVerdict) if not said.accepted)
        work += min(next(rejected, attempt.iterations), attempt.iterations)
    iterations = task.iterations
    return Effort(
        iterations=iterations,
        work=min(work, iterations),
        rework=max(0, iterations - work),
        tail=task.verification_tail,
        retries=task.retries,
    )


def _added(efforts: Iterable[Effort]) -> Effort:
    sums: Counter[str] = Counter()
    for effort in efforts:
        sums.update(dict(effort))
    return Effort(**sums)


def _total(tasks: Sequence[TaskReport], fault: str) -> Total:
    landed = [task.landed for task in tasks if task.landed and task.ending in DONE_ENDINGS]
    return Total(
        commits=len(landed),
        files=len({path for each in landed for path in each.paths}),
        added=sum(each.added for each in landed),
        deleted=sum(each.deleted for each in landed),
        fault=fault,
    )


def _question(session: str, asked: OperatorRequest) -> Question:
    return Question(
        request=asked.request,
        task_id=asked.task_id,
        text=asked.text,
        command=f'tilth answer {session} {asked.request} "…"',
    )
