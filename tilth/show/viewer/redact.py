"""The redaction: what an exported session leaves out when it is given to others.

Prompts and the output of tools and validators go, and every path outside the repository. Paths in
it become relative. What the models said, the verdicts and the diff stay.
"""

from __future__ import annotations

import os
import re
from collections import Counter
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
# What ends a path where no quote says so; a colon does, because another path may follow it.
_ENDS = r"""\s"'`“”‘’<>:;|"""
# A place inside ends where its name does: a longer name is that of another place beside it.
_ENDS_INSIDE = r"(/|(?![\w@+%~#=$-]|\.+[\w-]|\\[ ]))"
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
_CLOSING = ".,)]}!?"
_USUAL_ROOTS = ("home", "Users", "root", "tmp", "private", "usr", "var", "opt", "etc", "mnt", "srv")


class Redaction:
    """Leave out of one session's events and pages what others should not have."""

    def __init__(self, inside: Iterable[Path]) -> None:
        places = sorted((str(place) for place in inside), key=len, reverse=True)
        self._inside = [re.compile(re.escape(place) + _ENDS_INSIDE) for place in places]
        tops = {part for place in places for part in Path(place).parts[1:2]}
        self._outside = re.compile(_outside({*_USUAL_ROOTS, *os.listdir("/"), *tops}))

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
            return self._members(said)
        if isinstance(said, list | tuple):
            return [self.data(value) for value in said]
        return said

    def _members(self, said: dict[Any, Any]) -> dict[Any, Any]:
        """Number the names that became one, so that each keeps its value."""
        left: dict[Any, Any] = {}
        seen: Counter[Any] = Counter()
        for name, value in said.items():
            plain = shown = self.data(name)
            while shown in left:
                seen[plain] += 1
                shown = f"{plain} ({seen[plain] + 1})"
            left[shown] = self.data(value)
        return left

    def text(self, text: str) -> str:
        """Give a text without paths outside the repository; those in it become relative."""
        for place in self._inside:
            text = place.sub(lambda found: "" if found[1] else ".", text)
        return self._outside.sub(_without, text)


def _without(found: re.Match[str]) -> str:
    """Leave a path out; the address of a web page is none, and what closes a sentence stays."""
    if found["web"] is not None:
        return found[0]
    return NO_PATH + found[0][len(found[0].rstrip(_CLOSING)) :]


def _outside(tops: Iterable[str]) -> str:
    """Word what is taken for a path outside the repository; rather too much than too little.

    Not every slash begins one: only where a directory of this machine follows, or a drive, a share,
    somebody's home or a scheme says so. A quoted path goes up to the closing quote, and one with
    blanks as far as slashes follow.
    """
    roots = "|".join(sorted(map(re.escape, tops), reverse=True))
    begins = "|".join(
        (
            rf"(?:(?<![\w./~])|(?<=[\s\"'=]-[A-Za-z]))/+(?:{roots})\b",
            rf"(?<![\w./])(?:\.\.?/+)*\.\./+(?:{roots})\b",
            r"(?<![\w./~-])~(?:[A-Za-z_][\w.-]*)?",
            r"(?<![A-Za-z0-9])[A-Za-z]:(?:\\+|/+)(?=[\w.$])",
            r"(?<!\\)\\+(?:home|Users|root)\b",
            r"(?<![\w\\])\\{2,}[\w.$-]{2,}\\+[\w.$-]{2,}",
            r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://+|\bfile:/+",
        )
    )
    web = r"(?P<web>\bhttps?://[\w.:@%\[\]-]+(?:/[\w.@+%=~:-]*)*)"
    quoted = [rf"(?<={q})(?:{begins})[^{end}\n]*" for q, end in _QUOTES.items()]
    body = rf"(?:\\[ ]|[^{_ENDS}])*"
    more = rf"(?:[ ][^{_ENDS}/\\~-][^{_ENDS}/\\]*[/\\]{body})*"
    return "|".join((web, *quoted, rf"(?:{begins}){body}{more}"))
