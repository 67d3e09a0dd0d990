"""Playing a recorded session again: real loop, tools and gate, recorded answers, throwaway places.

Everything happens below one temporary directory: a repository that borrows the source's objects, a
sessions directory, the worktree. The source repository and the recorded session are only read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilth.cli.resuming import first_steps, read_facts
from tilth.cli.workbench import Workshop, open_workshop
from tilth.clock import SystemClock
from tilth.errors import UserError, WorkspaceError
from tilth.footing import LOST_WORKTREE
from tilth.loop import Ending, run
from tilth.mask import Mask
from tilth.messages import Role
from tilth.outcomes import StopReason
from tilth.prd import Plan, Status, Task
from tilth.recall.memory import remember
from tilth.recorded import RecordedModel, Script
from tilth.recording import Recording, Start
from tilth.replay import RecordedTools, ResultChange, Standing, TaskReplay, changed_results, compare
from tilth.repository import trees
from tilth.repository.borrowed import borrow
from tilth.repository.repo import SourceRepo, open_source
from tilth.repository.worktree import delete
from tilth.resume import wake
from tilth.session import Checkpoint, Session
from tilth.settings import Settings, load
from tilth.workspace import Workspace

# What shaped the recorded run. Keys, endpoints, sandbox and interpreter are today's business, and
# a cap that stopped it is not needed: the recording ends there.
_RECORDED = (
    "TILTH_MAX_ITERATIONS_PER_TASK",
    "TILTH_ITERATION_BONUS_PER_REJECTION",
    "TILTH_MAX_EVALUATOR_CALLS_PER_TASK",
    "TILTH_EVALUATE",
    "TILTH_EVAL_THRESHOLD",
    "TILTH_ON_EXHAUSTED",
    "TILTH_FAIL_OPEN_ON_UNPARSED",
    "TILTH_CONTEXT_FILES",
    "TILTH_MAX_OUTPUT_TOKENS",
    "TILTH_TOOL_TIMEOUT_SECONDS",
    "TILTH_VALIDATOR_TIMEOUT_SECONDS",
)
_NO_CAPS = {
    "TILTH_MAX_WALL_CLOCK_MINUTES": "1e9",
    "TILTH_MAX_TOKENS": str(10**15),
    "TILTH_MAX_COST_USD": "1e9",
}
# Too short to be taken for a secret, and never sent anywhere.
_NO_KEY = "none"


@dataclass(frozen=True)
class Played:
    """Hold what came of a session played again."""

    tasks: tuple[TaskReplay, ...]
    changes: tuple[ResultChange, ...]
    diffs: Mapping[str, str]
    notes: tuple[str, ...]


def recorded_settings(
    start: Start, opening: Mapping[str, Any], home: Path, **more: str
) -> Settings:
    """Give the settings a recorded start had, as far as they shaped it."""
    kept = {name: start.settings[name] for name in _RECORDED if name in start.settings}
    models = {
        "TILTH_WORKER_MODEL": opening["worker_model"],
        "TILTH_EVALUATOR_MODEL": opening["evaluator_model"] or "",
    }
    return load(
        {},
        {"TILTH_HOME": str(home), "TILTH_API_KEY": _NO_KEY, **models, **kept, **_NO_CAPS, **more},
    )


def play_again(
    session: Session,
    recording: Recording,
    today: Settings,
    accused: frozenset[int] = frozenset(),
) -> Played:
    """Play a session again from its first start to its last, and compare.

    Of the tool results that differ, the first is kept, and those of the accused events.
    """
    source = _source(recording)
    with _throwaway() as root:
        own = borrow(source, recording.opening["base_commit"], root / "git")
        play = _Play(session, recording, today, own, root)
        endings = [play.go_on(number) for number in range(len(recording.starts))]
        return play.compared(endings, accused)


def _source(recording: Recording) -> SourceRepo:
    root = Path(recording.opening["source"])
    if not root.is_dir():
        raise UserError(
            f"the repository {root} is gone, so the session cannot be played again: "
            "put it back, or use --verify-only, which needs no repository"
        )
    return open_source(root)


@contextmanager
def _throwaway() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="tilth-replay-")).resolve()
    try:
        yield root
    finally:
        delete(root)


class _Play:
    """Play one session, start after start."""

    def __init__(
        self,
        session: Session,
        recording: Recording,
        today: Settings,
        source: SourceRepo,
        root: Path,
    ) -> None:
        self._recorded = session
        self._recording = recording
        self._today = today
        self._source = source
        self._home = root / "home"
        self._script = Script(recording)

    def go_on(self, number: int) -> Ending:
        """Play one start up to where it stopped."""
        start = self._recording.starts[number]
        self._script.start = number
        settings = self._settings(start)
        facts = read_facts(self._source, self._source.head)
        with open_workshop(settings, self._source, facts) as shop:
            shop = replace(shop, quiet=True, sinks=(self._script,))
            session = self._session(settings)
            if LOST_WORKTREE in start.notes:
                delete(session.workspace)
            ending = self._run(shop, session, first=number == 0, fresh=start.fresh)
        if shop.interrupt.wished:
            raise KeyboardInterrupt
        return ending

    def _settings(self, start: Start) -> Settings:
        python = {"TILTH_PYTHON": str(self._today.python)} if self._today.python else {}
        sandbox = {"TILTH_SANDBOX": str(self._today.sandbox)}
        return recorded_settings(start, self._recording.opening, self._home, **sandbox, **python)

    def _session(self, settings: Settings) -> Session:
        recorded, clock, mask = self._recorded, SystemClock(), Mask()
        if (settings.sessions_dir / recorded.id).exists():
            return Session.wake(settings.sessions_dir, recorded.id, clock=clock, mask=mask)
        checkpoint = Checkpoint.model_validate(
            {**recorded.checkpoint.model_dump(), "status": "running", "usage": {}}
        )
        tests = {path.name: path.read_bytes() for path in recorded.seed_tests.iterdir()}
        plan = _unstarted(recorded.plan)
        return Session.new(settings.sessions_dir, checkpoint, plan, tests, clock=clock, mask=mask)

    def _run(self, shop: Workshop, session: Session, *, first: bool, fresh: bool) -> Ending:
        memory = remember(session.events())
        workspace = self._workspace(session)
        footing = shop.footing(session, workspace, memory)
        with shop.bench(session, workspace, memory) as bench:
            bench = replace(
                bench,
                worker=RecordedModel(self._script, Role.WORKER, bench.worker.name),
                evaluator_for=lambda task: RecordedModel(
                    self._script, Role.EVALUATOR, shop.settings.evaluator_model or ""
                ),
                tools=RecordedTools(bench.tools, self._script),
            )
            if first:
                return run(bench, lambda: first_steps(bench, footing))
            return run(bench, lambda: wake(bench, footing, fresh=fresh))

    def _workspace(self, session: Session) -> Workspace:
        return Workspace(self._source, session.workspace, session.id, SystemClock())

    def compared(self, endings: list[Ending], accused: frozenset[int]) -> Played:
        """Set what was played beside what was recorded."""
        played = self._home / "sessions" / self._recorded.id
        again = Recording(played / "events.jsonl")
        places = (str(self._recorded.workspace), str(played / "workspace"))
        notes = [
            f"played again, it stopped: {ending.detail}"
            for ending in endings
            if ending.reason is StopReason.ERROR
        ]
        tasks = tuple(self._held(task, notes) for task in compare(self._recording, again))
        return Played(
            tasks=tasks,
            changes=_worth_telling(changed_results(self._recording, again, places), accused),
            diffs={task.task_id: self._diff(task, notes) for task in tasks if not task.holds},
            notes=tuple(notes),
        )

    def _held(self, task: TaskReplay, notes: list[str]) -> TaskReplay:
        """Hold the log's word about a commit against git's own."""
        if task.recorded is None:
            return task
        try:
            commit = self._workspace(self._recorded).record(task.recorded.commit)
        except WorkspaceError:
            notes.append(
                f"{task.task_id}: commit {task.recorded.commit} is gone from the repository"
            )
            return task
        if commit.tree == task.recorded.tree:
            return task
        said = f"event {task.recorded.seq}: git has tree {commit.tree} for that commit"
        return replace(task, standing=Standing.DIFFERS, divergence=task.divergence or said)

    def _diff(self, task: TaskReplay, notes: list[str]) -> str:
        if task.recorded is None or task.again is None:
            return ""
        try:
            return trees.diff(self._source, task.recorded.tree, task.again.tree)
        except WorkspaceError as error:
            notes.append(f"{task.task_id}: no diff: {error}")
            return ""


def _worth_telling(
    changes: Iterator[ResultChange], accused: frozenset[int]
) -> tuple[ResultChange, ...]:
    first = next(changes, None)
    if first is None:
        return ()
    return (first, *(change for change in changes if change.seq in accused))


def _unstarted(plan: Plan) -> Plan:
    """Give a plan as it was before its first start; a task that came as done stays so."""
    return plan.model_copy(update={"tasks": tuple(_unstarted_task(task) for task in plan.tasks)})


def _unstarted_task(task: Task) -> Task:
    if task.status is Status.DONE and task.commit is None:
        return task
    fresh = {name: field.default for name, field in Task.model_fields.items() if name in _KEPT}
    return task.model_copy(update=fresh)


_KEPT = ("status", "rescue_count", "agent", "score", "quality_flag", "commit", "summary")
