"""Process numbers: whether anything goes by one now. It tells nothing of who that is."""

from __future__ import annotations

import os


def exists(pid: int) -> bool:
    """Tell whether there is a process of this number, whoever it belongs to."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OverflowError, ProcessLookupError):
        return False
    return True
