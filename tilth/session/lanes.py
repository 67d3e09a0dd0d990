"""The lanes of a session: a worktree and a bench for every task that is worked on beside others.

They stand in `workspaces/<task>`, each at its task's base, and stay until the session is reset.
What is decided about tasks is the loop's business.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from types import TracebackType

from tilth.base.clock import SystemClock
from tilth.base.errors import WorkspaceError
from tilth.contract.prd import Plan, Status, Task
from tilth.git.commits import failed_message
from tilth.git.lane_workspace import LaneWorkspace, stacked
from tilth.git.source import SourceRepo
from tilth.git.workspace import Workspace
from tilth.session.carry import lay_carried
from tilth.session.gate_slots import GateSlots, gates_at_once
from tilth.session.parts import GIT_CONFIG, Parts, cores_here
from tilth.session.session import Session
from tilth.session.task_gate import renew_home
from tilth.task.attempt import Accepted, Attempt
from tilth.task.bench import Bench
from tilth.task.landing import set_aside_ref
from tilth.task.landing_turn import tip_of
from tilth.task.lanes import LaneWork

_SENT_BACK = "sent_back"


def lane_workspace(source: SourceRepo, session: Session, task_id: str) -> LaneWorkspace:
    """Give the worktree of a task's lane, whether or not it is there."""
    clock, guard = SystemClock(), session.guard
    return LaneWorkspace(source, session.lane(task_id), session.id, clock, guard=guard)


def as_seen(plan: Plan, task: Task) -> Plan:
    """Give the plan as a task sees it: of the others, only those in its base are done."""
    known = plan.in_base_of(plan.task(task.id) or task)
    tasks = tuple(
        each
        if each.id in known or each.id == task.id or each.status is not Status.DONE
        else each.model_copy(update={"status": Status.PENDING})
        for each in plan.tasks
    )
    return plan.model_copy(update={"tasks": tasks})


@dataclass(frozen=True)
class _Base:
    """Hold the commit a task begins from, and what is in it beyond what the task depends on."""

    commit: str
    merged_with: tuple[str, ...] = ()


