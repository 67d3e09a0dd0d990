"""What a worker is told when its accepted change cannot land. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.git.changes import Conflict

_OPENING = (
    "Your change was accepted, but it cannot land as it is: other tasks have landed since you "
    "began. Their work is in your files now, together with yours, and your next case is counted "
    "from theirs."
)
_RESOLVE = (
    "Resolve every conflict so that what has landed keeps working and your task is met; leave no "
    "marker (`<<<<<<< landed`, `>>>>>>> this-change`) behind. Run this task's acceptance tests "
    "once, then call `submit_case` again."
)
_MEND = (
    "Each of the two passes by itself, and together they do not. Mend your change so that both "
    "hold, run the failing tests once, then call `submit_case` again."
)
_DIFFERS = (
    "Merged with what has landed, your change reads differently from the one that was accepted, "
    "so it was judged again."
)


def conflict_told(conflicts: Sequence[Conflict], files: Sequence[str]) -> str:
    """Say where two changes are in conflict."""
    said = [f"- {conflict.message}" for conflict in conflicts] or [f"- {name}" for name in files]
    return "\n\n".join((_OPENING, "In conflict:\n" + "\n".join(said), _RESOLVE))


def red_told(report: str) -> str:
    """Say what is red on both changes together."""
    return "\n\n".join((_OPENING, _MEND, report))


def rejected_told(feedback: str) -> str:
    """Give a verdict on the merged change."""
    return "\n\n".join((_OPENING, _DIFFERS, feedback))
