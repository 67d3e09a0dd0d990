"""Playing a recorded session again: real loop, tools and gate, recorded answers, throwaway places.

Everything happens below one temporary directory: a repository that borrows the source's objects, a
sessions directory, the worktree. The source repository and the recorded session are only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import UserError, WorkspaceError
from tilth.config.secrets import Mask
from tilth.config.settings import Settings, load
from tilth.contract.operator_word import OperatorWord
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Status, Task
from tilth.contract.rules import Rules
from tilth.gate.findings import ValidatorReport
from tilth.git import trees
from tilth.git.borrowed import borrow
from tilth.git.source import SourceRepo, open_source
from tilth.git.workspace import Workspace
from tilth.git.worktree import delete
from tilth.log.events import SessionStart, ValidatorRun
from tilth.log.reattach import evidence_of
from tilth.log.state import fold
from tilth.model.messages import Role, Turn
from tilth.model.recorded import RecordedModel, Script
from tilth.replay.compare import (
    Match,
    RecordedTools,
    RepeatedWords,
    ResultChange,
    TaskReplay,
    changed_results,
    compare,
)
from tilth.replay.recording import Recording, Start
from tilth.sandbox.removal import scratch_directory
from tilth.session.at_rest import Desk, open_desk
from tilth.session.carry import bring_along
from tilth.session.files import read_tests
from tilth.session.frontend import Frontend
from tilth.session.lane_recovery import Asked
from tilth.session.models import Models
from tilth.session.parts import Parts, open_parts, read_facts
from tilth.session.run import run_session
from tilth.session.session import Checkpoint, Session
from tilth.session.speaking import accept_at_rest
from tilth.show.progress_line import EventProgress, ProgressLine, no_progress
from tilth.show.terminal import stop_on_signals
from tilth.task.ending import Ending
from tilth.task.evidence_record import EvidenceRecord
from tilth.task.words import Listener, lands_at_rest, take_up

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
    "TILTH_EVALUATOR_TOOLS",
    "TILTH_MAX_EVALUATOR_TURNS",
    "TILTH_MUTATION_SECONDS",
    "TILTH_CHALLENGE_SECONDS",
    "TILTH_JOBS",
)
_NO_CAPS = {
    "TILTH_MAX_WALL_CLOCK_MINUTES": "1e9",
    "TILTH_MAX_TOKENS": str(10**15),
    "TILTH_MAX_COST_USD": "1e9",
}
# Whoever gave a second opinion: a recording needs to know only that it was another.
_ANOTHER = "another reviewer"
# Too short to be taken for a secret, and never sent anywhere.
_NO_KEY = "none"
_RECORDED_GATE = (
    "the session was begun before tests were challenged: what its gate said is taken from the "
    "record, and not proven again"
)


@dataclass(frozen=True)
class Played:
    """Hold what came of a session played again."""

    tasks: tuple[TaskReplay, ...]
    changes: tuple[ResultChange, ...]
    diffs: Mapping[str, str]
    notes: tuple[str, ...]


def recorded_settings(start: Start, opening: SessionStart, home: Path, **more: str) -> Settings:
    """Give the settings a recorded start had, as far as they shaped it."""
    kept = {name: start.settings[name] for name in _RECORDED if name in start.settings}
    models = {
        "TILTH_WORKER_MODEL": opening.worker_model,
        "TILTH_EVALUATOR_MODEL": opening.evaluator_model or "",
    }
    return load(
        {},
        {
            "TILTH_HOME": str(home),
            "TILTH_API_KEY": _NO_KEY,
            **models,
            **kept,
            **_NO_CAPS,
            **more,
        },
    )


def recorded_models(
    script: Script, pause: Callable[[Turn], None] = lambda turn: None
) -> Callable[[Parts], AbstractContextManager[Models]]:
    """Have a script answer in the place of the endpoints."""
    seconded = tuple(script.recording.seconded.get(script.start, ()))

    def open_models(parts: Parts) -> AbstractContextManager[Models]:
        name = parts.settings.require_endpoint(Role.WORKER).model
        evaluator = RecordedModel(
            script, Role.EVALUATOR, parts.settings.evaluator_model or name, pause
        )
        worker = RecordedModel(script, Role.WORKER, name, pause)
        other = RecordedModel(script, Role.EVALUATOR, _ANOTHER, pause)
        return nullcontext(Models(worker, lambda task: evaluator, {_ANOTHER: other}, seconded))

    return open_models


def play_again(
    session: Session,
    recording: Recording,
    today: Settings,
    accused: frozenset[int] = frozenset(),
    line: ProgressLine | None = None,
) -> Played:
    """Play a session again from its first start to its last, and compare.

    Of the tool results that differ, the first is kept, and those of the accused events.
    """
    source = _source(recording)
    with _throwaway() as root:
        own = borrow(source, recording.opening.base_commit, root / "git")
        play = _Play(session, recording, today, own, root, line or no_progress())
        endings = [play.go_on(number) for number in range(len(recording.starts))]
        play.say_the_rest()
        return play.compared(endings, accused)


def _source(recording: Recording) -> SourceRepo:
    root = Path(recording.opening.source)
    if not root.is_dir():
        raise UserError(
            f"the repository {root} is gone, so the session cannot be played again: "
            "put it back, or use --verify-only, which needs no repository"
        )
    return open_source(root)


def report_of(run: ValidatorRun) -> ValidatorReport:
    """Give a validator's report as it was recorded."""
    fields = ValidatorReport.model_fields
    return ValidatorReport(**{name: getattr(run, name) for name in fields})


