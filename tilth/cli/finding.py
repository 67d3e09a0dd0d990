"""Finding: the settings and the session a command is about, for commands that only look.

It needs no key, takes no lock and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilth.clock import SystemClock
from tilth.mask import Mask
from tilth.session import Session, find_session
from tilth.settings import Settings, load


def find(wanted: str, environ: Mapping[str, str]) -> Session:
    """Open the session an id, a unique prefix or `latest` names."""
    return open_to_look(load({}, environ), wanted)


def open_to_look(settings: Settings, wanted: str) -> Session:
    """Open a session of these settings for reading only."""
    name = find_session(settings.sessions_dir, wanted)
    # What is on disk was masked when it was written.
    return Session.look(settings.sessions_dir, name, clock=SystemClock(), mask=Mask())
