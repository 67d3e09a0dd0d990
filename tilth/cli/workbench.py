"""The workbench: the one place where the real parts of a run are put together."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tilth import __version__
from tilth.bench import Bench
from tilth.budget import Allowance, Caps, Meter
from tilth.cli.edge import tell
from tilth.clock import SystemClock
from tilth.configuration.variables import VARIABLES
from tilth.console import Console, ConsoleContext
from tilth.errors import UserError
from tilth.eventlog import Emitter, EventLog
from tilth.interpreter import find_python
from tilth.interrupt import Interrupt
from tilth.mask import Mask
from tilth.messages import Role
from tilth.payloads import SessionStart
from tilth.project import ProjectFacts
from tilth.provider import AnthropicModel, ModelConfig
from tilth.repository.repo import SourceRepo
from tilth.sandbox import Access, Confinement, Unconfined, environment
from tilth.session import Session
from tilth.settings import Settings, known_secrets
from tilth.summary import Tally
from tilth.tools import Toolbox, find_ruff
from tilth.validators import Gate
from tilth.workspace import Workspace


@dataclass(frozen=True)
class Workshop:
    """Hold what every session of one command shares."""

    settings: Settings
    source: SourceRepo
    facts: ProjectFacts
    mask: Mask
    interrupt: Interrupt
    confinement: Confinement
    scratch: Path

    def start_of(self, session: Session) -> SessionStart:
        """Say with what a session sets out."""
        settings = self.settings
        worker = settings.require_endpoint(Role.WORKER)
        evaluator = settings.endpoint(Role.EVALUATOR) if settings.evaluate else None
        same = evaluator is not None and (worker.model, worker.base_url) == (
            evaluator.model,
            evaluator.base_url,
        )
        return SessionStart(
            tilth_version=__version__,
            source=str(self.source.root),
            branch=session.checkpoint.branch,
            base_commit=session.checkpoint.base_commit,
            feature=session.plan.feature,
            tasks=len(session.plan.tasks),
            worker_model=worker.model,
            evaluator_model=evaluator.model if evaluator else None,
            same_model=same,
            evaluate=settings.evaluate,
            sandbox=self.confinement.name,
            settings={variable.name: settings.shown(variable) for variable in VARIABLES},
        )

    @contextmanager
    def bench(
        self, session: Session, workspace: Workspace, meter: Meter | None = None, last_seq: int = 0
    ) -> Iterator[Bench]:
        """Lay out a bench for one session and clear it away afterwards."""
        clock = SystemClock()
        meter = meter or Meter()
        tally = Tally()
        console = Console.on(sys.stderr, _context(self.settings, session), os.environ)
        log = EventLog(
            session.log_path,
            session=session.id,
            clock=clock,
            mask=self.mask,
            sinks=(tally, console),
            last_seq=last_seq,
        )
        models = {role: self._model(role) for role in (Role.WORKER, Role.EVALUATOR)}
        try:
            with heard(self.interrupt):
                yield Bench(
                    worker=models[Role.WORKER],
                    evaluator_for=lambda task: models[Role.EVALUATOR],
                    tools=self._tools(workspace),
                    gate=self._gate(session, workspace),
                    tree=workspace,
                    record=session,
                    settings=self.settings,
                    emit=Emitter(log),
                    clock=clock,
                    mask=self.mask,
                    meter=meter,
                    interrupt=self.interrupt,
                    new_id=lambda: secrets.token_hex(8),
                    started=clock.monotonic(),
                    warned=set(),
                )
            session.save_summary(tally.summary().to_json())
        finally:
            console.close()
            log.close()
            session.release()
            for model in models.values():
                model.close()

    def _model(self, role: Role) -> AnthropicModel:
        # Without an evaluator its place is never asked; the worker's endpoint fills it.
        wanted = role if self.settings.endpoint(role) is not None else Role.WORKER
        endpoint = self.settings.require_endpoint(wanted)
        config = ModelConfig(
            model=endpoint.model,
            api_key=endpoint.api_key.get_secret_value(),
            base_url=endpoint.base_url,
            extra_headers=endpoint.revealed_headers(),
        )
        return AnthropicModel(config, sleep=self.interrupt.sleep)

    def _access(self, workspace: Workspace) -> Access:
        return Access(
            writable=(workspace.path, self.scratch / "home"),
            network=self.settings.sandbox_network,
        )

    def _environment(self, python: Path) -> dict[str, str]:
        return environment(os.environ, home=self.scratch / "home", path_first=python.parent)

    def _tools(self, workspace: Workspace) -> Toolbox:
        python = find_python(self.settings.python, self.source.root)
        return Toolbox(
            root=workspace.path,
            confinement=self.confinement,
            access=self._access(workspace),
            env=self._environment(python),
            bash_timeout_s=self.settings.tool_timeout_seconds,
            ruff=find_ruff(),
        )

    def _gate(self, session: Session, workspace: Workspace) -> Gate:
        python = find_python(self.settings.python, self.source.root)
        return Gate(
            workspace=workspace,
            seed_tests=session.seed_tests,
            confinement=self.confinement,
            access=self._access(workspace),
            env=self._environment(python),
            python=python,
            ruff=_ruff(),
            facts=self.facts,
            timeout_s=self.settings.validator_timeout_seconds,
            scratch=self.scratch,
            stands_for=(self.source.root, workspace.path),
        )


def _ruff() -> Path:
    found = find_ruff()
    if found is None:
        raise UserError("ruff is missing from Tilth's own installation; install Tilth again")
    return found


@contextmanager
def open_workshop(
    settings: Settings, source: SourceRepo, facts: ProjectFacts
) -> Iterator[Workshop]:
    """Set up what a run needs beside its session, and clear it away."""
    with tempfile.TemporaryDirectory(prefix="tilth-") as scratch:
        (Path(scratch) / "home").mkdir(mode=0o700)
        yield Workshop(
            settings=settings,
            source=source,
            facts=facts,
            mask=Mask(known_secrets(settings)),
            interrupt=Interrupt(),
            confinement=Unconfined(),
            scratch=Path(scratch),
        )


def _context(settings: Settings, session: Session) -> ConsoleContext:
    return ConsoleContext(
        plan=session.plan,
        caps=Caps(
            tokens=settings.max_tokens,
            cost_usd=settings.max_cost_usd,
            wall_clock_s=settings.max_wall_clock_minutes * 60,
        ),
        allowance=Allowance(
            budget=settings.max_iterations_per_task,
            bonus=settings.iteration_bonus_per_rejection,
        ),
        directory=str(session.directory),
    )


@contextmanager
def heard(interrupt: Interrupt) -> Iterator[None]:
    """Hear Ctrl-C and SIGTERM: once to stop after the current call, twice to stop at once."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        if interrupt.wished:
            raise KeyboardInterrupt
        interrupt.wish()
        tell("stopping after the current call; once more to stop at once")

    before: Mapping[int, object] = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() itself gave
