"""The payloads: what can happen in a session, one class for each kind of event.

They are plain frozen data. When and where something happened is said by `tilth.events`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tilth.case import Blocker, Case
from tilth.messages import Block, Role, Usage
from tilth.outcomes import FailReason, StopReason
from tilth.values import Value
from tilth.verdict import LedgerEntry

SCHEMA_VERSION = 1
TASK_STARTED = "task started"


class Payload(Value):
    """Be the base of every payload."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str


class SessionStart(Payload):
    type: Literal["session_start"] = "session_start"
    schema_version: int = SCHEMA_VERSION
    tilth_version: str
    source: str
    branch: str
    base_commit: str
    feature: str | None
    tasks: int
    worker_model: str
    evaluator_model: str | None
    same_model: bool
    evaluate: bool
    sandbox: str
    settings: Mapping[str, str]
    fail_open: bool = False
    # The reviewers tasks ask for, with their models; those nobody has defined; those that are the
    # worker's own model on its own endpoint.
    reviewers: Mapping[str, str] = {}
    unknown_reviewers: tuple[str, ...] = ()
    same_reviewers: tuple[str, ...] = ()
    # The open tasks that no acceptance test stands behind.
    untested: tuple[str, ...] = ()


class SessionPrepared(Payload):
    type: Literal["session_prepared"] = "session_prepared"
    tasks: int
    tests: int
    commit: str


class SeedCommitted(Payload):
    type: Literal["seed_committed"] = "seed_committed"
    commit: str
    files: tuple[str, ...]


class SessionResume(Payload):
    type: Literal["session_resume"] = "session_resume"
    last_stop: str | None
    retried: tuple[str, ...]
    pending: tuple[str, ...]
    unwound_commit: str | None
    reattached: str | None = None
    notes: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}


class ContextReset(Payload):
    """Open a fresh conversation for a task; `reason` is TASK_STARTED if nothing else is to say."""

    type: Literal["context_reset"] = "context_reset"
    agent: str
    base: str
    reason: str


class PromptAssembled(Payload):
    """Hold the head and first messages of a conversation, whole."""

    type: Literal["prompt_assembled"] = "prompt_assembled"
    conversation: str
    role: Role
    endpoint: str
    head: dict[str, Any]
    messages: tuple[Block, ...]


class MemoryLoad(Payload):
    type: Literal["memory_load"] = "memory_load"
    files: tuple[str, ...]
    bytes: int


class ModelCall(Payload):
    """Hold one whole answer and the hash of the request it answers."""

    type: Literal["model_call"] = "model_call"
    conversation: str
    role: Role
    request_sha256: str
    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Usage
    model: str
    latency_ms: int
    cost_usd: float | None
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
    """Tell how one validator went; `phase` is `base` before the worker starts, else `case`."""

    type: Literal["validator_run"] = "validator_run"
    name: str
    phase: Literal["base", "case"]
    passed: bool
    exit_code: int | None
    output: str
    duration_ms: int
    tree: str
    tests: Mapping[str, int] | None = None


class SeedTampered(Payload):
    type: Literal["seed_tampered"] = "seed_tampered"
    files: tuple[str, ...]
    notes: tuple[str, ...]


class SeedAlreadyGreen(Payload):
    type: Literal["seed_already_green"] = "seed_already_green"
    tests: tuple[str, ...]


class CaseParseError(Payload):
    type: Literal["case_parse_error"] = "case_parse_error"
    call_id: str
    error: str
    raw: Any = None


class CaseSubmitted(Payload):
    type: Literal["case_submitted"] = "case_submitted"
    call_id: str
    case: Case
    tree: str
    diff_sha256: str


class EvaluatorVerdict(Payload, LedgerEntry):
    """Hold a ledger entry at the moment it was ruled; `call_id` is the case it answers."""

    # Said again: of two bases the last one's word would hold, and a ledger entry forbids.
    model_config = ConfigDict(frozen=True, extra="allow")

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
    type: Literal["context_trimmed"] = "context_trimmed"
    conversation: str
    call_ids: tuple[str, ...]
    stub: str


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


class OperatorRequested(Payload):
    type: Literal["operator_request"] = "operator_request"
    request: str
    kind: str
    text: str


class Committed(Payload):
    type: Literal["commit"] = "commit"
    commit: str
    tree: str
    parent: str
    kind: Literal["done", "failed"]
    subject: str
    ref: str


class TaskDone(Payload):
    type: Literal["task_done"] = "task_done"
    commit: str | None
    score: int | None
    iterations: int
    evaluated: bool
    # As in the commit's trailer: accept, not-evaluated, unparsed or force-accept.
    verdict: str | None = None
    below_bar: bool = False


class TaskForceAccepted(Payload):
    type: Literal["task_force_accepted"] = "task_force_accepted"
    score: int | None
    reason: FailReason


class TaskFailed(Payload):
    type: Literal["task_failed"] = "task_failed"
    reason: FailReason
    detail: str
    iterations: int


class ProposedLearnings(Payload):
    type: Literal["proposed_learnings"] = "proposed_learnings"
    learnings: tuple[str, ...]


class CapWarning(Payload):
    type: Literal["cap_warning"] = "cap_warning"
    cap: str
    used: float
    limit: float


class Stop(Payload):
    type: Literal["stop"] = "stop"
    reason: StopReason
    exit_code: int
    detail: str


AnyPayload = Annotated[
    SessionStart
    | SessionPrepared
    | SeedCommitted
    | SessionResume
    | ContextReset
    | PromptAssembled
    | MemoryLoad
    | ModelCall
    | ModelRetry
    | Nudge
    | ToolCalled
    | ToolResulted
    | PreToolBlock
    | HookRan
    | ValidatorRun
    | SeedTampered
    | SeedAlreadyGreen
    | CaseParseError
    | CaseSubmitted
    | EvaluatorVerdict
    | EvaluatorParseError
    | LedgerAppended
    | ContextTrimmed
    | Stagnation
    | BlockerRaised
    | OperatorRequested
    | Committed
    | TaskDone
    | TaskForceAccepted
    | TaskFailed
    | ProposedLearnings
    | CapWarning
    | Stop,
    Field(discriminator="type"),
]
