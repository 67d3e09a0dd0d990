"""The ground of a recorded session: a bench on which its trees can be looked at and probed.

It stands in a throwaway directory and borrows the source's objects; session and repository are only
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.interrupt import Interrupt
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.git.borrowed import borrow
from tilth.git.source import open_source
from tilth.log.state import SessionState
from tilth.model.messages import Model
from tilth.sandbox.removal import temporary_directory
from tilth.session.carry import bring_along, lay_carried
from tilth.session.files import read_tests
from tilth.session.frontend import Frontend
from tilth.session.models import Models
from tilth.session.parts import open_parts, read_facts
from tilth.session.project_setup import run_setup
from tilth.session.session import Checkpoint, Session
from tilth.task.bench import Bench


@contextmanager
def open_ground(
    session: Session,
    settings: Settings,
    mask: Mask,
    model: Model,
    interrupt: Interrupt,
    environ: Mapping[str, str],
) -> Iterator[Bench]:
    """Give a bench for the trees of a session, its setup run, or raise UserError."""
    recorded = session.checkpoint
    source = open_source(Path(recorded.source))
    with temporary_directory("tilth-ground-") as root:
        own = borrow(source, recorded.base_commit, root / "git")
        facts = read_facts(own, recorded.base_commit)
        today = settings.under(facts).model_copy(update={"sessions_dir": root / "sessions"})
        frontend = Frontend(interrupt=interrupt)
        with open_parts(today, own, facts, frontend, command_environ=environ) as parts:
            parts = replace(
                parts,
                mask=mask,
                open_models=lambda parts: nullcontext(Models(model, lambda task: model)),
                also_hidden=(settings.sessions_dir,),
            )
            copy = _copy(session, root / "sessions", mask)
            workspace = parts.workspace(copy)
            with parts.open_run(copy, SessionState()) as context:
                workspace.create(recorded.base_commit)
                lay_carried(copy, workspace)
                run_setup(parts, context, copy, workspace)
                yield parts.bench(context, copy, workspace)


def _copy(session: Session, sessions: Path, mask: Mask) -> Session:
    recorded = session.checkpoint.model_dump()
    checkpoint = Checkpoint.model_validate({**recorded, "status": "running", "usage": {}})
    tests = read_tests(session.seed_tests)
    clock = SystemClock()
    copy = Session.new(sessions, checkpoint, session.plan, tests, clock=clock, mask=mask)
    bring_along(session, copy)
    return copy
