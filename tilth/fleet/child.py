"""One run of one unit, in a process of its own: `python -m tilth.fleet.child PARENT`.

It reads its job as one line from stdin, which stays open as long as the parent lives, and writes
its report as one line to stdout. The unit is claimed here, where the work is done, so that a run
that was superseded meanwhile is refused by the record itself.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tilth.base.errors import DiskError, Interrupted, SessionBusy, TilthError, UserError
from tilth.base.interrupt import Interrupt
from tilth.contract.outcomes import ExitCode
from tilth.fleet.job import Job, UnitReport
from tilth.fleet.register import Claim, Register
from tilth.fleet.units import Unit
from tilth.fleet.watchdog import Watchdog, die_with
from tilth.session.bundle import find_prd, read_bundle
from tilth.session.frontend import Frontend
from tilth.session.session import Session

_LOCK_TRIES = 150
_LOCK_PAUSE_S = 0.2


def main() -> None:
    """Run the job that stdin holds."""
    die_with(int(sys.argv[1]))
    job = Job.model_validate_json(_first_line(0))
    interrupt = Interrupt()
    watchdog = Watchdog(0, interrupt)
    watchdog.start()
    sys.stdout.write(_run(job, watchdog, interrupt).model_dump_json() + "\n")


def _first_line(handle: int) -> bytes:
    # Not through a buffer: what follows the line is the watchdog's.
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(handle, 1)
        if not piece:
            raise SystemExit("the job was cut off")
        line += piece
    return bytes(line)


def _run(job: Job, watchdog: Watchdog, interrupt: Interrupt) -> UnitReport:
    unit, notes = job.unit, list[str]()
    session, error = None, None
    try:
        # The worker's own environment has the keys; the unit says what else it wants.
        os.environ.update({**unit.settings, "TILTH_SESSIONS_DIR": job.sessions})
        register = Register(Path(job.sessions))
        claim = register.claim(unit, job.fleet)
        session = claim.entry.session
        watchdog.watch_for(
            superseded=lambda: claim.fence.is_superseded,
            stopping=lambda: _is_stopping(register, unit, job.fleet),
        )
        if claim.entry.stopping:
            interrupt.wish()
            raise Interrupted("stopped before it began")
        code = _work(job, claim, _frontend(notes, interrupt))
    except Interrupted as stopped:
        code, error = ExitCode.INTERRUPTED, str(stopped)
    except TilthError as failed:
        code, error = ExitCode.USAGE, str(failed)
    return UnitReport(
        name=unit.name, exit_code=code, session=session, notes=tuple(notes), error=error
    )


def _is_stopping(register: Register, unit: Unit, fleet: str) -> bool:
    entry = register.entry(unit.name)
    return entry is not None and entry.fleet == fleet and entry.stopping


def _frontend(notes: list[str], interrupt: Interrupt) -> Frontend:
    from tilth.show.terminal import stop_on_signals

    def say_nothing(line: str) -> None:
        """Leave it to the fleet to say that it stops."""

    return Frontend(
        tell=notes.append,
        interrupt=interrupt,
        listen=lambda wish: stop_on_signals(wish, say_nothing),
    )


def _work(job: Job, claim: Claim, frontend: Frontend) -> ExitCode:
    """Resume the unit's session if there is one, else run it."""
    from tilth.interview.preflight import preflight
    from tilth.session.start import start

    place = Path(job.sessions) / claim.entry.session
    if place.is_dir():
        return _go_on(job, claim, frontend)
    unit = job.unit
    try:
        result = start(
            unit.prd,
            Path(unit.repo),
            new=True,
            preflight=preflight,
            fence=claim.fence,
            frontend=frontend,
        )
    except DiskError:
        if not place.is_dir():
            raise
        # It appeared in between: the run before this one was not quite dead.
        return _go_on(job, claim, frontend)
    return result.exit_code


def _go_on(job: Job, claim: Claim, frontend: Frontend) -> ExitCode:
    """Resume; the run that was superseded may need a moment to let go of the session."""
    from tilth.session.resume import resume

    _note_changes(job, claim, frontend)
    for left in reversed(range(_LOCK_TRIES)):
        try:
            guard = claim.fence.passing
            return resume(claim.entry.session, guard=guard, frontend=frontend).exit_code
        except SessionBusy:
            if not left:
                raise
            frontend.interrupt.check()
            time.sleep(_LOCK_PAUSE_S)
    raise AssertionError("the last try returns or raises")


def _note_changes(job: Job, claim: Claim, frontend: Frontend) -> None:
    """Say so if the PRD is no longer the one that the session began with."""
    try:
        now = read_bundle(find_prd(job.unit.prd) or job.unit.prd).sha256
        sessions, name = Path(job.sessions), claim.entry.session
        session = Session.look(sessions, name)
        began = session.checkpoint.prd_sha256
    except UserError:
        return  # a session goes on without its PRD; what is broken in it is said by the resume
    if began not in (None, now):
        frontend.tell(f"the PRD has changed; session {name} goes on with the one it began with")


if __name__ == "__main__":
    main()
