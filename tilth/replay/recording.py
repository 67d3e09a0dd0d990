"""The recording: a session's log, read so that it can be played again and compared.

What happened is the state's to say; this adds an index, not the log: where each answer and each
result stands. It writes nothing.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from tilth.base.errors import CorruptSession, UserError
from tilth.base.plain_file import open_plain
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.verdict import Decision
from tilth.log.events import (
    BlockerRaised,
    CaseSubmitted,
    Committed,
    ContextReset,
    EvaluatorVerdict,
    Event,
    LandingRefused,
    ModelCall,
    OperatorSpoke,
    Payload,
    PromptAssembled,
    SecondOpinion,
    SessionResume,
    SessionStart,
    TaskFailed,
    ToolResulted,
    ValidatorRun,
)
from tilth.log.reader import parse_event, read_events
from tilth.log.state import SessionState, apply
from tilth.log.task_state import AttemptState
from tilth.model.messages import Role
from tilth.replay.moves import Made, Moves
from tilth.session.store import parse_line

_PLAYED = frozenset({Role.WORKER, Role.EVALUATOR})
_Payload = TypeVar("_Payload", bound=Payload)


@dataclass(frozen=True)
class Start:
    """Hold with what one start or resume of the session set out."""

    settings: Mapping[str, str]
    fresh: bool
    worktree_lost: bool
    # Which tasks it began anew, on clean files.
    anew: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """Hold one thing that came of an attempt, in words that can be compared."""

    seq: int
    what: str


@dataclass(frozen=True)
class Landing:
    """Hold the commit an attempt ended in."""

    seq: int
    kind: str
    commit: str
    tree: str


@dataclass
class Attempt:
    """Hold where everything stands that belongs to one conversation of the worker."""

    task_id: str
    start: int
    # The start it was given in, and the number of its line.
    answers: dict[Role, list[tuple[int, int]]] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=dict)
    interrupted: set[str] = field(default_factory=set)
    opinions: list[Step] = field(default_factory=list)
    steps: tuple[Step, ...] = ()
    landing: Landing | None = None


@dataclass(frozen=True)
class HeardWord:
    """Hold a word that a run heard: in which start, and after how many answers and verdicts."""

    start: int
    after: int
    word: OperatorWord
    # The same, counted by its own task alone: where others ran beside it, only that is the same.
    after_own: int = 0
    # Said before this start and heard in it: its task was not begun anew here.
    waited: bool = False
    # A verdict on a task at rest: what had begun, landed and failed before it.
    behind: Made | None = None
    # The case or blocker that was not heard because of it: its task, attempt and call.
    unheard: tuple[str, int, str] | None = None


class RecordedWords:
    """Sort what a person said: in the middle of a start, or before one, while nothing ran.

    What nothing of a start came after is as good as said before the next one.
    """

    def __init__(self) -> None:
        self.heard: list[HeardWord] = []
        self.at_rest: dict[int, list[OperatorWord]] = {}
        # Of these the ones that move the plan, with what had been made before them.
        self.resting: list[HeardWord] = []
        # The words that are the answer to a case or blocker.
        self.answers: set[str] = set()
        self._steps = 0
        self._own_steps: Counter[str] = Counter()
        self._begun: set[str] = set()
        self._moves = Moves()
        self._waiting: list[HeardWord] = []

    def read(self, event: Event, state: SessionState) -> None:
        """Take in one event; the state is as it is after it."""
        match event.payload:
            case OperatorSpoke(verb=verb, refused=None) as spoken if verb is not Verb.STOP:
                self._hear(spoken, state)
            case SessionStart() | SessionResume():
                self.rest(sum(start.worked for start in state.starts[:-1]))
                self._begun = set()
            case ContextReset() | ModelCall() if event.task_id is not None:
                self._place(_number(state))
            case Committed() if self._came_before(event.task_id) and _at_work(state):
                self._place(_number(state))
        if isinstance(event.payload, ContextReset):
            self._begun.add(event.task_id or "")
        if counts(event):
            self._steps += 1
            self._own_steps[event.task_id or ""] += 1
        self._moves.take(event)

    def _hear(self, spoken: OperatorSpoke, state: SessionState) -> None:
        heard = self._heard(spoken, state)
        if spoken.call_id is None:
            self._waiting.append(heard)
            return
        self.answers.add(spoken.id)
        task = state.task(spoken.task or "")
        case = task.attempt.last(CaseSubmitted, task.attempt.last_answer)
        begun = sum(each.conversation is not None for each in task.attempts)
        unheard = (spoken.task or "", begun, spoken.call_id) if case is None else None
        # At rest or not: played again, a start that was cut short does not know that it was, and
        # would go on to hear or judge what this is the answer to.
        self.heard.append(replace(heard, start=_number(state), unheard=unheard))

    def _heard(self, spoken: OperatorSpoke, state: SessionState) -> HeardWord:
        at_rest = spoken.conversation is None and spoken.call_id is None
        task = state.task(spoken.task or "")
        if spoken.drops and task.is_open:
            at_rest = task.attempt.waits_to_land or task.attempt.forced is not None
        moves_the_plan = spoken.decision is not None or spoken.drops
        behind = self._moves.made if at_rest and moves_the_plan else None
        own = self._own_steps[spoken.task or ""]
        return HeardWord(0, self._steps, _word(spoken), own, behind=behind)

    def _place(self, number: int) -> None:
        """Have what was said so far be heard here, in the middle of a start."""
        self.heard += (
            replace(each, start=number, waited=each.word.task not in self._begun)
            for each in self._waiting
        )
        self._waiting = []

    def _came_before(self, task_id: str | None) -> bool:
        """Tell whether a commit shows that a word was heard before it."""
        words = [each.word for each in self._waiting]
        return any(
            word.task == task_id if word.decision is Decision.ACCEPT else word.task != task_id
            for word in words
            if word.decision is Decision.ACCEPT or word.verb is Verb.DROP
        )

    def rest(self, number: int) -> None:
        """Have what was said so far precede the start of this number."""
        self.at_rest.setdefault(number, []).extend(each.word for each in self._waiting)
        moving = (each for each in self._waiting if each.behind is not None)
        self.resting += (replace(each, start=number) for each in moving)
        self._waiting = []


def _at_work(state: SessionState) -> bool:
    return not state.stopped and bool(state.starts) and state.starts[-1].worked


def counts(event: Event) -> bool:
    """Tell whether an event is a step by which the place of a word is told."""
    if isinstance(event.payload, ModelCall):
        return event.task_id is not None and event.payload.role in _PLAYED
    return isinstance(event.payload, EvaluatorVerdict)


def _word(spoken: OperatorSpoke) -> OperatorWord:
    return OperatorWord(**{name: getattr(spoken, name) for name in OperatorWord.model_fields})


class Recording:
    """Read one log into its index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.attempts: dict[str, list[Attempt]] = {}
        # The tasks another reviewer was asked about, by start, in the order of asking.
        self.seconded: dict[int, dict[str, None]] = {}
        # What the validators said of each case and landing, by its task and tree.
        self.validated: dict[tuple[str, str], dict[str, ValidatorRun]] = {}
        self._places = _line_places(path)
        self.words = RecordedWords()
        state = SessionState()
        for event in read_events(path):
            state = apply(state, event)
            self._index(event, state)
            self.words.read(event, state)
        self.words.rest(sum(start.worked for start in state.starts))
        self.state = state
        self.starts = _starts(state)
        for task_id, attempts in self.attempts.items():
            begun = (each for each in state.task(task_id).attempts if each.conversation)
            for attempt, known in zip(attempts, begun, strict=True):
                attempt.steps = (*_steps(known), *attempt.opinions)
                attempt.landing = _landing(known)

    @property
    def opening(self) -> SessionStart:
        """Give the session's first event, without which nothing can be played."""
        if self.state.start is None:
            raise UserError(f"{self.path}: no session_start in it: there is nothing to play")
        return self.state.start

    def payload(self, seq: int, kind: type[_Payload]) -> _Payload:
        """Read one event's payload from the log."""
        with open_plain(self.path) as file:
            file.seek(self._places[seq - 1])
            payload = parse_event(parse_line(file.readline(), self.path, seq)).payload
        if not isinstance(payload, kind):
            raise CorruptSession(f"{self.path}: line {seq} is no {kind.__name__}")
        return payload

    def _index(self, event: Event, state: SessionState) -> None:
        if isinstance(run := event.payload, ValidatorRun) and run.phase in ("case", "landing"):
            key = event.task_id or "", run.tree
            known = self.validated.get(key, {})
            # The first of a further time begins anew.
            self.validated[key] = {run.name: run} if run.name in known else {**known, run.name: run}
        task_id, payload = event.task_id or "", event.payload
        if isinstance(payload, PromptAssembled) and payload.role is Role.WORKER:
            attempt = Attempt(task_id, _number(state))
            self.attempts.setdefault(task_id, []).append(attempt)
        elif task_id in self.attempts:
            attempt = self.attempts[task_id][-1]
            if isinstance(payload, PromptAssembled) and payload.second:
                self.seconded.setdefault(_number(state), {})[task_id] = None
            elif isinstance(payload, SecondOpinion):
                attempt.opinions.append(Step(event.seq, f"second opinion: {payload.verdict}"))
            elif isinstance(payload, ModelCall) and payload.role in _PLAYED:
                attempt.answers.setdefault(payload.role, []).append((_number(state), event.seq))
            elif isinstance(payload, ToolResulted):
                attempt.results[payload.call_id] = event.seq
                if payload.interrupted:
                    attempt.interrupted.add(payload.call_id)


