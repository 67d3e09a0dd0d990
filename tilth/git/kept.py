"""Answers that are kept: about objects named in full, which say the same for ever.

Never about a ref, a file or a name in short, which may mean something else the next time. Only the
newest few stay.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def is_full(name: str) -> bool:
    """Tell whether a name is an object's own, in full."""
    return _FULL_ID.fullmatch(name) is not None


class Kept(Generic[Answer]):
    """Keep answers by the store that holds the objects, and by their names."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[tuple[Path, tuple[str, ...]], Answer] = OrderedDict()
        # Lanes ask at the same time.
        self._lock = threading.Lock()

    def get(self, objects: Path, *ids: str) -> Answer | None:
        """Give the answer that is known, if there is one."""
        return self._answers.get((objects, ids))

    def put(self, answer: Answer, objects: Path, *ids: str) -> None:
        """Keep an answer, unless one of the names could mean something else the next time."""
        if not all(map(is_full, ids)):
            return
        with self._lock:
            self._answers[(objects, ids)] = answer
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
