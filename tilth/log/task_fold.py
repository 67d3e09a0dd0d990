"""The fold of one task: what each kind of event changes about the task it names.

`tilth.log.state` calls it for every event; nobody else does. It gives over a task that is its own:
nobody else has seen it, so what happens in every turn is written into it, not into a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tilth.base.values import changed
from tilth.contract.case import SUBMIT_CASE
from tilth.contract.outcomes import Refused
from tilth.contract.verdict import SUBMIT_VERDICT, asks_despite_accept
from tilth.log import events as ev
from tilth.log.conversations import turn_of
from tilth.log.events import Event, Payload
from tilth.log.task_state import (
    AttemptState,
    GateCount,
    RedTree,
    ReviewState,
    TaskOutcome,
    TaskState,
)
from tilth.model.messages import Role
from tilth.task.budget import Spend
from tilth.task.watch import verification_tail

RUN_PROBE = "run_probe"

_T = TypeVar("_T")
_NOTHING = Spend()
_EDITS = frozenset({"write_file", "edit_file"})
# The events that may tell of something in a task's way.
_OBSTACLES = (ev.HookRan, ev.ValidatorRun, ev.EvaluatorVerdict, ev.CaseParseError, ev.CaseSubmitted)
_EVIDENCE: dict[type[Payload], str] = {
    ev.ProbeRun: "probes",
    ev.ChallengeMade: "challenges",
    ev.MutantsTried: "mutant_runs",
}
_TASK: dict[type[Payload], Callable[[TaskState, Event, Any], TaskState]] = {}


def own(task: TaskState) -> TaskState:
    """Copy a task that somebody may have seen, so that `after` may be given it."""
    return changed(task, attempts=(*task.attempts[:-1], *map(changed, task.attempts[-1:])))


def after(task: TaskState, event: Event) -> TaskState:
    """Give a task as it is after one more event; the one that is handed over is used up."""
    handler = _TASK.get(type(event.payload))
    task = task if handler is None else handler(task, event, event.payload)
    if type(event.payload) in _OBSTACLES:
        met = task.attempt.obstacles.after(event.payload.type, event.payload.to_data())
        task = with_attempt(task, obstacles=met)
    return task


def _written(task: TaskState, **changes: Any) -> TaskState:
    """Change a task of our own where it stands."""
    task.__dict__.update(changes)
    return task


def handles(table: dict[type[Payload], Any], *kinds: type[Payload]) -> Callable[[_T], _T]:
    """Register what follows for these kinds of event."""

    def register(handler: _T) -> _T:
        table.update(dict.fromkeys(kinds, handler))
        return handler

    return register


_on = functools.partial(handles, _TASK)


@_on(ev.ContextReset)
def _(task: TaskState, event: Event, reset: ev.ContextReset) -> TaskState:
    attempt = AttemptState(
        seq=event.seq,
        began=event.ts,
        reset=reset,
        trace_id=event.scope.trace_id,
        ledger_start=len(task.verdict_events),
    )
    return changed(
        task,
        attempts=(*task.attempts, attempt),
        outcome=TaskOutcome.OPEN,
        failure=None,
        forced=None,
        ended=None,
        cleared=False,
        sent_back=False,
        rescued=False,
        dropped=None,
        unshown=(),
    )


@_on(ev.PromptAssembled)
def _(task: TaskState, event: Event, prompt: ev.PromptAssembled) -> TaskState:
    if prompt.role is Role.WORKER:
        return with_attempt(task, conversation=prompt.conversation, endpoint=prompt.endpoint)
    if prompt.second:
        return changed(task, seconding=ReviewState(prompt.conversation))
    case = task.attempt.last(ev.CaseSubmitted, task.attempt.last_answer)
    tools = {tool.get("name") for tool in prompt.head.get("tools", ())}
    if case is None or "submit_verdict" not in tools:
        return with_attempt(task, review=None)
    task = changed(task, unshown=prompt.unshown)
    return with_attempt(task, green=case, review=ReviewState(prompt.conversation))


@_on(ev.ModelCall)
def _(task: TaskState, event: Event, call: ev.ModelCall) -> TaskState:
    role = call.role
    spent = task.spend.get(role, _NOTHING).after(call.usage, call.cost_usd)
    model_ms = {**task.model_ms, role: task.model_ms.get(role, 0) + call.latency_ms}
    task = _written(task, spend={**task.spend, role: spent}, model_ms=model_ms)
    if call.cost_usd is None and call.model not in task.unpriced_models:
        task = changed(task, unpriced_models=(*task.unpriced_models, call.model))
    if task.seconding is not None and task.seconding.conversation == call.conversation:
        second = task.second_spend.after(call.usage, call.cost_usd)
        task = changed(task, second_spend=second)
    if role is not Role.WORKER:
        return _reviewed(task, call.conversation, last=call)
    acts = any(block.get("type") == "tool_use" for block in call.content)
    attempt = task.attempt
    return with_attempt(
        task,
        iterations=attempt.iterations + 1,
        quiet=0 if acts else attempt.quiet,
        last_answer=event.seq,
        review=None,
    )


@_on(ev.ModelRetry)
def _(task: TaskState, event: Event, retry: ev.ModelRetry) -> TaskState:
    return changed(task, retries=task.retries + 1)


@_on(ev.Nudge)
def _(task: TaskState, event: Event, nudge: ev.Nudge) -> TaskState:
    return with_attempt(changed(task, nudges=task.nudges + 1), quiet=nudge.in_a_row)


@_on(ev.ToolCalled)
def _(task: TaskState, event: Event, call: ev.ToolCalled) -> TaskState:
    return _written(task, tools={**task.tools, call.name: task.tools.get(call.name, 0) + 1})


@_on(ev.ToolResulted)
def _(task: TaskState, event: Event, result: ev.ToolResulted) -> TaskState:
    failed = bool(result.is_error or result.exit_code)
    if result.name == SUBMIT_CASE.name:
        task = with_attempt(task, red=_red_after(task.attempt, result))
    elif result.name in _EDITS and not result.is_error:
        task = with_attempt(task, last_edit=event.scope.iter or 0)
    return _written(
        task,
        tool_failures=task.tool_failures + failed,
        tool_ms=task.tool_ms + result.duration_ms,
    )


def _red_after(attempt: AttemptState, result: ev.ToolResulted) -> RedTree | None:
    """Tell whether the last case failed before it came to the evaluator, and how often in a row."""
    since, before = attempt.last_answer, attempt.red
    submitted = attempt.last(ev.CaseSubmitted, since)
    if submitted is None:
        return before
    if any(word.call_id == result.call_id for word in attempt.all(ev.OperatorSpoke, since)):
        # A person's reject is no finding of the gate.
        return None
    verdicts = attempt.all(ev.EvaluatorVerdict, since)
    if not result.is_error or any(_came_to_judgement(verdict) for verdict in verdicts):
        return None
    if before is not None and before.tree == submitted.tree:
        return RedTree(before.tree, before.told, before.times + 1)
    return RedTree(submitted.tree, result.content)


def _came_to_judgement(verdict: ev.EvaluatorVerdict) -> bool:
    """Tell whether the gate had passed a case; a probe that still fails comes after the gate."""
    return verdict.source == "evaluator" or verdict.is_probe_refusal


@_on(ev.PreToolBlock)
def _(task: TaskState, event: Event, block: ev.PreToolBlock) -> TaskState:
    return changed(task, blocked_calls=task.blocked_calls + 1)


@_on(ev.ValidatorRun)
def _(task: TaskState, event: Event, run: ev.ValidatorRun) -> TaskState:
    task = changed(task, gate_ms=task.gate_ms + run.duration_ms)
    if run.phase != "case":
        return task
    old = task.gates.get(run.name, GateCount())
    new = GateCount(old.passed + run.passed, old.failed + (not run.passed))
    return _milestone(changed(task, gates={**task.gates, run.name: new}), event)


@_on(ev.SeedTampered)
def _(task: TaskState, event: Event, tampered: ev.SeedTampered) -> TaskState:
    return changed(task, tampered=(*task.tampered, tampered))


@_on(ev.GateSteered)
def _(task: TaskState, event: Event, steered: ev.GateSteered) -> TaskState:
    return changed(task, steered=steered)


@_on(ev.SeedAlreadyGreen)
def _(task: TaskState, event: Event, green: ev.SeedAlreadyGreen) -> TaskState:
    return changed(task, already_green=green.tests)


@_on(ev.CaseParseError)
def _(task: TaskState, event: Event, error: ev.CaseParseError) -> TaskState:
    return changed(task, unreadable_cases=task.unreadable_cases + 1)


@_on(ev.EvaluatorParseError)
def _(task: TaskState, event: Event, error: ev.EvaluatorParseError) -> TaskState:
    task = changed(task, unreadable_verdicts=task.unreadable_verdicts + 1)
    return _reviewed(task, error.conversation, unread=True)


@_on(ev.EvaluatorTool)
def _(task: TaskState, event: Event, tool: ev.EvaluatorTool) -> TaskState:
    if tool.name == RUN_PROBE:
        task = changed(task, evaluator_probes=(*task.evaluator_probes, tool))
    task = changed(task, gate_ms=task.gate_ms + tool.duration_ms)
    if tool.name != SUBMIT_VERDICT.name:
        return task
    return _reviewed(
        task, tool.conversation, **{"completed" if tool.lacking else "corrected": True}
    )


@_on(ev.ProbeFailed)
def _(task: TaskState, event: Event, failed: ev.ProbeFailed) -> TaskState:
    return changed(task, refusals=(*task.refusals, failed))


@_on(*_EVIDENCE)
def _(task: TaskState, event: Event, ran: Any) -> TaskState:
    name = _EVIDENCE[type(ran)]
    kept = {name: (*getattr(task, name), ran)}
    return _milestone(changed(task, **kept, gate_ms=task.gate_ms + ran.duration_ms), event)


def _reviewed(task: TaskState, conversation: str, **what: Any) -> TaskState:
    """Note what happened in the review at hand; another conversation is none of its business."""
    reviews = (task.attempt.review, task.seconding)
    review = next((each for each in reviews if each and each.conversation == conversation), None)
    if review is None:
        return task
    if review is task.seconding:
        return changed(task, seconding=review.after(**what))
    return with_attempt(task, review=review.after(**what))


@_on(ev.SecondOpinion)
def _(task: TaskState, event: Event, said: ev.SecondOpinion) -> TaskState:
    return changed(task, opinions=(*task.opinions, said), seconding=None)


@_on(ev.CaseSubmitted)
def _(task: TaskState, event: Event, submitted: ev.CaseSubmitted) -> TaskState:
    kept: list[Event] = []
    for old in task.attempt.milestones:
        if isinstance(old.payload, ev.CaseSubmitted) and old.payload.call_id == submitted.call_id:
            # Heard again after an interruption: it takes the first's place.
            break
        kept.append(_without_output(old))
    tail = verification_tail(task.attempt.last_edit, event.scope.iter or 0)
    task = with_attempt(task, milestones=(*kept, event), review=None, last_edit=0)
    tail += task.verification_tail
    return changed(task, submitted=submitted, verification_tail=tail, steered=None)


def _without_output(event: Event) -> Event:
    if not isinstance(event.payload, ev.ValidatorRun) or not event.payload.output:
        return event
    short = event.payload.model_copy(update={"output": ""})
    return Event(event.seq, event.ts, event.session, event.scope, short)


@_on(ev.EvaluatorVerdict)
def _(task: TaskState, event: Event, verdict: ev.EvaluatorVerdict) -> TaskState:
    score = task.score if verdict.score is None else verdict.score
    review = task.attempt.review if verdict.entry.accepted else None
    heard = review.last if review else None
    task = changed(
        task,
        verdict_events=(*task.verdict_events, event),
        score=score,
        contradicted=heard is not None and asks_despite_accept(turn_of(heard)),
    )
    return with_attempt(_milestone(task, event), review=None)


@_on(ev.OperatorSpoke)
def _(task: TaskState, event: Event, word: ev.OperatorSpoke) -> TaskState:
    if word.drops:
        return changed(task, dropped=word.text, rescued=False, sent_back=False)
    if word.accepts:
        to_land = task.outcome is TaskOutcome.FAILED or task.is_open
        return changed(task, cleared=not to_land, rescued=to_land)
    if not word.sends_back or word.entry is None:
        return task
    task = changed(task, verdict_events=(*task.verdict_events, event), dropped=None)
    if task.is_open and not word.ends:
        return with_attempt(_milestone(task, event), review=None)
    return _send_back(with_attempt(task, ended=True) if task.is_open else task)


def _send_back(task: TaskState) -> TaskState:
    # The score was that of the work which is sent back.
    back = {"sent_back": True, "rescued": False, "failure": None, "ended": None, "score": None}
    return changed(task, outcome=TaskOutcome.OPEN, **back)


@_on(ev.BlockerRaised, ev.Stagnation)
def _(task: TaskState, event: Event, payload: Payload) -> TaskState:
    return _milestone(task, event)


@_on(ev.Committed)
def _(task: TaskState, event: Event, commit: ev.Committed) -> TaskState:
    return _milestone(changed(task, commit=commit), event)


@_on(ev.LandingRefused)
def _(task: TaskState, event: Event, refused: ev.LandingRefused) -> TaskState:
    # Both together had passed the gate, and were judged.
    green = task.attempt.green if refused.cause is Refused.VERDICT else None
    green = green and green.model_copy(update={"tree": refused.tree})
    task = _milestone(changed(task, forced=None), event)
    return with_attempt(task, onto=refused.onto, green=green, review=None)


@_on(ev.TaskForceAccepted)
def _(task: TaskState, event: Event, forced: ev.TaskForceAccepted) -> TaskState:
    return _milestone(changed(task, forced=forced), event)


@_on(ev.TaskDone)
def _(task: TaskState, event: Event, done: ev.TaskDone) -> TaskState:
    score = task.score if done.score is None else done.score
    task = changed(task, outcome=TaskOutcome.DONE, done=done, failure=None, score=score)
    task = changed(task, ended=event.ts, cleared=False, rescued=False, dropped=None)
    task = _milestone(task, event)
    return _ended(task, back=not task.attempt.heard_since_sent_back)


@_on(ev.TaskFailed)
def _(task: TaskState, event: Event, failed: ev.TaskFailed) -> TaskState:
    task = changed(task, outcome=TaskOutcome.FAILED, failure=failed, ended=event.ts)
    return _ended(_milestone(task, event))


def _ended(task: TaskState, *, back: bool = True) -> TaskState:
    """End the attempt; what a person rejected at its very end goes back to work all the same."""
    back = back and task.is_open and task.attempt.sent_back_at_its_end
    task = with_attempt(task, ended=True)
    return _send_back(task) if back else task


def with_attempt(task: TaskState, **changes: Any) -> TaskState:
    """Change a task's last attempt; a log that tells of none has begun one unseen."""
    if task.id is None:
        return task
    if not task.attempts:
        return changed(task, attempts=(changed(AttemptState(), **changes),))
    task.attempts[-1].__dict__.update(changes)
    return task


def _milestone(task: TaskState, event: Event) -> TaskState:
    return with_attempt(task, milestones=(*task.attempt.milestones, event))
