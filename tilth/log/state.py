"""The state of a session: THE one fold of its log. Everybody who wants to know reads this.

    reader ──events──▶ apply(state, event) ──▶ SessionState, a frozen value at every moment

    SessionState          the session: starts, last stop, branch tip and commits, caps, requests
      .tasks[id]          TaskState: outcome, ledger, cost by role, tools, validators, times
        .attempts[-1]     AttemptState: base, conversation, iterations, milestones (case → gate →
                          verdict), what a resume takes up again
      .outside            the same for what belongs to no task (the interview)
      .conversations      the texts of open conversations; kept for a resume alone

Pure: it reads no file and prints nothing. An event that changes nothing here needs no handler; one
that does has one below, and nothing else in the program counts or remembers events.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.base.uncollected import uncollected
from tilth.base.values import changed
from tilth.contract.operator_word import Verb
from tilth.contract.suite_record import SuiteRecord
from tilth.log import events as ev
from tilth.log.cache_gaps import CacheGaps
from tilth.log.conversations import Conversations
from tilth.log.events import Event, Payload
from tilth.log.task_fold import after, handles, own, with_attempt
from tilth.log.task_state import TaskOutcome, TaskState
from tilth.model.messages import Role
from tilth.task.budget import Spend


@dataclass(frozen=True)
class Start:
    """Hold with what one start or resume of the session set out, and whether it did any work."""

    ts: str
    settings: Mapping[str, str]
    resume: ev.SessionResume | None = None
    worked: bool = False
    # The last moment of the start before it, and the user's own deadline for this one.
    after: str | None = None
    until: str | None = None
    spend_leftovers: bool = False


@dataclass(frozen=True)
class Request:
    """Hold one question, flag or answer, and the task it is about."""

    task_id: str | None
    said: ev.OperatorRequested


@dataclass(frozen=True)
class TakenNote:
    """Say when accepted work was taken home, and what of it where."""

    ts: str
    said: ev.Taken


@dataclass(frozen=True)
class ForecastNote:
    """Hold a forecast with what stood when it was made, so that it can be judged later."""

    ts: str
    said: ev.Forecasted
    start: int
    done: int
    cost_usd: float


@dataclass(frozen=True)
class SessionState:
    """Hold what a log says of its session."""

    session: str | None = None
    events: int = 0
    last_seq: int = 0
    started: str | None = None
    updated: str | None = None
    # The event before the last: what a start comes after.
    previous: str | None = None
    ended: str | None = None
    start: ev.SessionStart | None = None
    starts: tuple[Start, ...] = ()
    prepared: ev.SessionPrepared | None = None
    seed: ev.SeedCommitted | None = None
    carried: ev.Carried | None = None
    preflight: ev.Preflighted | None = None
    # The commit the session builds on, the last one it put on its branch, and all that it made.
    tip: str | None = None
    left_at: str | None = None
    commits: Mapping[str, ev.Committed] = field(default_factory=dict)
    # The last stop; `stopped` is false while it runs again.
    stop: ev.Stop | None = None
    stopped: bool = False
    tasks: Mapping[str, TaskState] = field(default_factory=dict)
    outside: TaskState = field(default_factory=TaskState)
    caps: tuple[tuple[str, ev.CapWarning], ...] = ()
    requests: tuple[Request, ...] = ()
    setups: tuple[ev.HookRan, ...] = ()
    words: tuple[ev.OperatorSpoke, ...] = ()
    # What the project's own tests did, tree by tree, oldest first.
    suites: tuple[SuiteRecord, ...] = ()
    # How long they took when they were last run.
    suite_ms: int | None = None
    taken: tuple[TakenNote, ...] = ()
    # Limits that were slept out, and the one nobody has answered after yet.
    waits: tuple[tuple[str, ev.QuotaWait], ...] = ()
    waiting: ev.QuotaWait | None = None
    forecasts: tuple[ForecastNote, ...] = ()
    cache_gaps: CacheGaps = field(default_factory=CacheGaps)
    conversations: Conversations | None = None

    @property
    def last_stop(self) -> str | None:
        """Say why it stopped, if it has."""
        return str(self.stop.reason) if self.stop and self.stopped else None

    @property
    def settings(self) -> Mapping[str, str]:
        """Give the settings the last start set out with."""
        return self.starts[-1].settings if self.starts else {}

    @property
    def threshold(self) -> int:
        """Give the score an accept must carry since the last start; 0 is none."""
        said = self.settings.get("TILTH_EVAL_THRESHOLD", "")
        return int(said) if said.isdecimal() else 0

    @property
    def spends_leftovers(self) -> bool:
        """Tell whether a start asked for second opinions; whoever goes on keeps that wish."""
        return any(start.spend_leftovers for start in self.starts)

    def task(self, task_id: str | None) -> TaskState:
        """Give one task; one that nothing has happened to is empty."""
        return self.tasks.get(task_id or "") or TaskState(id=task_id)

    @property
    def laned(self) -> bool:
        """Tell whether it was ever worked on with several jobs: then it lands as they do."""
        return any(_jobs(start.settings) > 1 for start in self.starts)

    @property
    def open_tasks(self) -> tuple[TaskState, ...]:
        """Give the tasks in the middle of an attempt, the one begun last at the end."""
        found = [task for task in self.tasks.values() if task.is_open]
        return tuple(sorted(found, key=lambda task: task.attempt.seq))

    def words_on(self, task_id: str) -> tuple[ev.OperatorSpoke, ...]:
        """Give what a person said about one task and was heard, oldest first."""
        return tuple(w for w in self.words if w.task == task_id and w.refused is None)

    def notes_on(self, task_id: str) -> tuple[str, ...]:
        """Give what a person told the worker of one task."""
        return tuple(w.text for w in self.words_on(task_id) if w.verb is Verb.TELL)

    @property
    def open_requests(self) -> tuple[Request, ...]:
        """Give the questions nobody has answered; a flag needs no answer."""
        asked: dict[str, Request] = {}
        for request in self.requests:
            if request.said.kind == "answer":
                asked.pop(request.said.request, None)
            elif request.said.kind == "blocked":
                asked[request.said.request] = request
        return tuple(asked.values())

    @property
    def works(self) -> tuple[TaskState, ...]:
        """Give all that was done, inside tasks and outside."""
        return (self.outside, *self.tasks.values())

    @property
    def spend(self) -> Mapping[Role, Spend]:
        """Give what every role has spent, over all starts."""
        works = self.works
        return {
            role: Spend.total(work.spend[role] for work in works if role in work.spend)
            for role in dict.fromkeys(role for work in works for role in work.spend)
        }

    @property
    def spent(self) -> Spend:
        return Spend.total(spend for work in self.works for spend in work.spend.values())

    @property
    def work_usd(self) -> float:
        """Give what all work cost, without second opinions on it: what a forecast is about."""
        return sum(work.work_usd for work in self.works)

    @property
    def iterations(self) -> int:
        return sum(work.iterations for work in self.works)

    @property
    def retries(self) -> int:
        return sum(work.retries for work in self.works)

    @property
    def unpriced_models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for work in self.works for name in work.unpriced_models))


def _jobs(settings: Mapping[str, str]) -> int:
    said = settings.get("TILTH_JOBS", "1")
    return int(said) if said.isdecimal() else 1


def fold(events: Iterable[Event], *, conversations: bool = False) -> SessionState:
    """Read a whole log once, with the texts of its open conversations for whoever goes on."""
    if not conversations:
        return functools.reduce(_advanced, events, SessionState())
    with uncollected():
        return functools.reduce(_advanced, events, SessionState(conversations=Conversations()))


def apply(state: SessionState, event: Event) -> SessionState:
    """Give the state after one more event."""
    task_id = event.scope.task_id
    if task_id is None:
        return _advanced(changed(state, outside=own(state.outside)), event)
    task = state.tasks.get(task_id)
    touched = {} if task is None else {task_id: own(task)}
    return _advanced(changed(state, tasks={**state.tasks, **touched}), event)


def _advanced(state: SessionState, event: Event) -> SessionState:
    """Take in one more event; the state is the caller's own, nobody has seen it, and is used up.

    A long log is folded so without a copy of everything for each of its events.
    """
    task_id, fields = event.scope.task_id, state.__dict__
    fields["previous"] = fields["updated"]
    fields["updated"] = event.ts
    fields["started"] = fields["started"] or event.ts
    fields["session"] = event.session
    fields["events"] += 1
    fields["last_seq"] = event.seq
    if task_id is None:
        fields["outside"] = after(state.outside, event)
    else:
        task = state.tasks.get(task_id) or TaskState(id=task_id, started=event.ts)
        now = after(task, event)
        if now is not task or task_id not in state.tasks:
            fields["tasks"] = {**state.tasks, task_id: now}
    on_session = _SESSION.get(type(event.payload))
    if on_session is not None:
        state = on_session(state, event, event.payload)
    if state.conversations is not None:
        state.conversations.follow(event)
    return state


# What an event changes about the session; what it changes about its task stands in `task_fold`.
_SESSION: dict[type[Payload], Callable[[SessionState, Event, Any], SessionState]] = {}
_on = functools.partial(handles, _SESSION)


@_on(ev.SessionStart)
def _(state: SessionState, event: Event, start: ev.SessionStart) -> SessionState:
    begun = Start(event.ts, start.settings, after=state.previous, until=start.until)
    begun = changed(begun, spend_leftovers=start.spend_leftovers)
    return _begin(changed(state, start=start), begun)


@_on(ev.SessionResume)
def _(state: SessionState, event: Event, resume: ev.SessionResume) -> SessionState:
    # A resume may say with what settings it goes on; a start always does.
    settings = resume.settings or state.settings
    begun = Start(event.ts, settings, resume, after=state.previous, until=resume.until)
    state = _begin(state, changed(begun, spend_leftovers=resume.spend_leftovers))
    tasks = dict(state.tasks)
    for task_id in resume.retried:
        task = tasks.get(task_id) or TaskState(id=task_id)
        tasks[task_id] = changed(task, outcome=TaskOutcome.OPEN, failure=None, ended=None)
    for task_id in resume.anew:
        # Its conversation is over, whenever the next one begins.
        if task_id in tasks and tasks[task_id].attempt.conversation is not None:
            tasks[task_id] = with_attempt(own(tasks[task_id]), ended=True)
    left_at = state.tip if resume.unwound_commit is not None else state.left_at
    return changed(state, tasks=tasks, left_at=left_at, ended=None)


def _begin(state: SessionState, start: Start) -> SessionState:
    return changed(state, starts=(*state.starts, start), stopped=False)


@_on(ev.SessionPrepared)
def _(state: SessionState, event: Event, prepared: ev.SessionPrepared) -> SessionState:
    return changed(state, prepared=prepared)


@_on(ev.SeedCommitted)
def _(state: SessionState, event: Event, seed: ev.SeedCommitted) -> SessionState:
    return changed(state, seed=seed, tip=seed.commit, left_at=seed.commit)


@_on(ev.Carried)
def _(state: SessionState, event: Event, carried: ev.Carried) -> SessionState:
    return changed(state, carried=carried)


@_on(ev.Preflighted)
def _(state: SessionState, event: Event, preflight: ev.Preflighted) -> SessionState:
    return changed(state, preflight=preflight)


@_on(ev.ContextReset)
def _(state: SessionState, event: Event, reset: ev.ContextReset) -> SessionState:
    if not state.starts or event.task_id is None:
        return state
    number = len(state.starts) - 1
    task = with_attempt(state.tasks[event.task_id], start=number)
    starts = (*state.starts[:-1], changed(state.starts[-1], worked=True))
    return changed(state, starts=starts, tasks={**state.tasks, event.task_id: task})


@_on(ev.ModelCall)
def _(state: SessionState, event: Event, call: ev.ModelCall) -> SessionState:
    if state.waiting is not None:
        state = changed(state, waiting=None)
    gaps = state.cache_gaps.after(event, call)
    if gaps is not state.cache_gaps:
        state = changed(state, cache_gaps=gaps)
    if event.task_id is None or not state.starts or state.starts[-1].worked:
        return state
    return changed(state, starts=(*state.starts[:-1], changed(state.starts[-1], worked=True)))


@_on(ev.Committed)
def _(state: SessionState, event: Event, commit: ev.Committed) -> SessionState:
    commits = {**state.commits, commit.commit: commit}
    # A failed task's work is never built on: a resume, or `skip` at once, takes it off the branch.
    tip = state.tip if commit.kind == "failed" else commit.commit
    left_at = state.left_at if commit.ref.startswith("refs/tilth/") else commit.commit
    return changed(state, tip=tip, left_at=left_at, commits=commits)


@_on(ev.ValidatorRun)
def _(state: SessionState, event: Event, run: ev.ValidatorRun) -> SessionState:
    if run.suite is None:
        return state
    took = state.suite_ms if run.suite.not_run else run.duration_ms
    return changed(state, suites=(*state.suites, run.suite), suite_ms=took)


@_on(ev.OperatorRequested)
def _(state: SessionState, event: Event, said: ev.OperatorRequested) -> SessionState:
    return changed(state, requests=(*state.requests, Request(event.task_id, said)))


@_on(ev.OperatorSpoke)
def _(state: SessionState, event: Event, word: ev.OperatorSpoke) -> SessionState:
    return changed(state, words=(*state.words, word))


@_on(ev.Taken)
def _(state: SessionState, event: Event, taken: ev.Taken) -> SessionState:
    return changed(state, taken=(*state.taken, TakenNote(event.ts, taken)))


@_on(ev.CapWarning)
def _(state: SessionState, event: Event, warning: ev.CapWarning) -> SessionState:
    return changed(state, caps=(*state.caps, (event.ts, warning)))


@_on(ev.QuotaWait)
def _(state: SessionState, event: Event, wait: ev.QuotaWait) -> SessionState:
    return changed(state, waits=(*state.waits, (event.ts, wait)), waiting=wait)


@_on(ev.Forecasted)
def _(state: SessionState, event: Event, said: ev.Forecasted) -> SessionState:
    done = sum(task.outcome is TaskOutcome.DONE for task in state.tasks.values())
    start = max(0, len(state.starts) - 1)
    note = ForecastNote(event.ts, said, start, done, state.work_usd)
    return changed(state, forecasts=(*state.forecasts, note))


@_on(ev.HookRan)
def _(state: SessionState, event: Event, hook: ev.HookRan) -> SessionState:
    return changed(state, setups=(*state.setups, hook)) if event.task_id is None else state


@_on(ev.Stop)
def _(state: SessionState, event: Event, stop: ev.Stop) -> SessionState:
    return changed(state, stop=stop, stopped=True, ended=event.ts)
