"""The state of one task: what the log says of its attempts, verdicts, cost and ending.

Frozen values; how events change them is the business of `tilth.log.state`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from tilth.base.values import changed
from tilth.contract.case import Case
from tilth.contract.open_concerns import open_concerns
from tilth.contract.outcomes import FailReason
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import (
    BlockerRaised,
    CaseSubmitted,
    ChallengeMade,
    Committed,
    ContextReset,
    EvaluatorTool,
    EvaluatorVerdict,
    Event,
    GateSteered,
    LandingRefused,
    ModelCall,
    MutantsTried,
    OperatorSpoke,
    Payload,
    ProbeFailed,
    ProbeRun,
    SecondOpinion,
    SeedTampered,
    TaskDone,
    TaskFailed,
    TaskForceAccepted,
    ValidatorRun,
)
from tilth.model.messages import Role
from tilth.task.budget import Spend
from tilth.task.obstacles import Obstacles

_Payload = TypeVar("_Payload", bound=Payload)


class TaskOutcome(StrEnum):
    """Say how a task stands by the log alone."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class GateCount:
    """Count how often one validator passed and failed on a case."""

    passed: int = 0
    failed: int = 0


@dataclass(frozen=True)
class RedTree:
    """Hold a tree that failed before the evaluator saw it, what was said of it, and how often."""

    tree: str
    told: str
    times: int = 1


@dataclass(frozen=True)
class ReviewState:
    """Follow the evaluator's conversation about the last case."""

    conversation: str
    answers: int = 0
    last: ModelCall | None = None
    # The answers that could not be read, and whether it was told that its probe proves nothing.
    unread: tuple[ModelCall, ...] = ()
    corrected: bool = False
    # Whether it was asked for what a verdict lacked.
    completed: bool = False

    def after(
        self, *, last: ModelCall | None = None, unread: bool = False, **told: bool
    ) -> ReviewState:
        """Give it after one more answer, which may be one that could not be read, or one remark."""
        answers, heard = self.answers + (last is not None), last or self.last
        missed = (*self.unread, self.last) if unread and self.last else self.unread
        return changed(self, answers=answers, last=heard, unread=missed, **told)