class SessionLanes:
    """Make and keep the lanes of one run."""

    def __init__(self, parts: Parts, bench: Bench, session: Session, workspace: Workspace) -> None:
        self.jobs = parts.settings.jobs
        self._parts = parts
        self._session = session
        self._suites = {record.tree: record for record in bench.words.state.suites}
        self._slots = GateSlots(gates_at_once(cores_here()), bench.interrupt)
        # Landings come first: all that is behind them waits for their turn.
        first = self._slots.handle()
        gate = parts.gate(session, workspace, suites=self._suites, slots=first)
        self._bench = replace(bench, gate=gate)
        self._workspace = workspace
        self._works: dict[str, LaneWork] = {}
        self.landing: frozenset[str] = frozenset()

    @property
    def bench(self) -> Bench:
        """Give the bench at the branch itself, whose gate takes its place among those of lanes."""
        return self._bench

    def at(self, task: Task) -> LaneWork:
        """Give a task its lane: the one it had, or one that is made on its base."""
        work = self._works.get(task.id)
        if work is not None and task.status is not Status.PENDING:
            return work
        base = self._base_of(task)
        if base.merged_with:
            task = task.model_copy(update={"merged_with": base.merged_with})
            self._bench.record.save_task(task)
        place = self.place_of(task.id)
        self._keep_sent_back(place, task)
        if not place.stand_at(base.commit):
            # What stands there is of an attempt that is over.
            place.put(base.commit)
        return self.keep(LaneWork(self._bench_at(place, task), task, base=base.commit))

    def reopen(self, task: Task, base: str) -> tuple[LaneWork, bool]:
        """Give the lane of a task that was under way; tell whether its worktree was lost."""
        place = self.place_of(task.id)
        lost = place.stand_at(base)
        return self.keep(LaneWork(self._bench_at(place, task), task, base=base)), lost

    def keep(self, work: LaneWork) -> LaneWork:
        """Keep a lane, so that its task finds it again."""
        self._works[work.task.id] = work
        return work

    def forget(self, task_id: str) -> None:
        """Let a lane go whose task has ended; its worktree stays."""
        self._works.pop(task_id, None)

    def turn_of(self, task: Task) -> SessionTurn:
        """Give the one way into the branch to an accepted task."""
        work = self._works[task.id]
        attempt = work.attempt
        if attempt is None or attempt.accepted is None:
            raise WorkspaceError(f"{task.id} is to land, but nothing of it was accepted")
        self.landing = frozenset({task.id})
        # On the tip, with the tests of all that is in it.
        return SessionTurn(
            self, replace(work.bench, gate=self._bench.gate), attempt, attempt.accepted
        )

    def place_of(self, task_id: str) -> LaneWorkspace:
        """Give the worktree of a task that nobody is at work on."""
        return lane_workspace(self._parts.source, self._session, task_id)

    def _bench_at(self, place: LaneWorkspace, task: Task) -> Bench:
        """Give a bench at a lane: a home and a scratch of its own, a gate that waits its turn."""
        own = self._parts.scratch / "lanes" / task.id
        if not own.is_dir():
            own.mkdir(mode=0o700, parents=True)
            renew_home(own / "home")
            shutil.copyfile(self._parts.scratch / GIT_CONFIG, own / GIT_CONFIG)
        parts = replace(self._parts, scratch=own, beside=(self._parts.scratch,))
        lay_carried(self._session, place)
        places = parts.places_after_setup(self._session, place, saying=False)
        names = [each.id for each in self._bench.record.plan.tasks]
        # Then whoever is to land first.
        slots = self._slots.handle(1 + names.index(task.id))
        gate = parts.gate(self._session, place, places, self._suites, slots, as_seen)
        gate.preflight = self._bench.words.state.preflight
        return self._bench.at(
            tree=place,
            tools=parts.tools(place, places, task.id),
            gate=gate,
            lane=place,
        )

    def _base_of(self, task: Task) -> _Base:
        """Put the base together: the start, and exactly the commits of what the task depends on."""
        plan = self._bench.record.plan
        if task.round > 1:
            done = plan.with_status(Status.DONE)
            return _Base(tip_of(self._bench), tuple(each.id for each in done))
        state = self._bench.words.state
        start = state.seed.commit if state.seed else self._session.start_commit
        landed = [one for one in self._workspace.commits(start) if one.task and not one.failed]
        wanted = plan.in_base_of(task)
        records = [one for one in landed if one.task in wanted]
        stack = stacked(self._parts.source, start, records)
        if stack.exact:
            return _Base(stack.commit)
        upto = landed[: landed.index(records[-1]) + 1]
        return _Base(stack.commit, tuple(dict.fromkeys(one.task or "" for one in upto)))

    def _keep_sent_back(self, place: LaneWorkspace, task: Task) -> None:
        """Keep what a person sent back after it was accepted: the next attempt begins with it."""
        known, ref = self._bench.words.state.task(task.id), set_aside_ref(self._session.id, task.id)
        case = known.submitted
        if case is None or not known.sent_back or known.done or place.aside(ref) is not None:
            return
        message = failed_message(_SENT_BACK, task.id, task.title, session=self._session.id)
        place.keep_aside(ref, tree=case.tree, parent=known.attempt.base, message=message)


class SessionTurn:
    """Hold the one way into the branch while a task has its turn."""

    def __init__(
        self, lanes: SessionLanes, bench: Bench, attempt: Attempt, accepted: Accepted
    ) -> None:
        self._lanes = lanes
        self._has = (bench, attempt, accepted)

    def __enter__(self) -> tuple[Bench, Attempt, Accepted]:
        return self._has

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        attempt = self._has[1]
        if attempt.task.status is Status.DONE:
            # Its conversation can be long, and is over.
            self._lanes.forget(attempt.task.id)
        self._lanes.landing = frozenset()
