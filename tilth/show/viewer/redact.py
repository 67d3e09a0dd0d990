"""The redaction: what an exported session leaves out when it is given to others.

Prompts and the output of tools and validators go, and every path outside the repository. Paths in
it become relative. What the models said, the verdicts and the diff stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tilth.log.events import Event, Payload, Unknown

LEFT_OUT = "[left out]"
NO_PATH = "[path]"

# The fields that hold a prompt or an output; those of every kind, and those of one kind alone.
_EVERYWHERE = frozenset({"output", "stdout", "stderr"})
_OF_KIND: dict[str, dict[str, Any]] = {
    "prompt_assembled": {"head": {"system": LEFT_OUT}, "messages": ()},
    "tool_result": {"content": LEFT_OUT},
    "evaluator_tool": {"content": LEFT_OUT},
    "nudge": {"text": LEFT_OUT},
    "evaluator_parse_error": {"reply": ()},
    "context_trimmed": {"stub": LEFT_OUT, "contents": {}, "inputs": {}},
}
_USUAL_ROOTS = ("home", "Users", "root", "tmp", "private", "usr", "var", "opt", "etc", "mnt", "srv")


class Redaction:
    """Leave out of one session's events and pages what others should not have."""

    def __init__(self, inside: Iterable[Path]) -> None:
        places = sorted((str(place) for place in inside), key=len, reverse=True)
        self._inside = [re.compile(re.escape(place) + r"(/|\b)") for place in places]
        # Not every slash begins a path: only where a directory of this machine follows.
        roots = "|".join(sorted(map(re.escape, {*_USUAL_ROOTS, *os.listdir("/")}), reverse=True))
        self._outside = re.compile(rf"(?<![\w./:~-])(?:~|/(?:{roots})\b)(?:/[\w.@+%=-]*)*")

    def event(self, event: Event) -> Event:
        """Give an event without what is left out."""
        return event._replace(payload=self._payload(event.payload))

    def _payload(self, payload: Payload) -> Payload:
        if isinstance(payload, Unknown):
            return payload.model_copy(update={"content": LEFT_OUT})
        gone: dict[str, Any] = {**_OF_KIND.get(payload.type, {})}
        fields = type(payload).model_fields
        gone |= {name: LEFT_OUT for name in _EVERYWHERE & set(fields) if getattr(payload, name)}
        return payload.model_copy(update=gone)

    def data(self, said: Any) -> Any:
        """Give any data without paths outside the repository."""
        if isinstance(said, str):
            return self.text(said)
        if isinstance(said, dict):
            return {name: self.data(value) for name, value in said.items()}
        if isinstance(said, list | tuple):
            return [self.data(value) for value in said]
        return said

    def text(self, text: str) -> str:
        """Give a text without paths outside the repository; those in it become relative."""
        for place in self._inside:
            text = place.sub(lambda found: "" if found[1] else ".", text)
        return self._outside.sub(NO_PATH, text)
