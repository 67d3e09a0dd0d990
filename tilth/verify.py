"""Verification: every request of a log built again from that log alone, and its hash compared.

One pass. A conversation is held while it can still grow and let go when its task ends or its role
opens another, so a long log needs no more memory than its longest conversation. It reads lines and
gives values; it never opens a file and never runs anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilth.eventlog import unreadable
from tilth.recall.rebuild import Rebuilder, Thread
from tilth.values import digest

Line = Mapping[str, Any]

NO_PROMPT = "its conversation has no prompt_assembled in the log"
OTHER_HASH = "built again, it has another hash"
NEVER_SENT = "a result that no request has carried yet was changed"

_SENT = frozenset(
    {"prompt_assembled", "tool_result", "nudge", "evaluator_parse_error", "context_trimmed"}
)
_ENDS = frozenset({"task_done", "task_failed"})


@dataclass(frozen=True)
class Suspect:
    """Name an event that went into a request; `changed` is None where nothing can tell."""

    seq: int
    type: str
    about: str
    text: str
    call_id: str | None = None
    changed: bool | None = None


@dataclass(frozen=True)
class Difference:
    """Say which request is not what was sent, and where the fault must lie."""

    number: int
    seq: int
    role: str
    task_id: str | None
    iter: int | None
    why: str
    recorded: str
    rebuilt: str
    suspects: tuple[Suspect, ...]


@dataclass
class Verification:
    """Hold how many requests were built again, and how many came out identical."""

    requests: int = 0
    identical: int = 0
    by_role: Counter[str] = field(default_factory=Counter)
    first: Difference | None = None

    @property
    def holds(self) -> bool:
        return self.first is None


def verify(lines: Iterable[Line], name: str = "events.jsonl") -> Verification:
    """Build every request again; raise CorruptSession where a line is not what it says it is."""
    verifier = Verifier()
    for line in lines:
        try:
            verifier.read(line)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise unreadable(name, line, error) from None
    return verifier.finished()


class Verifier:
    """Take a log line by line."""

    def __init__(self) -> None:
        self.found = Verification()
        self._rebuilder = Rebuilder()
        self._held: dict[tuple[str | None, str], str] = {}
        # What each conversation was sent since its last request.
        self._since: dict[str, list[Line]] = {}

    def read(self, line: Line) -> None:
        """Take in one line."""
        kind, payload = line["type"], line["payload"]
        if kind == "model_call":
            self._compare(line, payload)
        elif kind in _SENT:
            if kind == "prompt_assembled":
                self._hold(line["task_id"], payload["role"], payload["conversation"])
            if self._rebuilder.read(kind, payload) is not None:
                self._since[payload["conversation"]].append(line)
        elif kind in _ENDS:
            self._let_go(line["task_id"])

    def finished(self) -> Verification:
        """Look at what was recorded but not sent any more, and give what was found."""
        for conversation in list(self._since):
            self._look_at_rest(conversation)
        return self.found

    def _compare(self, line: Line, payload: Mapping[str, Any]) -> None:
        found = self.found
        found.requests += 1
        found.by_role[payload["role"]] += 1
        thread = self._rebuilder.read("model_call", payload)
        if thread is None:
            found.first = found.first or _difference(line, found.requests, NO_PROMPT, "", ())
            return
        rebuilt = thread.conversation.sha256()
        if rebuilt == payload["request_sha256"]:
            found.identical += 1
        elif found.first is None:
            since = _suspects(self._since[payload["conversation"]])
            found.first = _difference(line, found.requests, OTHER_HASH, rebuilt, since)
        self._hear(thread, line)

    def _hear(self, thread: Thread, line: Line) -> None:
        thread.hear(line["payload"])
        self._since[thread.conversation.id] = [line]

    def _hold(self, task_id: str | None, role: str, conversation: str) -> None:
        before = self._held.get((task_id, role))
        if before is not None:
            self._drop(before)
        self._held[task_id, role] = conversation
        self._since[conversation] = []

    def _let_go(self, task_id: str | None) -> None:
        for key in [key for key in self._held if key[0] == task_id]:
            self._drop(self._held.pop(key))

    def _drop(self, conversation: str) -> None:
        self._look_at_rest(conversation)
        self._rebuilder.drop(conversation)
        self._since.pop(conversation, None)

    def _look_at_rest(self, conversation: str) -> None:
        """Check results that no request vouches for by the hash they carry themselves."""
        for line in self._since.get(conversation, ()):
            if self.found.first is None and _is_changed(line):
                suspects = (_suspect(line),)
                self.found.first = _difference(line, 0, NEVER_SENT, "", suspects)


def _difference(
    line: Line, number: int, why: str, rebuilt: str, suspects: tuple[Suspect, ...]
) -> Difference:
    payload = line["payload"]
    return Difference(
        number=number,
        seq=line["seq"],
        role=payload.get("role", "worker"),
        task_id=line["task_id"],
        iter=line["iter"],
        why=why,
        recorded=payload.get("request_sha256", ""),
        rebuilt=rebuilt,
        suspects=suspects,
    )


def _suspects(lines: Iterable[Line]) -> tuple[Suspect, ...]:
    """Give the events the fault must lie in; one whose own hash fails is named alone."""
    suspects = tuple(_suspect(line) for line in lines)
    return tuple(suspect for suspect in suspects if suspect.changed) or suspects


def _suspect(line: Line) -> Suspect:
    payload = line["payload"]
    return Suspect(
        seq=line["seq"],
        type=line["type"],
        about=_about(line["type"], payload),
        text=_text(line["type"], payload),
        call_id=payload.get("call_id"),
        changed=_is_changed(line),
    )


def _is_changed(line: Line) -> bool | None:
    kept = line["payload"].get("sha256") if line["type"] == "tool_result" else None
    return None if kept is None else digest(str(line["payload"]["content"])) != kept


def _about(kind: str, payload: Mapping[str, Any]) -> str:
    match kind:
        case "tool_result":
            return f"the result of {payload['name']}"
        case "model_call":
            return f"the {payload['role']}'s answer"
        case "prompt_assembled":
            return "system prompt, tools and first message"
    return ""


def _text(kind: str, payload: Mapping[str, Any]) -> str:
    match kind:
        case "tool_result":
            return str(payload["content"])
        case "nudge":
            return str(payload["text"])
        case "model_call":
            texts = (block.get("text") for block in payload["content"])
            return "\n".join(text for text in texts if text)
    return ""