def _is_before_challenges(recording: Recording) -> bool:
    return recording.opening.rules < Rules.CHALLENGE


def _evidence(recording: Recording) -> EvidenceRecord:
    """Give what a recording knows of what was run on its trees."""
    evidence = evidence_of(recording.state, is_closed=True)
    if _is_before_challenges(recording):
        for (task_id, tree), runs in recording.validated.items():
            reports = tuple(report_of(run) for run in runs.values())
            evidence.keep_validated(task_id, tree, reports)
    return evidence


@contextmanager
def _throwaway() -> Iterator[Path]:
    root = scratch_directory("tilth-replay-")
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
        line: ProgressLine,
    ) -> None:
        self._recorded = session
        self._recording = recording
        self._today = today
        self._source = source
        self._home = root / "home"
        self._line = line
        self._script = Script(recording)

    def go_on(self, number: int) -> Ending:
        """Play one start up to where it stopped."""
        start = self._recording.starts[number]
        self._script.start = number
        settings = self._settings(start)
        facts = read_facts(self._source, self._source.head)
        sinks = (self._script, EventProgress(self._line, "playing it again"))
        frontend = Frontend(sinks=sinks, tell=self._line.tell, listen=stop_on_signals)
        with open_parts(settings, self._source, facts, frontend) as parts:
            parts = replace(
                parts,
                open_models=recorded_models(self._script),
                rules=Rules(self._recording.opening.rules),
                wrap_tools=lambda tools, task_id: RecordedTools(tools, self._script, task_id),
                wrap_words=lambda words: RepeatedWords(words, self._script),
                evidence=_evidence(self._recording),
                setup_network=self._today.sandbox_network,
            )
            self._say_at_rest(parts, number)
            session = self._session(settings)
            if start.worktree_lost and not self._recording.state.laned:
                delete(session.workspace)
            memory = fold(session.events(), conversations=True)
            fresh: Asked = start.anew if self._recording.state.laned else start.fresh
            ending = run_session(
                parts, session, memory, resumed=number > 0, fresh=fresh, clear=bool(start.anew)
            )
        if frontend.interrupt.wished:
            raise KeyboardInterrupt
        return ending

    def _say_at_rest(self, parts: Parts, number: int) -> None:
        """Say what a person said before a start, or after the last one."""
        for word in self._said_before(number):
            self._script.word_heard(word)
            session = self._session(parts.settings)
            try:
                if lands_at_rest(session.plan, word):
                    accept_at_rest(parts, session, word, strict=False)
                    continue
                with open_desk(session, parts.mask, source=self._source) as desk:
                    take_up(desk, word, self._listener(desk, word))
            finally:
                session.release()

    def _listener(self, desk: Desk, word: OperatorWord) -> Listener | None:
        """Give the conversation a word comes into; it answers a case only where it did so then."""
        listener = desk.listener_for(word)
        if listener is None or word.id in self._recording.words.answers:
            return listener
        return replace(listener, case=None)

    def _said_before(self, number: int) -> tuple[OperatorWord, ...]:
        """Give what was said at rest before a start, after what no start came to hear."""
        at_rest = self._recording.words.at_rest.get(number, ())
        return (*self._script.words_missed(number), *at_rest)

    def say_the_rest(self) -> None:
        """Say what a person said after the last start."""
        number = len(self._recording.starts)
        if self._said_before(number):
            settings = self._settings(self._recording.starts[-1])
            facts = read_facts(self._source, self._source.head)
            with open_parts(settings, self._source, facts, Frontend()) as parts:
                models = recorded_models(self._script)
                self._say_at_rest(replace(parts, open_models=models), number)

    def _settings(self, start: Start) -> Settings:
        python = {"TILTH_PYTHON": str(self._today.python)} if self._today.python else {}
        sandbox = {"TILTH_SANDBOX": str(self._today.sandbox)}
        return recorded_settings(start, self._recording.opening, self._home, **sandbox, **python)

    def _session(self, settings: Settings) -> Session:
        recorded, clock, mask = self._recorded, SystemClock(), Mask()
        if (settings.sessions_dir / recorded.id).exists():
            return Session.open_locked(settings.sessions_dir, recorded.id, clock=clock, mask=mask)
        checkpoint = Checkpoint.model_validate(
            {**recorded.checkpoint.model_dump(), "status": "running", "usage": {}}
        )
        tests = read_tests(recorded.seed_tests)
        plan = _unstarted(recorded.plan)
        made = Session.new(settings.sessions_dir, checkpoint, plan, tests, clock=clock, mask=mask)
        bring_along(recorded, made)
        return made

    def _workspace(self, session: Session) -> Workspace:
        return Workspace(self._source, session.workspace, session.id, SystemClock())

    def compared(self, endings: list[Ending], accused: frozenset[int]) -> Played:
        """Set what was played beside what was recorded."""
        played = self._home / "sessions" / self._recorded.id
        again = Recording(played / "events.jsonl")
        lanes = [f"workspaces/{task_id}" for task_id in self._recording.attempts]
        homes = (self._recorded.directory, played)
        places = tuple(str(home / name) for home in homes for name in (*lanes, "workspace"))
        notes = [
            f"played again, it stopped: {ending.detail}"
            for ending in endings
            if ending.reason is StopReason.ERROR
        ]
        if _is_before_challenges(self._recording):
            notes.append(_RECORDED_GATE)
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
        return replace(task, match=Match.DIFFERS, divergence=task.divergence or said)

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
    return task.unstarted()
