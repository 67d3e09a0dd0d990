"""Verification: every request of a log built again from that log alone, and its hash compared.

One pass. A conversation is held while it can still grow and let go when its task ends or its role
opens another, so a long log needs no more memory than its longest conversation. It reads events
and gives values; it never opens a file and never runs anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tilth.base.values import digest
from tilth.log.conversations import Conversations
from tilth.log.events import (
    Event,
    ModelCall,
    Nudge,
    OperatorSpoke,
    Payload,
    PromptAssembled,
    ToolResulted,
)

NO_PROMPT = "its conversation has no prompt_assembled in the log"
OTHER_HASH = "built again, it has another hash"
NEVER_SENT = "a result that no request has carried yet was changed"


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


def verify(events: Iterable[Event]) -> Verification:
    """Build every request of a log again."""
    verifier = Verifier()
    for event in events:
        verifier.read(event)
    return verifier.finished()


class Verifier:
    """Take a log event by event."""

    def __init__(self) -> None:
        self.found = Verification()
        self._conversations = Conversations(self._let_go)
        # What each conversation was sent since its last request.
        self._since: dict[str, list[Event]] = {}

    def read(self, event: Event) -> None:
        """Take in one event."""
        thread = self._conversations.send(event)
        if isinstance(event.payload, ModelCall):
            request = thread.conversation.sha256() if thread else ""
            self._compare(event, event.payload, request)
            if thread is not None:
                thread.hear(event.payload)
                self._since[thread.conversation.id] = [event]
        elif thread is not None:
            self._since.setdefault(thread.conversation.id, []).append(event)

    def finished(self) -> Verification:
        """Look at what was recorded but not sent any more, and give what was found."""
        for name in list(self._since):
            self._let_go(name)
        return self.found

    def _compare(self, event: Event, call: ModelCall, rebuilt: str) -> None:
        found = self.found
        found.requests += 1
        found.by_role[str(call.role)] += 1
        if rebuilt == call.request_sha256:
            found.identical += 1
        elif found.first is None:
            since = self._since.get(call.conversation, ()) if rebuilt else ()
            why = OTHER_HASH if rebuilt else NO_PROMPT
            found.first = _difference(event, found.requests, why, rebuilt, _suspects(since))

    def _let_go(self, name: str) -> None:
        """Check results that no request vouches for by the hash they carry themselves."""
        for event in self._since.pop(name, ()):
            if self.found.first is None and _is_changed(event.payload):
                self.found.first = _difference(event, 0, NEVER_SENT, "", (_suspect(event),))


def _difference(
    event: Event, number: int, why: str, rebuilt: str, suspects: tuple[Suspect, ...]
) -> Difference:
    call = event.payload if isinstance(event.payload, ModelCall) else None
    return Difference(
        number=number,
        seq=event.seq,
        role=str(call.role) if call else "worker",
        task_id=event.task_id,
        iter=event.scope.iter,
        why=why,
        recorded=call.request_sha256 if call else "",
        rebuilt=rebuilt,
        suspects=suspects,
    )


def _suspects(events: Iterable[Event]) -> tuple[Suspect, ...]:
    """Give the events the fault must lie in; one whose own hash fails is named alone."""
    suspects = tuple(_suspect(event) for event in events)
    return tuple(suspect for suspect in suspects if suspect.changed) or suspects


def _suspect(event: Event) -> Suspect:
    payload = event.payload
    about, text = _told(payload)
    return Suspect(
        seq=event.seq,
        type=event.type,
        about=about,
        text=text,
        call_id=getattr(payload, "call_id", None),
        changed=_is_changed(payload),
    )


def _is_changed(payload: Payload) -> bool | None:
    if not isinstance(payload, ToolResulted) or payload.sha256 is None:
        return None
    return digest(payload.content) != payload.sha256


def _told(payload: Payload) -> tuple[str, str]:
    """Say what an event gave a conversation, and its text."""
    match payload:
        case ToolResulted():
            return f"the result of {payload.name}", payload.content
        case ModelCall():
            texts = (block.get("text") for block in payload.content)
            return f"the {payload.role}'s answer", "\n".join(text for text in texts if text)
        case PromptAssembled():
            return "system prompt, tools and first message", ""
        case Nudge():
            return "", payload.text
        case OperatorSpoke():
            return f"a person's {payload.verb}", payload.note or payload.text
    return "", ""
