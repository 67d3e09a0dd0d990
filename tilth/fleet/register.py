"""The register: `fleet.json` in the sessions directory, which session belongs to which unit.

A session's id is fixed when its unit is first claimed, so that two runs of one unit can never make
two sessions. Whoever claims a unit supersedes the run that had it before. The file is replaced
whole, under a lock of its own.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from tilth.base.clock import SystemClock
from tilth.base.errors import CorruptSession, SessionBusy, UserError
from tilth.base.values import Value, describe_faults, jsonable
from tilth.fleet.units import Unit
from tilth.session.fence import Fence
from tilth.session.session import SESSION_ID, session_id
from tilth.session.store import (
    PRIVATE_FILE,
    cannot_write,
    lock_holder,
    make_private,
    read_json,
    replace_json,
)

REGISTER = "fleet.json"
_LOCK = "fleet.lock"


class UnitEntry(Value):
    """Say which session a unit has, and which fleet works on it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    session: str = Field(pattern=f"^{SESSION_ID.pattern}$")
    bundle: str
    repo: str
    # The fence's number of the newest run, and the command that started it.
    token: int = 0
    fleet: str = ""
    # The fleet was asked to stop: its runs stop at their next safe point.
    stopping: bool = False


class _Book(Value):
    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 1
    units: Mapping[str, UnitEntry] = {}


@dataclass(frozen=True)
class Claim:
    """Hold a run's right to work on a unit, as long as nobody claims it anew."""

    entry: UnitEntry
    fence: Fence


class Register:
    """Read and change one sessions directory's `fleet.json`."""

    def __init__(self, sessions: Path) -> None:
        self._sessions = sessions
        self._path = sessions / REGISTER

    def entries(self) -> Mapping[str, UnitEntry]:
        """Give every unit that was ever claimed."""
        return self._read().units

    def entry(self, name: str) -> UnitEntry | None:
        return self.entries().get(name)

    def check(self, units: Iterable[Unit]) -> None:
        """Refuse units whose names stand for others already; nothing is changed."""
        for unit in units:
            self._find(unit)

    def claim(self, unit: Unit, fleet: str) -> Claim:
        """Take a unit: from now on no earlier run of it can write a record or a commit.

        A run of another fleet that is alive is not superseded: that would be two people's word
        against each other.
        """
        with self._changing() as change:
            entry = self._find(unit) or _new_entry(unit)
            if entry.fleet != fleet:
                self._refuse_running(unit, entry)
                entry = entry.model_copy(update={"fleet": fleet, "stopping": False})
            change(unit.name, entry)
            fence = Fence.take(self._sessions, entry.session)
            entry = entry.model_copy(update={"token": fence.token})
            change(unit.name, entry)
        return Claim(entry, fence)

    def ask_to_stop(self, names: Iterable[str], fleet: str) -> None:
        """Have the runs of a fleet stop at their next safe point."""
        with self._changing() as change:
            for name in names:
                entry = self.entry(name)
                if entry is not None and entry.fleet == fleet and not entry.stopping:
                    change(name, entry.model_copy(update={"stopping": True}))

    def _find(self, unit: Unit) -> UnitEntry | None:
        """Give the entry of a unit; one of another unit counts while it has a session."""
        entry = self.entry(unit.name)
        if entry is None or (unit.bundle, unit.repo) == (entry.bundle, entry.repo):
            return entry
        if not (self._sessions / entry.session).exists():
            return None
        raise UserError(
            f"unit {unit.name!r} stands for {entry.bundle} on {entry.repo} already (session "
            f"{entry.session}); give this one another name"
        )

    def _refuse_running(self, unit: Unit, entry: UnitEntry) -> None:
        holder = lock_holder(self._sessions / entry.session / "lock")
        if holder is not None:
            raise SessionBusy(
                f"session {entry.session} of unit {unit.name!r} is in use by process {holder}; "
                f"wait for it or stop it with `tilth stop {entry.session}`"
            )

    def _read(self) -> _Book:
        if not self._path.exists():
            return _Book()
        try:
            return _Book.model_validate(read_json(self._path))
        except ValidationError as error:
            fix = "mend it or take it away"
            raise CorruptSession(f"{self._path}: {describe_faults(error)}; {fix}") from None

    @contextmanager
    def _changing(self) -> Iterator[Callable[[str, UnitEntry], None]]:
        """Hold the register alone, so that no change of another is lost."""
        try:
            make_private(self._sessions)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            handle = os.open(self._sessions / _LOCK, flags, PRIVATE_FILE)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self._put
        finally:
            os.close(handle)

    def _put(self, name: str, entry: UnitEntry) -> None:
        book = self._read()
        units = {**book.units, name: entry}
        replace_json(self._path, jsonable(book.model_copy(update={"units": units})))


def _new_entry(unit: Unit) -> UnitEntry:
    name = session_id(SystemClock().now(), secrets.token_hex(3))
    return UnitEntry(session=name, bundle=unit.bundle, repo=unit.repo)
