"""The session's own events: its start, its stops, what goes on after them and what ran low."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, model_validator

from tilth.base.values import Value
from tilth.contract.outcomes import FreshReason, StopReason
from tilth.contract.rules import Rules
from tilth.log.envelope import Payload
from tilth.model.caching import Place
from tilth.model.messages import Role

SCHEMA_VERSION = 1
_WORKTREE_LOST = "the worktree was lost and is rebuilt from the branch; uncommitted work is gone"


class Judging(Value):
    """Say by what work is judged, as far as a person must know it; a start says it too."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    evaluate: bool
    fail_open: bool = False
    rules: int = Rules.FIRST
    unknown_reviewers: tuple[str, ...] = ()
    # The open tasks that no acceptance test stands behind.
    untested: tuple[str, ...] = ()
    # The default validators that the project's configuration takes the place of, and its own.
    defaults_left_out: tuple[str, ...] = ()
    own_validators: tuple[str, ...] = ()

    @classmethod
    def of(cls, start: SessionStart) -> Judging:
        """Take it from what a start says."""
        return cls(**{name: getattr(start, name) for name in cls.model_fields})


class SessionStart(Payload):
    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = (
        "until",
        "spend_leftovers",
        "defaults_left_out",
        "own_validators",
    )
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
    rules: int = Rules.FIRST
    # The reviewers tasks ask for, with their models; those nobody has defined; those that are the
    # worker's own model on its own endpoint.
    reviewers: Mapping[str, str] = {}
    unknown_reviewers: tuple[str, ...] = ()
    same_reviewers: tuple[str, ...] = ()
    # The open tasks that no acceptance test stands behind.
    untested: tuple[str, ...] = ()
    # The default validators that the project's configuration takes the place of, and its own.
    defaults_left_out: tuple[str, ...] = ()
    own_validators: tuple[str, ...] = ()
    base_branch: str | None = None
    # The user's own deadline, in the place of the wall-clock cap.
    until: str | None = None
    # What remains after the last task buys second opinions.
    spend_leftovers: bool = False


class SessionPrepared(Payload):
    synced: ClassVar[bool] = True
    type: Literal["session_prepared"] = "session_prepared"
    tasks: int
    tests: int
    commit: str


class SeedCommitted(Payload):
    synced: ClassVar[bool] = True
    type: Literal["seed_committed"] = "seed_committed"
    commit: str
    files: tuple[str, ...]


class SessionResume(Payload):
    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = (
        "was",
        "now",
        "judging",
        "interview",
        "until",
        "spend_leftovers",
        "lanes",
        "anew",
    )
    type: Literal["session_resume"] = "session_resume"
    last_stop: str | None
    retried: tuple[str, ...]
    pending: tuple[str, ...]
    unwound_commit: str | None
    reattached: str | None = None
    # With several jobs: all tasks that go on; with any number: those that begin anew.
    lanes: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()
    worktree_lost: bool = False
    fresh_reason: FreshReason | None = None
    was: str | None = None
    now: str | None = None
    judging: Judging | None = None
    interview: bool = False
    # Sentences, in logs of earlier versions alone.
    notes: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}
    until: str | None = None
    spend_leftovers: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read_old_notes(cls, said: Any) -> Any:
        """Read the sentence earlier versions kept where a field stands now."""
        if isinstance(said, dict) and _WORKTREE_LOST in (said.get("notes") or ()):
            return {"worktree_lost": True, **said}
        return said


class ProposedLearnings(Payload):
    type: Literal["proposed_learnings"] = "proposed_learnings"
    learnings: tuple[str, ...]


class CapWarning(Payload):
    type: Literal["cap_warning"] = "cap_warning"
    cap: str
    used: float
    limit: float


class CacheWarning(Payload):
    """Tell that an endpoint reads far less from its cache than it was sent before.

    `differs` is the first block of ours that changed; None says that we sent the same again.
    """

    type: Literal["cache_warning"] = "cache_warning"
    conversation: str
    role: Role
    model: str
    expected_tokens: int
    read_tokens: int
    differs: Place | None = None


class Stop(Payload):
    synced: ClassVar[bool] = True
    type: Literal["stop"] = "stop"
    reason: StopReason
    exit_code: int
    detail: str
