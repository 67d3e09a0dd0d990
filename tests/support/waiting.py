"""Waiting for what is awaited, and saying what it was if it never comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LONGEST_S = 120


def wait_for(comes: Callable[[], Any], what: str) -> Any:
    """Give the first answer that says yes."""
    until = time.monotonic() + LONGEST_S
    while time.monotonic() < until:
        if answer := comes():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"waited {LONGEST_S} s for {what}")
