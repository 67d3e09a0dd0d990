"""The workbench: the one place where the real parts of a run are put together."""

from __future__ import annotations

import functools
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from tilth import __version__
from tilth.bench import Bench
from tilth.budget import Allowance, Caps
from tilth.bundle import Bundle
from tilth.cli.edge import tell
from tilth.cli.quarters import Quarters, make_home
from tilth.clock import SystemClock, stamp
from tilth.concealment import conceal
from tilth.configuration.variables import VARIABLES
from tilth.confinement.choosing import open_wall
from tilth.console import Console, ConsoleContext
from tilth.eventlog import Emitter, EventLog
from tilth.events import Sink
from tilth.footing import Footing
from tilth.interrupt import Interrupt
from tilth.mask import Mask
from tilth.messages import Role
from tilth.payloads import SessionStart
from tilth.prd import Plan
from tilth.project import ProjectFacts
from tilth.provider import AnthropicModel, ModelConfig
from tilth.recall.memory import Memory
from tilth.removal import temporary_directory
from tilth.repository.repo import SourceRepo
from tilth.reviewers import Panel, is_same_model, read_reviewers
from tilth.sandbox import Confinement
from tilth.session import Checkpoint, Session, SessionStatus, branch_of, session_id
from tilth.settings import Endpoint, SandboxChoice, Settings, known_secrets
from tilth.summary import fold
from tilth.workspace import Workspace

_NO_SANDBOX = (
    "WARNING: no sandbox (TILTH_SANDBOX=off): the model's commands run with all that you may "
    "read, write and reach"
)


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
    panel: Panel
    # For a play of a recording: who else hears the events, whether a person does, and whether the
    # last screen says what to type next.
    sinks: tuple[Sink, ...] = ()
    quiet: bool = False
    advises: bool = True

    def checkpoint(self, status: SessionStatus, bundle: Bundle | None = None) -> Checkpoint:
        """Name a new session and say where it begins."""
        moment = SystemClock().now()
        name = session_id(moment, secrets.token_hex(3))
        return Checkpoint(
            session=name,
            status=status,
            source=str(self.source.root),
            branch=branch_of(name),
            base_commit=self.source.head,
            prd=str(bundle.prd) if bundle else None,
            prd_sha256=bundle.sha256 if bundle else None,
            created=stamp(moment),
            updated=stamp(moment),
        )

    def start_of(self, session: Session) -> SessionStart:
        """Say with what a session sets out."""
        settings = self.settings
        worker = settings.require_endpoint(Role.WORKER)
        evaluator = settings.endpoint(Role.EVALUATOR) if settings.evaluate else None
        return SessionStart(
            tilth_version=__version__,
            source=str(self.source.root),
            branch=session.checkpoint.branch,
            base_commit=session.checkpoint.base_commit,
            feature=session.plan.feature,
            tasks=len(session.plan.tasks),
            worker_model=worker.model,
            evaluator_model=evaluator.model if evaluator else None,
            same_model=evaluator is not None and is_same_model(evaluator, worker),
            evaluate=settings.evaluate,
            sandbox=self.confinement.name,
            settings={variable.name: settings.shown(variable) for variable in VARIABLES},
            fail_open=settings.fail_open_on_unparsed,
            reviewers={name: end.model for name, end in self.panel.by_name.items()},
            unknown_reviewers=self.panel.unknown,
            same_reviewers=self.panel.same_as(worker),
            # A project with validators of its own has its own tests behind every task.
            untested=()
            if self.facts.replace_defaults
            else session.plan.untested(os.listdir(session.seed_tests)),
        )

    @contextmanager
    def bench(self, session: Session, workspace: Workspace, memory: Memory) -> Iterator[Bench]:
        """Lay out a bench for one session and clear it away afterwards."""
        clock = SystemClock()
        stream = None if self.quiet else sys.stderr
        context = replace(_context(self.settings, session), advises=self.advises)
        console = Console.on(stream, context, os.environ)
        console.recall(memory.tally)
        log = EventLog(
            session.log_path,
            session=session.id,
            clock=clock,
            mask=self.mask,
            sinks=(console, *self.sinks),
            last_seq=memory.last_seq,
        )
        worker, evaluator = self._model(Role.WORKER), self._model(Role.EVALUATOR)
        reviewers = {name: self.reach(end) for name, end in self.panel.by_name.items()}
        quarters = self.quarters(session, workspace)
        try:
            with heard(self.interrupt):
                yield Bench(
                    worker=worker,
                    evaluator_for=lambda task: reviewers.get(task.reviewer or "", evaluator),
                    tools=quarters.tools(),
                    gate=quarters.gate(),
                    tree=workspace,
                    record=session,
                    settings=self.settings,
                    emit=Emitter(log),
                    clock=clock,
                    mask=self.mask,
                    meter=memory.meter(),
                    interrupt=self.interrupt,
                    new_id=lambda: secrets.token_hex(8),
                    started=clock.monotonic(),
                    warned=set(),
                )
            session.save_summary(fold(session.events()).to_json())
        finally:
            console.close()
            log.close()
            session.release()
            for model in (worker, evaluator, *reviewers.values()):
                model.close()

    def _model(self, role: Role) -> AnthropicModel:
        # Without an evaluator its place is never asked; the worker's endpoint fills it.
        wanted = role if self.settings.endpoint(role) is not None else Role.WORKER
        return self.reach(self.settings.require_endpoint(wanted))

    def reach(self, endpoint: Endpoint) -> AnthropicModel:
        """Give a model that answers at an endpoint."""
        return reach(endpoint, self.interrupt)

    def quarters(self, session: Session, workspace: Workspace) -> Quarters:
        """Give what a session's commands run with."""
        return Quarters(
            settings=self.settings,
            source=self.source,
            facts=self.facts,
            confinement=self.confinement,
            scratch=self.scratch,
            session=session,
            workspace=workspace,
        )

    def footing(self, session: Session, workspace: Workspace, memory: Memory) -> Footing:
        """Give what a session stands up on."""
        prepare = functools.partial(self.quarters(session, workspace).prepare, mask=self.mask)
        return Footing(session, workspace, memory, self.start_of(session), prepare)


