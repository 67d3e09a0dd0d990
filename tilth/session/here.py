"""Here: the repository one stands in, and which sessions are its own.

Only looked at by name and place; no git is asked, nothing is locked, nothing is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tilth.base.errors import UserError
from tilth.git.source import repository_around
from tilth.session.session import Session


@dataclass(frozen=True)
class Here:
    """Hold the repository around the current directory; all its worktrees are the same one."""

    root: Path
    shared: Path
    _known: dict[str, bool] = field(default_factory=dict, compare=False)

    @classmethod
    def find(cls) -> Here | None:
        """Find it; None outside of any repository."""
        try:
            around = repository_around(Path.cwd())
        except OSError:
            return None
        return cls(*around) if around else None

    def has(self, sessions: Path, name: str) -> bool:
        """Tell whether a session is of this repository; one that cannot be read is of none."""
        return self.is_of(Session.look(sessions, name))

    def is_of(self, session: Session) -> bool:
        """Tell whether a session works on this repository."""
        try:
            source = session.checkpoint.source
        except UserError:
            return False
        if source not in self._known:
            around = repository_around(Path(source))
            self._known[source] = around is not None and around[1] == self.shared
        return self._known[source]
