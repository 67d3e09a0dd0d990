"""Verification, line by line."""

from __future__ import annotations

from typing import Any

from tilth.base.values import digest
from tilth.log.reader import parse_event
from tilth.log.verification import NO_PROMPT, Verification, verify
from tilth.model.messages import Conversation, Role, ToolResult

# What an event must have and this proof does not look at.
LACKING: dict[str, dict[str, Any]] = {
    "prompt_assembled": {"endpoint": ""},
    "model_call": {
        "stop_reason": None,
        "usage": {},
        "model": "m",
        "latency_ms": 0,
        "cost_usd": None,
    },
    "tool_result": {"name": "bash"},
    "task_done": {"commit": None, "score": None, "iterations": 1, "evaluated": True},
}


def verify_lines(lines: list[dict[str, Any]]) -> Verification:
    return verify(parse_event(line) for line in lines)


class Log:
    """Write the lines of a log as a run would."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def add(self, kind: str, task_id: str | None = "T-001", **payload: Any) -> None:
        line = {"seq": len(self.lines) + 1, "ts": "", "type": kind, "task_id": task_id, "iter": 1}
        self.lines.append({**line, "payload": {**LACKING.get(kind, {}), **payload}})

    def open(self, name: str, role: Role = Role.WORKER, task_id: str = "T-001") -> Conversation:
        conversation = Conversation(
            id=name, role=role, model="m", max_tokens=9, system="s", tools=()
        )
        conversation.say(f"# Your task: {task_id}")
        messages = list(conversation.messages)
        self.add(
            "prompt_assembled",
            task_id,
            conversation=name,
            role=str(role),
            head=conversation.head,
            messages=messages,
        )
        return conversation

    def ask(self, conversation: Conversation, call_id: str, task_id: str = "T-001") -> None:
        content = [{"type": "tool_use", "id": call_id, "name": "bash", "input": {}}]
        self.add(
            "model_call",
            task_id,
            conversation=conversation.id,
            role=str(conversation.role),
            request_sha256=conversation.sha256(),
            content=content,
        )
        conversation.hear(content)

    def give(self, conversation: Conversation, call_id: str, text: str) -> None:
        self.add(
            "tool_result",
            conversation=conversation.id,
            call_id=call_id,
            name="bash",
            content=text,
            is_error=False,
            sha256=digest(text),
        )
        conversation.reply([ToolResult(call_id=call_id, content=text).to_wire()])


def test_a_log_of_nothing_has_no_request_and_no_difference() -> None:
    found = verify([])
    assert (found.requests, found.holds) == (0, True)


def test_two_conversations_at_once_are_kept_apart() -> None:
    log = Log()
    worker = log.open("w")
    log.ask(worker, "1")
    evaluator = log.open("e", Role.EVALUATOR)
    log.ask(evaluator, "v")
    log.give(worker, "1", "one")
    log.ask(worker, "2")
    found = verify_lines(log.lines)
    assert (found.identical, found.requests) == (3, 3)
    assert found.by_role == {"worker": 2, "evaluator": 1}


def test_a_request_whose_conversation_never_began_is_a_difference() -> None:
    log = Log()
    worker = log.open("w")
    log.ask(worker, "1")
    found = verify_lines(log.lines[1:])
    assert found.first is not None
    assert (found.identical, found.first.why) == (0, NO_PROMPT)


def test_a_conversation_is_let_go_when_its_task_ends() -> None:
    log = Log()
    worker = log.open("w")
    log.ask(worker, "1")
    log.add("task_done")
    log.give(worker, "1", "too late")
    log.ask(worker, "2")
    found = verify_lines(log.lines)
    assert found.first is not None
    assert (found.identical, found.first.why) == (1, NO_PROMPT)


def test_results_go_back_in_the_order_of_their_calls_not_of_their_lines() -> None:
    log = Log()
    worker = log.open("w")
    content = [{"type": "tool_use", "id": i, "name": "bash", "input": {}} for i in ("1", "2")]
    shared = {"conversation": "w", "role": "worker", "content": content}
    log.add("model_call", **shared, request_sha256=worker.sha256())
    worker.hear(content)
    results = [ToolResult(call_id=i, content=i).to_wire() for i in ("1", "2")]
    for call_id in ("2", "1"):
        log.add("tool_result", conversation="w", call_id=call_id, content=call_id, is_error=False)
    worker.reply(results)
    log.add("model_call", **shared, request_sha256=worker.sha256())
    assert verify_lines(log.lines).identical == 2


def test_only_the_first_difference_is_told_and_the_rest_are_counted() -> None:
    log = Log()
    worker = log.open("w")
    for number in range(4):
        log.ask(worker, str(number))
        log.give(worker, str(number), f"result {number}")
    log.lines[4]["payload"]["content"] = "result 9"
    found = verify_lines(log.lines)
    assert (found.identical, found.requests) == (2, 4)
    assert found.first is not None
    assert found.first.number == 3
    assert [(suspect.seq, suspect.changed) for suspect in found.first.suspects] == [(5, True)]
