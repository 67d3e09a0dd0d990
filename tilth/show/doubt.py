"""Doubt: how much of what was recorded speaks against trusting a task, as one sum.

    doubt = for each ground: points x how often it was recorded, counted at most so often

WEIGHTS is the whole of it, and docs/report.md shows the same table. It only adds up what the log
and the commits say: it judges no code, reads no file and asks nobody. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from tilth.base.values import Value
from tilth.config.project import SEED_RUN
from tilth.contract.open_concerns import open_concerns
from tilth.contract.outcomes import FailReason
from tilth.contract.prd import Plan
from tilth.contract.verdict import Proof, concern_id
from tilth.log.events import ChallengeMade, Judging, SessionStart
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome, TaskState
from tilth.show.endings import TaskEnding, ending_of
from tilth.show.figures import counted, in_the_way, short_sha
from tilth.show.night_lines import opinion_words

SOUND_SCORE = 90
NEAR_THE_BAR = 10
LARGE_LINES = 200
DOUBTFUL = 20


_NO_ONE = "by no one but TILTH_ON_EXHAUSTED=accept"
_NOT_RUN = "the gate ran no seed test: the project's configuration takes the place of its defaults"


class Ground(StrEnum):
    """Name what can speak against a task."""

    SECOND_OPINION = "second_opinion"
    FAILED = "failed"
    BELOW_BAR = "below_bar"
    NOT_EVALUATED = "not_evaluated"
    UNREAD_VERDICT = "unread_verdict"
    TAMPERING = "tampering"
    STEERING = "steering"
    STEERED_BEFORE = "steered_before"
    ALREADY_GREEN = "already_green"
    UNSURE = "unsure"
    WORK_AROUND = "work_around"
    REJECTED = "rejected"
    UNSETTLED = "unsettled"
    BY_PERSON = "by_person"
    NEAR_REJECT = "near_reject"
    LOW_SCORE = "low_score"
    MUTANT = "mutant"
    UNNOTICED = "unnoticed"
    UNPROVEN = "unproven"
    CONTRADICTED = "contradicted"
    NO_SEED_TEST = "no_seed_test"
    SEED_NOT_RUN = "seed_not_run"
    SUPPRESSION = "suppression"
    LARGE_DIFF = "large_diff"
    CUT_DIFF = "cut_diff"
    UPSTREAM = "upstream"


class Weight(NamedTuple):
    """Say what a ground adds each time, and how often it is counted at most."""

    points: int
    most: int = 1


WEIGHTS: Mapping[Ground, Weight] = {
    Ground.SECOND_OPINION: Weight(60),
    Ground.FAILED: Weight(60),
    Ground.BELOW_BAR: Weight(50),
    Ground.NOT_EVALUATED: Weight(40),
    Ground.UNREAD_VERDICT: Weight(40),
    Ground.TAMPERING: Weight(40),
    Ground.STEERING: Weight(20),
    Ground.STEERED_BEFORE: Weight(10),
    Ground.ALREADY_GREEN: Weight(15),
    Ground.UNSURE: Weight(6, 5),
    Ground.WORK_AROUND: Weight(4, 5),
    Ground.REJECTED: Weight(8, 5),
    Ground.UNSETTLED: Weight(10, 3),
    Ground.BY_PERSON: Weight(10),
    Ground.NEAR_REJECT: Weight(10),
    Ground.LOW_SCORE: Weight(4, 9),
    Ground.MUTANT: Weight(6, 5),
    Ground.UNNOTICED: Weight(6, 5),
    Ground.UNPROVEN: Weight(5, 4),
    Ground.CONTRADICTED: Weight(15),
    Ground.NO_SEED_TEST: Weight(20),
    Ground.SEED_NOT_RUN: Weight(20),
    Ground.SUPPRESSION: Weight(5, 4),
    Ground.LARGE_DIFF: Weight(3, 5),
    Ground.CUT_DIFF: Weight(15),
    Ground.UPSTREAM: Weight(10, 2),
}


class Reason(Value):
    """Hold one thing that speaks against a task, whole, and what it adds to the doubt."""

    ground: Ground
    points: int
    text: str


class Doubt(Value):
    """Hold the sum and what it is made of; without reasons nothing speaks against the task."""

    points: int = 0
    reasons: tuple[Reason, ...] = ()


class Landed(Value):
    """Hold what git says of a task's commit; `cut` is a diff that was not shown whole."""

    commit: str
    subject: str
    paths: tuple[str, ...] = ()
    added: int = 0
    deleted: int = 0
    suppressions: tuple[str, ...] = ()
    cut: bool = False


class _Found(NamedTuple):
    ground: Ground
    text: str
    times: int = 1


