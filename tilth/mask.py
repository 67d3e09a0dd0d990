"""The mask: the one place that decides which characters of a text are secret.

Known key values are hidden everywhere. Text that merely looks like a key is hidden in tool results,
before they are sent or written; a model's own answer is left alone but for known keys, so that a
replay stays true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from tilth.values import Value

HIDDEN = "[hidden]"
_SHORTEST = 6
_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}"
    r"|github_pat_[A-Za-z0-9_]{30,}"
    r"|xox[abprs]-[A-Za-z0-9-]{16,}"
    r"|AKIA[A-Z0-9]{16})"
)


class Mask:
    """Hide secrets in text and in JSON data."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        for secret in secrets:
            if len(secret) < _SHORTEST:
                continue
            forms.add(secret)
            # The same value as it stands inside a JSON string.
            forms.add(json.dumps(secret, ensure_ascii=False)[1:-1])
            forms.add(json.dumps(secret)[1:-1])
        self._forms = sorted(forms, key=len, reverse=True)

    def known(self, text: str) -> str:
        """Hide known key values."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text

    def result(self, text: str) -> str:
        """Hide known key values and whatever looks like a key."""
        return _LOOKS_LIKE_A_KEY.sub(HIDDEN, self.known(text))

    def data(self, value: Any) -> Any:
        """Hide known key values in every text of JSON data or of a value.

        Only texts are looked at, one by one: a key made of digits must not break a number, nor a
        key that is a word the shape of the data.
        """
        if not self._forms or isinstance(value, Enum):
            return value
        if isinstance(value, str):
            return self.known(value)
        if isinstance(value, Mapping):
            return {self.data(key): self.data(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.data(item) for item in value)
        if isinstance(value, Value):
            return value.model_copy(update={name: self.data(item) for name, item in value})
        return value