def reach(endpoint: Endpoint, interrupt: Interrupt) -> AnthropicModel:
    """Give a model that answers at an endpoint, and whose waits end with an interrupt."""
    config = ModelConfig(
        model=endpoint.model,
        api_key=endpoint.api_key.get_secret_value(),
        base_url=endpoint.base_url,
        extra_headers=endpoint.revealed_headers(),
    )
    return AnthropicModel(config, sleep=interrupt.sleep)


def seat_reviewers(settings: Settings, plan: Plan, environ: MutableMapping[str, str]) -> Panel:
    """Find the evaluators a plan asks for; from here on no key stands in the environment."""
    reviewers = read_reviewers(settings, environ)
    conceal(environ, reviewers.keys)
    return reviewers.choose(plan, settings)


@contextmanager
def open_workshop(
    settings: Settings, source: SourceRepo, facts: ProjectFacts, panel: Panel | None = None
) -> Iterator[Workshop]:
    """Set up what a run needs beside its session, and clear it away."""
    panel = panel or Panel()
    if settings.sandbox is SandboxChoice.OFF:
        tell(_NO_SANDBOX)
    with (
        open_wall(settings.sandbox) as wall,
        temporary_directory("tilth-") as scratch,
    ):
        make_home(scratch)
        yield Workshop(
            settings=settings,
            source=source,
            facts=facts,
            mask=Mask((*known_secrets(settings), *panel.secrets)),
            interrupt=Interrupt(),
            confinement=wall,
            scratch=scratch,
            panel=panel,
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
