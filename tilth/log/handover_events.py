"""The handover's events: word sent to a person, and accepted work taken home."""

from __future__ import annotations

from typing import ClassVar, Literal

from tilth.log.envelope import Payload


class Notified(Payload):
    """Tell that word was sent to a person, or why it could not be; `channel` names no address."""

    type: Literal["notified"] = "notified"
    kind: str
    channel: str
    ok: bool
    error: str | None = None


class Taken(Payload):
    """Tell that accepted work was brought onto another branch; `commits` are the session's own."""

    synced: ClassVar[bool] = True
    type: Literal["taken"] = "taken"
    branch: str
    before: str
    after: str
    tasks: tuple[str, ...]
    commits: tuple[str, ...]
    how: Literal["fast_forward", "anew", "squash", "already"]
    pushed: str | None = None