@dataclass(frozen=True)
class AttemptState:
    """Follow one attempt at a task: one conversation of the worker, over all its resumes.

    `milestones` are the events that decide: cases, validators on them, verdicts, blockers, how it
    ended. Of the validators only those of the last case keep their output.
    """

    seq: int = 0
    began: str | None = None
    # Which start of the session began it, counted from 0.
    start: int = 0
    reset: ContextReset | None = None
    # The tip it was merged with, once a landing was refused.
    onto: str | None = None
    trace_id: str | None = None
    ledger_start: int = 0
    conversation: str | None = None
    endpoint: str = ""
    iterations: int = 0
    # Answers in a row that did nothing, and the event of the worker's last answer.
    quiet: int = 0
    last_answer: int = 0
    milestones: tuple[Event, ...] = ()
    # The last case that came before the evaluator, and the evaluator's conversation about the last.
    green: CaseSubmitted | None = None
    review: ReviewState | None = None
    red: RedTree | None = None
    # What stood in its way how often, and the iteration of the last edit since the last case.
    obstacles: Obstacles = field(default_factory=Obstacles)
    last_edit: int = 0
    ended: bool = False

    @property
    def base(self) -> str:
        return self.onto or (self.reset.base if self.reset else "")

    def base_at(self, seq: int) -> str:
        """Name the commit that work counted from at an event; a refused landing moves it."""
        onto = [
            event.payload.onto
            for event in self.milestones
            if isinstance(event.payload, LandingRefused) and event.seq < seq
        ]
        return onto[-1] if onto else (self.reset.base if self.reset else "")

    @property
    def case_base(self) -> str:
        """Name the commit that the last case counts from."""
        return self.base_at(self._last_seq(CaseSubmitted))

    def all(self, kind: type[_Payload], since: int = 0) -> Iterator[_Payload]:
        """Give the milestones of one kind, those after an event alone if one is named."""
        for event in self.milestones:
            if isinstance(event.payload, kind) and event.seq > since:
                yield event.payload

    def last(self, kind: type[_Payload], since: int = 0) -> _Payload | None:
        """Give the last milestone of one kind."""
        return next(reversed([*self.all(kind, since)]), None)

    @property
    def validators(self) -> tuple[ValidatorRun, ...]:
        """Give what the validators said to the last case."""
        return tuple(self.all(ValidatorRun, self._last_seq(CaseSubmitted)))

    def _last_seq(self, kind: type[Payload]) -> int:
        found = (event.seq for event in self.milestones if isinstance(event.payload, kind))
        return max(found, default=0)

    @property
    def sent_back_at_its_end(self) -> bool:
        """Tell whether a person rejected what the worker never got to hear of."""
        words = (e for e in self.milestones if isinstance(e.payload, OperatorSpoke))
        return any(event.seq > self.last_answer for event in words)

    @property
    def heard_since_sent_back(self) -> bool:
        """Tell whether its last case came after a person's last reject: that one is over with.

        Earlier versions ran a case that waited when the person spoke.
        """
        return self._last_seq(CaseSubmitted) > self._last_seq(OperatorSpoke)

    @property
    def waits_to_land(self) -> bool:
        """Tell whether the last word on its work is an accept, and it has not ended yet."""
        kinds = EvaluatorVerdict | LandingRefused | OperatorSpoke
        words = [event.payload for event in self.milestones if isinstance(event.payload, kinds)]
        last = words[-1] if words and not self.ended else None
        return isinstance(last, EvaluatorVerdict) and last.entry.accepted

    @property
    def rejections(self) -> int:
        """Count the rejections that add to the worker's iterations."""
        refused = sum(refusal.earns_bonus for refusal in self.all(LandingRefused))
        return refused + sum(verdict.earns_bonus for verdict in self.all(EvaluatorVerdict))

    @property
    def forced(self) -> FailReason | None:
        """Say why it was forced through, unless its landing was refused since."""
        event = self.last(TaskForceAccepted, self._last_seq(LandingRefused))
        return event.reason if event else None

    @property
    def blockers(self) -> tuple[BlockerRaised, ...]:
        return tuple(self.all(BlockerRaised))


