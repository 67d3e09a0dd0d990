"""Logs that are folded: payloads in, the state of a session or of its first task out."""

from __future__ import annotations

from typing import Any

from support.event_samples import Tape, prompt, verdict
from tilth.contract.operator_word import Verb
from tilth.log.events import Event, OperatorSpoke, Payload, PromptAssembled
from tilth.log.state import SessionState, fold
from tilth.log.task_state import TaskState
from tilth.model.messages import Role


def events(*payloads: Payload, task_id: str | None = "T-001") -> list[Event]:
    tape = Tape()
    return [tape.event(payload, task_id) for payload in payloads]


def folded(*payloads: Payload, task_id: str | None = "T-001") -> SessionState:
    return fold(events(*payloads, task_id=task_id))


def task_after(*payloads: Payload) -> TaskState:
    return folded(*payloads).tasks["T-001"]


def reviewed() -> PromptAssembled:
    """Open the evaluator's conversation about a case."""
    head = {"tools": [{"name": "submit_verdict"}]}
    return prompt(Role.EVALUATOR).model_copy(update={"head": head})


def spoke(verb: Verb, text: str, task: str | None = "T-001", **more: Any) -> OperatorSpoke:
    return OperatorSpoke(id=text, verb=verb, text=text, task=task, **more)


def sent_back(call_id: str | None = None, **more: Any) -> OperatorSpoke:
    """Give a person's reject, with what it adds to the ledger."""
    entry = verdict(verdict="reject", rejection_category="acceptance_gap", source="person").entry
    said = {"decision": "reject", "entry": entry, "call_id": call_id}
    return spoke(Verb.REJECT, "no", **(said | more))
