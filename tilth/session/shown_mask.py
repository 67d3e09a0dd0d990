"""The mask of what is shown: every key that is known here and now, over what git and logs say.

A log was masked when it was written. What a commit holds was not, and a key may be known since. It
reads settings, reviewers and the repository's configuration; what cannot be read hides nothing.
What is found is hidden on the standard streams too, whoever prints there.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tilth.base.errors import CorruptSession, DiskError, UserError, WorkspaceError
from tilth.config.secrets import Mask
from tilth.config.settings import Settings, known_secrets, load
from tilth.session.catalog import open_to_look
from tilth.session.session import Session
from tilth.show.hiding import hide_in_print


class Masks:
    """Give each session its mask, made once for a repository."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._keys = (*known_secrets(settings), *_reviewers_keys(settings, environ))
        hide_in_print(self._keys)
        self._made: dict[str, Mask] = {}

    def of_settings(self) -> Mask:
        """Give the mask of what is shown of no one session."""
        return self._of("")

    def put_on(self, session: Session) -> Session:
        """Let a session that is looked at hide what is known."""
        try:
            source = session.checkpoint.source
        except CorruptSession:
            source = ""  # whoever looks at it says what is wrong with it
        session.hide(self._of(source))
        return session

    def _of(self, source: str) -> Mask:
        if source not in self._made:
            own = _credentials(source)
            hide_in_print(own)
            self._made[source] = Mask((*self._keys, *own))
        return self._made[source]


def find_to_show(wanted: str, environ: Mapping[str, str]) -> Session:
    """Open the session an id, a unique prefix or `latest` names, with its mask on."""
    settings = load({}, environ)
    return Masks(settings, environ).put_on(open_to_look(settings, wanted))


def _reviewers_keys(settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    from tilth.model.reviewers import read_reviewers

    with suppress(UserError):
        return read_reviewers(settings, environ).secrets
    return ()


def _credentials(source: str) -> tuple[str, ...]:
    from tilth.git.repo_config import credentials
    from tilth.git.source import open_source

    with suppress(UserError, WorkspaceError, DiskError):
        return credentials(open_source(Path(source))) if source else ()
    return ()