def doubts(state: SessionState, plan: Plan, landed: Mapping[str, Landed]) -> Mapping[str, Doubt]:
    """Give the doubt about every task of the plan that has ended, or was caught tampering."""
    untested, left_out = _untested(state), _leaves_out_seeds(state)
    found: dict[str, list[_Found]] = {}
    for task_id in [task.id for task in plan.tasks]:
        task = state.task(task_id)
        if task.outcome is TaskOutcome.OPEN and not task.tampered:
            continue
        found[task_id] = [*_of_the_log(task), *_of_the_score(task, state.threshold)]
        if task_id in untested:
            found[task_id].append(
                _Found(Ground.NO_SEED_TEST, "no acceptance test stands behind it")
            )
        if left_out:
            found[task_id].append(_Found(Ground.SEED_NOT_RUN, _NOT_RUN))
        found[task_id] += _of_the_commit(landed.get(task_id), task)
    own = {task_id: _sum(grounds).points for task_id, grounds in found.items()}
    for planned in plan.tasks:
        if planned.id in found:
            found[planned.id] += [
                _Found(Ground.UPSTREAM, f"builds on {name}, which is in doubt")
                for name in planned.depends_on
                if own.get(name, 0) >= DOUBTFUL
            ]
            found[planned.id] += [
                _Found(Ground.UPSTREAM, f"built on {name}, which was sent back")
                for name in plan.builds_on_sent_back(planned)
            ]
    return {task_id: _sum(grounds) for task_id, grounds in found.items()}


def recorded_reasons(task: TaskState) -> tuple[Reason, ...]:
    """Give what the log alone holds against a task, while it runs or after."""
    return _sum(_of_the_log(task)).reasons


def _sum(found: Iterable[_Found]) -> Doubt:
    counts: dict[Ground, int] = {}
    reasons = []
    for ground, text, times in found:
        weight, before = WEIGHTS[ground], counts.get(ground, 0)
        counts[ground] = min(weight.most, before + times)
        points = weight.points * (counts[ground] - before)
        reasons.append(Reason(ground=ground, points=points, text=text))
    return Doubt(points=sum(reason.points for reason in reasons), reasons=tuple(reasons))


def _of_the_log(task: TaskState) -> Iterator[_Found]:
    ending, other = ending_of(task), task.disagreement
    if other is not None:
        said = f"{opinion_words(other)}: {other.concern}".rstrip(": ")
        yield _Found(Ground.SECOND_OPINION, said)
    if ending is TaskEnding.FAILED:
        yield _Found(Ground.FAILED, f"failed ({task.reason}){_stood_in_the_way(task)}")
    if ending is TaskEnding.BELOW_BAR:
        score = "unknown" if task.score is None else task.score
        objection = _last_objection(task, "; the last objection: ")
        said = f"accepted below the bar, score {score}, {_NO_ONE}{objection}"
        yield _Found(Ground.BELOW_BAR, said)
    if ending is TaskEnding.UNSEEN:
        yield _Found(Ground.NOT_EVALUATED, "no evaluator saw it")
    if ending is TaskEnding.UNREAD:
        said = "the evaluator's answer could not be read, and the case was let pass"
        yield _Found(Ground.UNREAD_VERDICT, said)
    if task.tampered:
        files = ", ".join(task.tampered_files)
        said = f"gate files were tampered with: {files}; the gate ran with its own copies"
        yield _Found(Ground.TAMPERING, said)
    yield from _of_the_steering(task)
    if task.already_green:
        yield _Found(Ground.ALREADY_GREEN, "its tests passed before the work")
    if task.unshown:
        said = f"the evaluator was not shown all of its diff: {', '.join(task.unshown)}"
        yield _Found(Ground.CUT_DIFF, said)
    if task.case is not None:
        yield from (_Found(Ground.UNSURE, f"unsure: {text}") for text in task.case.uncertainties)
        for text in task.case.work_arounds:
            yield _Found(Ground.WORK_AROUND, f"work-around: {text}")
    yield from _of_the_verdicts(task)


def _of_the_steering(task: TaskState) -> Iterator[_Found]:
    steered = task.steered
    if steered is not None and steered.files:
        said = f"it changes what steers a gate: {', '.join(steered.files)}"
        yield _Found(Ground.STEERING, said)
    if steered is not None and steered.earlier:
        said = f"proven by what an earlier task changed of the gate: {', '.join(steered.earlier)}"
        yield _Found(Ground.STEERED_BEFORE, said)