@dataclass(frozen=True)
class TaskState:
    """Follow one task over all its attempts; without an id, what belongs to no task."""

    id: str | None = None
    outcome: TaskOutcome = TaskOutcome.OPEN
    started: str | None = None
    ended: str | None = None
    attempts: tuple[AttemptState, ...] = ()
    submitted: CaseSubmitted | None = None
    verdict_events: tuple[Event, ...] = ()
    score: int | None = None
    commit: Committed | None = None
    done: TaskDone | None = None
    failure: TaskFailed | None = None
    forced: TaskForceAccepted | None = None
    # A person has accepted what was below the bar, has sent back what had ended, or has accepted
    # what had failed or was under review, which is then to land.
    cleared: bool = False
    sent_back: bool = False
    rescued: bool = False
    # A person has given it up, in these words.
    dropped: str | None = None
    spend: Mapping[Role, Spend] = field(default_factory=dict)
    unpriced_models: tuple[str, ...] = ()
    tools: Mapping[str, int] = field(default_factory=dict)
    tool_failures: int = 0
    blocked_calls: int = 0
    gates: Mapping[str, GateCount] = field(default_factory=dict)
    retries: int = 0
    nudges: int = 0
    unreadable_cases: int = 0
    unreadable_verdicts: int = 0
    # Iterations between the last edit and the case made for it, over all cases of the task.
    verification_tail: int = 0
    tampered: tuple[SeedTampered, ...] = ()
    # What its last case does to what steers a gate, or was proven by.
    steered: GateSteered | None = None
    already_green: tuple[str, ...] = ()
    # What the last review was told that its diff does not show.
    unshown: tuple[str, ...] = ()
    # How long its models, tools and validators took together.
    model_ms: Mapping[Role, int] = field(default_factory=dict)
    tool_ms: int = 0
    gate_ms: int = 0
    # What was run beyond the validators: probes of the harness and of the evaluator, and mutants.
    probes: tuple[ProbeRun, ...] = ()
    evaluator_probes: tuple[EvaluatorTool, ...] = ()
    mutant_runs: tuple[MutantsTried, ...] = ()
    challenges: tuple[ChallengeMade, ...] = ()
    refusals: tuple[ProbeFailed, ...] = ()
    # The last verdict accepts and asks for a change all the same.
    contradicted: bool = False
    # What other reviewers said of what was done, and the one that is being asked.
    opinions: tuple[SecondOpinion, ...] = ()
    seconding: ReviewState | None = None
    # What they cost, of all that was spent.
    second_spend: Spend = field(default_factory=Spend)

    @property
    def attempt(self) -> AttemptState:
        """Give the last attempt; an empty one before the first."""
        return self.attempts[-1] if self.attempts else AttemptState()

    @property
    def is_open(self) -> bool:
        """Tell whether its last attempt has begun and not ended."""
        return bool(self.attempts) and not self.attempts[-1].ended

    @property
    def waits_to_land(self) -> bool:
        """Tell whether evaluator or person has accepted its last case, and it has not ended yet."""
        return self.is_open and (self.rescued or self.attempt.waits_to_land)

    @property
    def is_being_dropped(self) -> bool:
        """Tell whether a person has given it up, and that is not carried through yet."""
        return self.dropped is not None and self.reason is not FailReason.DROPPED

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Give the verdicts, oldest first."""
        said = (event.payload for event in self.verdict_events)
        entries = (v.entry for v in said if isinstance(v, EvaluatorVerdict | OperatorSpoke))
        return tuple(entry for entry in entries if entry is not None)

    @property
    def mutants(self) -> MutantsTried | None:
        """Give what came of the last change's mutants."""
        return self.mutant_runs[-1] if self.mutant_runs else None

    @property
    def disagreement(self) -> SecondOpinion | None:
        """Give the other reviewer's word against what stands, if the last one differs."""
        last = self.opinions[-1] if self.opinions else None
        if last is None or last.agrees is not False or self.outcome is not TaskOutcome.DONE:
            return None
        # A later round is another piece of work.
        return last if self.submitted is None or self.submitted.tree == last.tree else None

    @property
    def iterations(self) -> int:
        """Count the worker's calls; nothing else is an iteration."""
        worker = self.spend.get(Role.WORKER)
        return worker.calls if worker else 0

    @property
    def spent(self) -> Spend:
        return Spend.total(self.spend.values())

    @property
    def work_usd(self) -> float:
        """Give what the work itself cost, without second opinions on it."""
        return self.spent.cost_usd - self.second_spend.cost_usd

    @property
    def case(self) -> Case | None:
        """Give the last case."""
        return self.submitted.case if self.submitted else None

    @property
    def reason(self) -> FailReason | None:
        return self.failure.reason if self.failure else None

    @property
    def landed(self) -> str | None:
        """Name the commit it last ended in."""
        if self.outcome is TaskOutcome.DONE and self.done and self.done.commit:
            return self.done.commit
        return self.commit.commit if self.commit else None

    @property
    def below_bar(self) -> bool:
        if self.cleared:
            return False
        return self.forced is not None or (self.done is not None and self.done.below_bar)

    @property
    def evaluated(self) -> bool | None:
        """Tell whether an evaluator accepted what was done; None before the end."""
        return self.done.evaluated if self.done else None

    @property
    def by_person(self) -> bool:
        """Tell whether it is done because a person accepted it after it had failed."""
        return self.done is not None and self.done.verdict == "person"

    @property
    def tampered_files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self.tampered for name in each.files))

    @property
    def verdicts(self) -> dict[str, int]:
        """Count the verdicts, rejections by their category."""
        counts: dict[str, int] = {}
        for entry in self.ledger:
            name = str(entry.rejection_category or entry.verdict)
            counts[name] = counts.get(name, 0) + 1
        return counts

    @property
    def open_concerns(self) -> int:
        """Count what evaluator or person want changed and no later verdict settles."""
        return len(open_concerns(self.ledger))
