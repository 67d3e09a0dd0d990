"""Warnings kept from the screen while something foreign is read, from whatever thread.

Which warnings are shown is one list for the whole process. Who changes it for a while does it here,
one at a time: two that overlap would leave the list as the other had changed it.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def without_warnings(category: type[Warning] = Warning) -> Iterator[None]:
    """Pass over warnings; others wait meanwhile, so nothing slow may be done."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


def parse_quietly(source: str | bytes) -> ast.Module:
    """Parse a project's text; what Python thinks of its strings is no word to our user."""
    with without_warnings():
        return ast.parse(source)
