"""Concealment: keys taken out of sight of every other process once they are read."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, MutableMapping

from tilth.configuration.variables import VARIABLES, Kind

_PR_SET_DUMPABLE = 4


def conceal(environ: MutableMapping[str, str], more: Iterable[str] = ()) -> None:
    """Remove every key from the environment, and close this process to others of the same user."""
    for name in (*_key_variables(), *more):
        environ.pop(name, None)
    if environ is os.environ:
        _close_to_others()


def _key_variables() -> tuple[str, ...]:
    secret = (Kind.KEY, Kind.HEADERS)
    named = [variable for variable in VARIABLES if variable.kind in secret]
    fallbacks = [variable.fallback for variable in named if variable.fallback]
    return (*(variable.name for variable in named), *fallbacks)


def _close_to_others() -> None:
    """Make memory and start environment unreadable through /proc; best effort off Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
