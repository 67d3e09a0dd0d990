"""Secret values: which texts of one setting must never be written anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import SecretStr

# A date or a flag name that may well stand in the code a worker writes.
_PUBLIC_HEADERS = frozenset({"anthropic-version", "anthropic-beta"})


def secret_texts(value: Any) -> Iterator[str]:
    """Give the secrets in a key, in headers or in the places to notify."""
    match value:
        case SecretStr() as key:
            yield key.get_secret_value()
        case dict() as headers:
            for name, said in headers.items():
                if name.lower() not in _PUBLIC_HEADERS:
                    yield said.get_secret_value()
        case tuple() as urls:
            for url in urls:
                whole = url.get_secret_value()
                # the token alone may stand in what a service answers
                yield from (whole, *(p for p in re.split(r"[/:@?&=]+", whole) if len(p) >= 16))
