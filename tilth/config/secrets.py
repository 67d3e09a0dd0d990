"""Secrets: the one place that decides which characters of a text are hidden, and how that is shown.

Known key values are hidden in every record and in all that is sent. Text that merely looks like a
key is hidden in tool results and prompts; a model's own answer is left alone but for known keys, so
that a replay stays true. A key that is short or a plain word would eat the code it stands in: it is
hidden only where it stands alone. What was hidden is marked as such, with its length.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from enum import Enum
from typing import Any
from urllib.parse import quote

from tilth.base.values import Value

# Shorter ones are place-holders such as "x" or "none", and stand in too many innocent places.
SHORTEST = 6
SHORTEST_STRONG = 12
_LONGEST_WORDS = 24

_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}"
    r"|github_pat_[A-Za-z0-9_]{30,}"
    r"|xox[abprs]-[A-Za-z0-9-]{16,}"
    r"|AKIA[A-Z0-9]{16})"
)
_WORDS = re.compile(r"[A-Za-z]+([-_. ][A-Za-z]+)*")
# What was hidden before is left as it is, whatever words the mark itself is made of.
_MARK = r"\[hidden: \d+ characters\]"
_ALONE = r"(?<![\w./-]){}(?![\w/-]|\.\w)"
_PR_SET_DUMPABLE = 4


def hidden(secret: str) -> str:
    """Give the mark that stands for a secret."""
    return f"[hidden: {len(secret)} characters]"


def shortened(secret: str) -> str:
    """Give what tells a secret from another one to its owner: its end, and only if it is long."""
    if len(secret) < 16:
        return "…"
    return ("sk-" if secret.startswith("sk-") else "") + "…" + secret[-4:]


def is_weak(secret: str) -> bool:
    """Tell whether a secret is so short or so plain that it may stand in any text."""
    parts = re.split(r"[-_. ]", secret)
    plain = all(part.islower() or part.isupper() or part.istitle() for part in parts)
    is_words = len(secret) <= _LONGEST_WORDS and plain and _WORDS.fullmatch(secret)
    return len(secret) < SHORTEST_STRONG or bool(is_words)


class Mask:
    """Hide secrets in text and in JSON data."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._lengths = {
            form: len(secret) for secret in {*_whole(secrets)} for form in _forms(secret)
        }
        forms = sorted(self._lengths, key=lambda form: (-len(form), form))
        searched = (_ALONE.format(re.escape(f)) if is_weak(f) else re.escape(f) for f in forms)
        self._pattern = re.compile("|".join((_MARK, *searched)))

    def finds(self, text: str) -> bool:
        """Tell quickly whether there may be something to hide."""
        return any(form in text for form in self._lengths)

    def known(self, text: str) -> str:
        """Hide known key values."""
        return self._pattern.sub(self._mark, text) if self.finds(text) else text

    def result(self, text: str) -> str:
        """Hide known key values and whatever looks like a key."""
        return _LOOKS_LIKE_A_KEY.sub(lambda found: hidden(found[0]), self.known(text))

    def data(self, value: Any) -> Any:
        """Hide known key values in every text of JSON data or of a value.

        Only texts are looked at, one by one: a key made of digits must not break a number, nor a
        key that is a word the shape of the data.
        """
        if not self._lengths or isinstance(value, Enum):
            return value
        if isinstance(value, str):
            return self.known(value)
        if isinstance(value, Mapping):
            return dict(self._member(key, item) for key, item in value.items())
        if isinstance(value, list | tuple):
            return type(value)(self.data(item) for item in value)
        if isinstance(value, Value):
            changes = dict(self._member(name, item) for name, item in value)
            return value.model_copy(update=changes)
        return value

    def _member(self, name: Any, value: Any) -> tuple[Any, Any]:
        """Hide in a member of an object; a plain word that names it or its kind is its own."""
        is_word = isinstance(name, str) and name in self._lengths and is_weak(name)
        shown = name if is_word else self.data(name)
        return shown, value if name == "type" and _is_words(value) else self.data(value)

    def _mark(self, found: re.Match[str]) -> str:
        length = self._lengths.get(found[0])
        return found[0] if length is None else f"[hidden: {length} characters]"


def _is_words(text: Any) -> bool:
    return isinstance(text, str) and is_weak(text) and _WORDS.fullmatch(text) is not None


def _whole(secrets: Iterable[str]) -> Iterator[str]:
    """Give every secret, and of "Bearer abc" the abc too."""
    for secret in secrets:
        for text in (secret, secret.rpartition(" ")[2]):
            if len(text) >= SHORTEST:
                yield text


def _forms(secret: str) -> Iterator[str]:
    """Give a secret as it stands in plain text, inside a JSON string and in a URL."""
    yield secret
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield json.dumps(secret)[1:-1]
    yield quote(secret, safe="")


def conceal(environ: MutableMapping[str, str], names: Iterable[str]) -> None:
    """Take keys out of the environment, and close this process to others of the same user."""
    for name in names:
        environ.pop(name, None)
    if environ is os.environ and sys.platform == "linux":
        import ctypes

        # memory and start environment become unreadable through /proc
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