def _number(state: SessionState) -> int:
    """Number the start at hand among those that are played."""
    return sum(start.worked for start in state.starts[:-1])


def _starts(state: SessionState) -> tuple[Start, ...]:
    """Give the starts to play: one in which no task was begun left nothing but a lost worktree."""
    starts, lost = [], False
    for start in state.starts:
        resume = start.resume
        lost = lost or (resume is not None and resume.worktree_lost)
        if start.worked or start is state.starts[-1]:
            fresh = resume is not None and resume.reattached is None
            anew = resume.anew if resume is not None else ()
            starts.append(Start(start.settings, fresh, lost, anew))
            lost = False
    return tuple(starts)


def _landing(attempt: AttemptState) -> Landing | None:
    for event in reversed(attempt.milestones):
        if isinstance(event.payload, Committed):
            commit = event.payload
            return Landing(event.seq, commit.kind, commit.commit, commit.tree)
    return None


def _steps(attempt: AttemptState) -> Iterator[Step]:
    for event in attempt.milestones:
        match event.payload:
            case CaseSubmitted(tree=tree):
                yield Step(event.seq, f"case on tree {tree}")
            case ValidatorRun() as run:
                yield Step(event.seq, f"{run.name} {'passed' if run.passed else 'failed'}")
            case EvaluatorVerdict() as ruled:
                category = f" ({ruled.rejection_category})" if ruled.rejection_category else ""
                yield Step(event.seq, f"verdict {ruled.verdict}{category}")
            case OperatorSpoke():
                yield Step(event.seq, "sent back by a person")
            case LandingRefused(cause=cause):
                yield Step(event.seq, f"landing refused: {cause}")
            case BlockerRaised(contract_at_fault=at_fault):
                yield Step(event.seq, "blocker upheld" if at_fault else "blocker refused")
            case TaskFailed(reason=reason):
                yield Step(event.seq, f"failed: {reason}")


def _line_places(path: Path) -> array[int]:
    places = array("Q")
    try:
        with open_plain(path) as file:
            place = 0
            for raw in file:
                places.append(place)
                place += len(raw)
    except OSError as error:
        raise UserError(f"{path}: the recording cannot be read: {error.strerror}") from None
    return places
