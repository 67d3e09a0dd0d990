"""The events: what can happen in a session, one class for each kind.

An event class is its payload's fields and its place in this file: adding one here, its line in
`tilth.show.lines` and its row in docs/sessions.md is all it takes. A field that is added later has
a default, so that older logs still read. When and where something happened is the envelope's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from tilth.contract.case import Blocker, Case
from tilth.contract.left_out import LeftOut
from tilth.contract.outcomes import FailReason, FreshReason, SetAside
from tilth.contract.suite_record import SuiteRecord
from tilth.contract.verdict import LedgerEntry
from tilth.log.envelope import Emit as Emit
from tilth.log.envelope import Event as Event
from tilth.log.envelope import Payload as Payload
from tilth.log.envelope import Scope as Scope
from tilth.log.envelope import Sink as Sink
from tilth.log.envelope import Unknown as Unknown
from tilth.log.evidence_events import ChallengeMade as ChallengeMade
from tilth.log.evidence_events import EvaluatorTool as EvaluatorTool
from tilth.log.evidence_events import MutantsTried as MutantsTried
from tilth.log.evidence_events import ProbeFailed as ProbeFailed
from tilth.log.evidence_events import ProbeRun as ProbeRun
from tilth.log.handover_events import Notified as Notified
from tilth.log.handover_events import Taken as Taken
from tilth.log.lane_events import LandingRefused as LandingRefused
from tilth.log.night_events import Forecasted as Forecasted
from tilth.log.night_events import QuotaWait as QuotaWait
from tilth.log.night_events import SecondOpinion as SecondOpinion
from tilth.log.person_events import OperatorRequested as OperatorRequested
from tilth.log.person_events import OperatorSpoke as OperatorSpoke
from tilth.log.project_events import Carried as Carried
from tilth.log.project_events import CarriedFile as CarriedFile
from tilth.log.project_events import Preflighted as Preflighted
from tilth.log.session_events import SCHEMA_VERSION as SCHEMA_VERSION
from tilth.log.session_events import CacheWarning as CacheWarning
from tilth.log.session_events import CapWarning as CapWarning
from tilth.log.session_events import Judging as Judging
from tilth.log.session_events import ProposedLearnings as ProposedLearnings
from tilth.log.session_events import SeedCommitted as SeedCommitted
from tilth.log.session_events import SessionPrepared as SessionPrepared
from tilth.log.session_events import SessionResume as SessionResume
from tilth.log.session_events import SessionStart as SessionStart
from tilth.log.session_events import Stop as Stop
from tilth.model.messages import Block, Role, Usage
from tilth.task.obstacles import Obstacle


class ContextReset(Payload):
    """Open a fresh conversation for a task; earlier versions wrote the reason as a sentence."""

    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = ("was", "now", "set_aside")
    type: Literal["context_reset"] = "context_reset"
    agent: str
    base: str
    reason: FreshReason | str
    was: str | None = None
    now: str | None = None
    set_aside: SetAside | None = None


class PromptAssembled(Payload):
    """Hold the head and first messages of a conversation, whole.

    `second` marks a review of work that is done: a second opinion on it. `unshown` names what the
    evaluator was told that its diff does not show.
    """

    sparse: ClassVar[tuple[str, ...]] = ("second", "unshown")
    type: Literal["prompt_assembled"] = "prompt_assembled"
    conversation: str
    role: Role
    endpoint: str
    head: dict[str, Any]
    messages: tuple[Block, ...]
    second: bool = False
    unshown: tuple[str, ...] = ()


class MemoryLoad(Payload):
    type: Literal["memory_load"] = "memory_load"
    files: tuple[str, ...]
    bytes: int


class ModelCall(Payload):
    """Hold one whole answer and the hash of the request it answers."""

    synced: ClassVar[bool] = True
    type: Literal["model_call"] = "model_call"
    conversation: str
    role: Role
    request_sha256: str
    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Usage
    model: str
    latency_ms: int
    cost_usd: float | None = Field(ge=0, allow_inf_nan=False)
    request_id: str | None = None


class ModelRetry(Payload):
    type: Literal["model_retry"] = "model_retry"
    conversation: str
    role: Role
    attempt: int
    error: str
    delay_s: float


class Nudge(Payload):
    """Hold the text that was sent because an answer did nothing."""

    type: Literal["nudge"] = "nudge"
    conversation: str
    text: str
    in_a_row: int


class ToolCalled(Payload):
    type: Literal["tool_call"] = "tool_call"
    conversation: str
    call_id: str
    name: str
    arguments: Any = None


class ToolResulted(Payload):
    """Hold exactly what the model was given; `sha256` is of `content`, so a change is found."""

    type: Literal["tool_result"] = "tool_result"
    conversation: str
    call_id: str
    name: str
    content: str
    is_error: bool
    exit_code: int | None = None
    duration_ms: int = 0
    interrupted: bool = False
    sha256: str | None = None


class PreToolBlock(Payload):
    type: Literal["pre_tool_block"] = "pre_tool_block"
    call_id: str
    name: str
    rule: str
    reason: str


class HookRan(Payload):
    type: Literal["hook_run"] = "hook_run"
    hook: str
    subject: str
    exit_code: int | None
    output: str


class ValidatorRun(Payload):
    """Tell how one validator went: before the work, on a case, where it lands, on the final tip.

    `suite` is what the project's own tests did on exactly this tree, so that it is known again.
    """

    type: Literal["validator_run"] = "validator_run"
    name: str
    phase: Literal["base", "case", "landing", "final"]
    passed: bool
    exit_code: int | None
    output: str
    duration_ms: int
    tree: str
    tests: Mapping[str, int] | None = None
    suite: SuiteRecord | None = None


class SeedTampered(Payload):
    type: Literal["seed_tampered"] = "seed_tampered"
    files: tuple[str, ...]
    notes: tuple[str, ...]


class GateSteered(Payload):
    """Tell that what steers a gate is not as it was: by this case, or by an earlier task.

    `files` the case changes, and nothing was put back: the plan permits it, a validator of the
    project goes by it, or later sessions will.
    """

    sparse: ClassVar[tuple[str, ...]] = ("earlier",)
    type: Literal["gate_steered"] = "gate_steered"
    files: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class SeedAlreadyGreen(Payload):
    type: Literal["seed_already_green"] = "seed_already_green"
    tests: tuple[str, ...]


class CaseParseError(Payload):
    type: Literal["case_parse_error"] = "case_parse_error"
    call_id: str
    error: str
    raw: Any = None


class CaseSubmitted(Payload):
    """Hold a case and the tree it is about; `left_out` stood in the worktree and is not in it."""

    sparse: ClassVar[tuple[str, ...]] = ("left_out",)
    type: Literal["case_submitted"] = "case_submitted"
    call_id: str
    case: Case
    tree: str
    diff_sha256: str
    left_out: Mapping[str, LeftOut] = {}


class EvaluatorVerdict(Payload, LedgerEntry):
    """Hold a ledger entry at the moment it was ruled; `call_id` is the case it answers."""

    # Said again: of two bases the last one's word would hold, and a ledger entry forbids.
    model_config = ConfigDict(frozen=True, extra="allow")

    synced: ClassVar[bool] = True
    type: Literal["evaluator_verdict"] = "evaluator_verdict"
    call_id: str

    @property
    def entry(self) -> LedgerEntry:
        return LedgerEntry(**{name: getattr(self, name) for name in LedgerEntry.model_fields})


class EvaluatorParseError(Payload):
    """Hold an unreadable answer, and what was sent back to have it again, if anything was."""

    type: Literal["evaluator_parse_error"] = "evaluator_parse_error"
    conversation: str
    attempt: int
    error: str
    raw: Any
    reply: tuple[Block, ...] = ()


class LedgerAppended(Payload):
    type: Literal["ledger_appended"] = "ledger_appended"
    entries: int


class ContextTrimmed(Payload):
    # What took the place of results and of cut calls; earlier logs have one `stub` for all.
    type: Literal["context_trimmed"] = "context_trimmed"
    conversation: str
    call_ids: tuple[str, ...]
    stub: str = ""
    contents: Mapping[str, str] = {}
    inputs: Mapping[str, Mapping[str, str]] = {}


class Stagnation(Payload):
    type: Literal["stagnation"] = "stagnation"
    category: str
    places: tuple[str, ...]
    times: int


class BlockerRaised(Payload):
    type: Literal["blocker_raised"] = "blocker_raised"
    call_id: str
    blocker: Blocker
    contract_at_fault: bool
    ruling: str
    ruled_by: Literal["evaluator", "harness"] = "evaluator"


class Committed(Payload):
    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = ("evaluator_check",)
    type: Literal["commit"] = "commit"
    commit: str
    tree: str
    parent: str
    kind: Literal["done", "failed"]
    subject: str
    ref: str
    # How often the evaluator that accepted it is known to be wrong, as in the commit's trailer.
    evaluator_check: str | None = None


class TaskDone(Payload):
    synced: ClassVar[bool] = True
    type: Literal["task_done"] = "task_done"
    commit: str | None
    score: int | None
    iterations: int
    evaluated: bool
    # As in the commit's trailer: accept, not-evaluated, unparsed, force-accept or person.
    verdict: str | None = None
    below_bar: bool = False


class TaskForceAccepted(Payload):
    synced: ClassVar[bool] = True
    type: Literal["task_force_accepted"] = "task_force_accepted"
    score: int | None
    reason: FailReason


class TaskFailed(Payload):
    synced: ClassVar[bool] = True
    type: Literal["task_failed"] = "task_failed"
    reason: FailReason
    detail: str
    iterations: int
    obstacle: Obstacle | None = None


EVENT_CLASSES: dict[str, type[Payload]] = {
    kind.model_fields["type"].default: kind
    for kind in Payload.__subclasses__()
    if kind is not Unknown
}
EVENT_TYPES = tuple(EVENT_CLASSES)