def _of_the_verdicts(task: TaskState) -> Iterator[_Found]:
    rejections = sum(not entry.accepted for entry in task.ledger)
    if rejections:
        yield _Found(Ground.REJECTED, _rejected(task, rejections), rejections)
    unsettled = _unsettled(task)
    if unsettled:
        said = f"the accept does not say that it is settled: {'; '.join(unsettled)}"
        yield _Found(Ground.UNSETTLED, said, len(unsettled))
    if task.by_person:
        yield _Found(Ground.BY_PERSON, "accepted by a person")
    if task.cleared and task.forced:
        yield _Found(Ground.BY_PERSON, "below the bar, accepted by a person")
    unproven = sum(entry.proof is Proof.UNPROVEN for entry in task.ledger)
    if unproven:
        said = f"{counted(unproven, 'concern')} whose probe did not fail"
        yield _Found(Ground.UNPROVEN, said, unproven)
    if task.contradicted:
        said = "the verdict accepts, and asks for a change all the same"
        yield _Found(Ground.CONTRADICTED, said)
    made = _challenged(task)
    if made and (found := (*made.unnoticed, *made.coarse)):
        said = (
            f"{counted(len(found), 'acceptance test')} that notices too little: {', '.join(found)}"
        )
        yield _Found(Ground.UNNOTICED, said, len(found))
    survived = survivors(task)
    if survived:
        said = f"{counted(len(survived), 'mutant')} no test noticed: {', '.join(survived)}"
        yield _Found(Ground.MUTANT, said, len(survived))


def _rejected(task: TaskState, rejections: int) -> str:
    """Say how often a task was rejected and for what; what was settled is told as the past."""
    ending = ending_of(task)
    if ending is TaskEnding.BELOW_BAR:
        return f"{counted(rejections, 'rejection')} and no accept"
    said = "rejected once" if rejections == 1 else f"rejected {rejections} times"
    last = "" if rejections == 1 else "the last for: "
    if ending is TaskEnding.DONE and not _unsettled(task):
        return f"{said}, since settled" + _last_objection(task, f": {last}")
    return said + _last_objection(task, f", {last or 'for: '}")


def _unsettled(task: TaskState) -> tuple[str, ...]:
    """Name what was still open when the evaluator accepted, and no verdict speaks of."""
    ledger = task.ledger
    if ending_of(task) is not TaskEnding.DONE or not (ledger and ledger[-1].accepted):
        return ()
    return tuple(f"{concern_id(at)} {ledger[at].wants}" for at in open_concerns(ledger))


def _stood_in_the_way(task: TaskState) -> str:
    """Say what a failed task failed of, as far as that is known."""
    failed = task.failure
    if failed is None:
        return ""
    # Of the others the detail says no more than the reason does.
    telling = (FailReason.BLOCKED, FailReason.DROPPED, FailReason.NO_PROGRESS)
    detail = failed.detail if failed.reason in telling else ""
    what = in_the_way(failed.obstacle) if failed.obstacle else ""
    said = "; ".join(filter(None, (detail, what)))
    return f": {said}" if said else ""


def _last_objection(task: TaskState, before: str) -> str:
    """Quote what the last rejection was for."""
    rejections = [entry for entry in task.ledger if not entry.accepted and not entry.parse_failed]
    return f"{before}{rejections[-1].wants or 'a low score'}" if rejections else ""


def _challenged(task: TaskState) -> ChallengeMade | None:
    """Give the last challenge of a task's acceptance tests."""
    made = [each for each in task.challenges if each.validator == SEED_RUN]
    return made[-1] if made else None


def survivors(task: TaskState) -> tuple[str, ...]:
    """Name the planted faults that no test noticed."""
    return task.mutants.survived if task.mutants else ()


def _of_the_score(task: TaskState, threshold: int) -> Iterator[_Found]:
    score = task.score
    if score is None or task.outcome is not TaskOutcome.DONE:
        return
    if threshold and threshold <= score < threshold + NEAR_THE_BAR:
        yield _Found(Ground.NEAR_REJECT, f"nearly rejected: score {score}, the bar is {threshold}")
    if score < SOUND_SCORE:
        yield _Found(Ground.LOW_SCORE, f"score {score}", math.ceil((SOUND_SCORE - score) / 10))


def _of_the_commit(landed: Landed | None, task: TaskState) -> Iterator[_Found]:
    if landed is None:
        return
    kept = ", ".join(path for path in landed.paths if path in task.tampered_files)
    if kept:
        sha = short_sha(landed.commit)
        said = f"the changed {kept} is in its commit {sha}, and so on the branch"
        yield _Found(Ground.TAMPERING, said)
    yield from (_Found(Ground.SUPPRESSION, text) for text in landed.suppressions)
    lines = landed.added + landed.deleted
    if lines >= LARGE_LINES:
        yield _Found(Ground.LARGE_DIFF, f"{lines} lines changed", lines // LARGE_LINES)
    if landed.cut and not task.unshown:
        yield _Found(Ground.CUT_DIFF, "its diff was too long to be judged whole")


def _untested(state: SessionState) -> frozenset[str]:
    return frozenset(name for said in _told(state) for name in said.untested)


def _leaves_out_seeds(state: SessionState) -> bool:
    return any(SEED_RUN in said.defaults_left_out for said in _told(state))


def _told(state: SessionState) -> Iterator[SessionStart | Judging]:
    """Give what every start has said about how work is judged."""
    if state.start is not None:
        yield state.start
    for start in state.starts:
        if start.resume and start.resume.judging:
            yield start.resume.judging
