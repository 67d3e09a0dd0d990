"""The parts: the one place where a run is put together, from what it is handed.

`Parts` is what every session of one command shares. From it come a run's context (models, log,
screen) and a bench at any worktree (tools, gate). It decides nothing about the session.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tilth.base.clock import SystemClock
from tilth.config.project import ProjectFacts, find_project
from tilth.config.secrets import Mask
from tilth.config.settings import (
    SandboxChoice,
    Settings,
    known_secrets,
)
from tilth.contract.prd import Plan, Task
from tilth.contract.rules import NEWEST_RULES, Rules
from tilth.contract.suite_record import SuiteRecord
from tilth.gate.export import Runtime
from tilth.gate.gate import as_it_is
from tilth.git import trees
from tilth.git.repo_config import clean_configuration, credentials
from tilth.git.source import SourceRepo
from tilth.git.workspace import Workspace
from tilth.log.events import Sink
from tilth.log.reattach import evidence_of
from tilth.log.state import SessionState
from tilth.log.summary import summary
from tilth.log.writer import Emitter, EventLog
from tilth.model.reviewers import Panel
from tilth.sandbox.choose import open_wall
from tilth.sandbox.confinement import Confinement, Unconfined, environment
from tilth.sandbox.policy import Policy, hidden_places, tool_places
from tilth.sandbox.removal import temporary_directory
from tilth.session.carry import carried_by, carried_paths, lay_carried
from tilth.session.frontend import Frontend
from tilth.session.gate_slots import SlotHandle
from tilth.session.inbox import Inbox, LoggedWords
from tilth.session.interpreter import find_python
from tilth.session.leftovers import leftovers_of
from tilth.session.measured import figures
from tilth.session.models import Models, open_endpoints
from tilth.session.night import Schedule, earlier_paces
from tilth.session.notify import Channel, Notifier, channels
from tilth.session.report_file import save_report
from tilth.session.session import Session
from tilth.session.store import Reserve
from tilth.session.task_gate import TaskGate, renew_home
from tilth.session.telemetry import Telemetry, open_telemetry
from tilth.show.hiding import hide_in_print
from tilth.task.bench import Bench, RunContext, Tools
from tilth.task.budget import Meter
from tilth.task.evidence_record import EvidenceRecord
from tilth.task.words import Words
from tilth.tools import Toolbox, find_ruff, require_ruff

# Where the clean configuration of the repository stands in the scratch directory.
GIT_CONFIG = "repository-config"
_NO_SANDBOX = (
    "WARNING: no sandbox (TILTH_SANDBOX=off): the model's commands run with all that you may "
    "read, write and reach"
)


@dataclass(frozen=True)
class Parts:
    """Hold what every session of one command shares."""

    settings: Settings
    source: SourceRepo
    facts: ProjectFacts
    mask: Mask
    confinement: Confinement
    scratch: Path
    panel: Panel
    frontend: Frontend
    # What commands are started with comes from here: PATH, LANG and TERM, nothing else.
    command_environ: Mapping[str, str]
    # A recording answers and checks tool calls in the place of the real ones.
    open_models: Callable[[Parts], AbstractContextManager[Models]] | None = None
    wrap_tools: Callable[[Tools, str | None], Tools] | None = None
    wrap_words: Callable[[Words], Words] | None = None
    # It knows what its probes and mutants did, too.
    evidence: EvidenceRecord | None = None
    rules: Rules = NEWEST_RULES
    schedule: Schedule = field(default_factory=Schedule)
    # Its other commands have no network; setup may be allowed it.
    setup_network: bool = False
    # Where the user's own sessions are, when this one stands elsewhere.
    also_hidden: tuple[Path, ...] = ()
    # Where the lanes of a run have what is theirs alone.
    beside: tuple[Path, ...] = ()

    def workspace(self, session: Session) -> Workspace:
        """Give the worktree of a session."""
        clock, guard = SystemClock(), session.guard
        return Workspace(self.source, session.workspace, session.id, clock, guard=guard)

    @contextmanager
    def open_run(self, session: Session, memory: SessionState) -> Iterator[RunContext]:
        """Open a session's log, screen and models, and close them; summary and report come last."""
        clock, frontend = self.schedule.clock, self.frontend
        open_screen = frontend.open_screen
        screen = open_screen(self.settings, session, memory) if open_screen else None
        notifier = Notifier(self._channels(), self.mask, lambda: session.plan)
        telemetry = self._telemetry(lambda: log.state)
        log = EventLog(
            session.log_path,
            session=session.id,
            clock=clock,
            mask=self.mask,
            sinks=(*_those(screen), *frontend.sinks, notifier, *_those(telemetry)),
            before=memory,
            reserve=Reserve(session.directory / ".reserve"),
            guard=session.guard,
        )
        try:
            with self._models() as models, frontend.listen(frontend.interrupt):
                yield self._context(session, memory, log, models)
            for told in notifier.finish():
                Emitter(log)(told)
            if telemetry is not None and (fault := telemetry.finish()) is not None:
                frontend.tell(f"warning: {fault}")
            session.save_summary(summary(log.state))
            save_report(session, log.state)
        finally:
            if screen is not None:
                screen.close()
            log.close()
            session.release()

    def _context(
        self, session: Session, memory: SessionState, log: EventLog, models: Models
    ) -> RunContext:
        """Put together what all tasks of a run share."""
        return RunContext(
            worker=models.worker,
            evaluator_for=models.evaluator_for,
            record=session,
            settings=self.settings,
            emit=Emitter(log),
            clock=self.schedule.clock,
            mask=self.mask,
            meter=Meter(lambda: log.state.spend),
            interrupt=self.frontend.interrupt,
            new_id=new_id,
            started=self.schedule.clock.monotonic(),
            warned=set(),
            words=self._words(session, log),
            evidence=self.evidence or evidence_of(memory),
            open_readers=Toolbox.for_reading,
            validators=tuple(named.command for named in self.facts.validators),
            rules=_rules_of(memory) or self.rules,
            night=self.schedule.night(
                memory,
                lambda: log.state,
                lambda: earlier_paces(self.settings, session),
                foresees=self.open_models is None,
            ),
            leftovers=leftovers_of(
                session,
                memory,
                lambda: log.state,
                models,
                wished=self.schedule.spend_leftovers or memory.spends_leftovers,
            ),
            measured=cache(lambda model: figures(self.settings, [model]).get(model)),
        )

    def _words(self, session: Session, log: EventLog) -> Words:
        """Give where a person's words come from; a recording repeats its own."""
        inbox = Inbox(session.directory)
        words = LoggedWords(inbox, log)
        if self.wrap_words is not None:
            return self.wrap_words(words)
        self.frontend.interrupt.elsewhere = inbox.asks_to_stop
        return words

    def _models(self) -> AbstractContextManager[Models]:
        if self.open_models is not None:
            return self.open_models(self)
        return open_endpoints(self.settings, self.panel, self.frontend, self.schedule.clock)

    def _channels(self) -> tuple[Channel, ...]:
        # A recording that is played again is no news to anybody.
        return channels(self.settings, self.command_environ) if self.open_models is None else ()

    def _telemetry(self, state: Callable[[], SessionState]) -> Telemetry | None:
        return open_telemetry(self.command_environ, state) if self.open_models is None else None

    def bench(self, context: RunContext, session: Session, workspace: Workspace) -> Bench:
        """Give a bench at a worktree, after setup: its interpreter may be one that setup made."""
        lay_carried(session, workspace)
        places = self.places_after_setup(session, workspace)
        tools = self.tools(workspace, places)
        known = {record.tree: record for record in context.words.state.suites}
        gate = self.gate(session, workspace, places, known)
        gate.preflight = context.words.state.preflight
        return context.at(tree=workspace, tools=tools, gate=gate)

    def tools(self, workspace: Workspace, places: Policy, task_id: str | None = None) -> Tools:
        """Give the worker's tools at a worktree, of a lane if its task is named."""
        tools: Tools = Toolbox(
            root=workspace.path,
            confinement=self.confinement,
            access=places.worker(),
            env=self.worker_env(places),
            bash_timeout_s=self.settings.tool_timeout_seconds,
            ruff=find_ruff(),
        )
        return tools if self.wrap_tools is None else self.wrap_tools(tools, task_id)

    def places_after_setup(
        self, session: Session, workspace: Workspace, *, saying: bool = True
    ) -> Policy:
        """Name what commands may see once the project's setup has run."""
        setup = session.directory / "setup"
        made = [setup / "venv"]
        if self.facts.setup and isinstance(self.confinement, Unconfined):
            # Without a sandbox nothing is bound elsewhere: setup's own stands in the worktree.
            made.append(workspace.path / ".venv")
        places = self.places(workspace, setup, *made, saying=saying)
        return replace(places, carried=carried_paths(session, workspace))

    def gate(
        self,
        session: Session,
        workspace: Workspace,
        places: Policy | None = None,
        suites: dict[str, SuiteRecord] | None = None,
        slots: SlotHandle | None = None,
        seen: Callable[[Plan, Task], Plan] = as_it_is,
    ) -> TaskGate:
        """Give the gate that proves trees of a session; those of one run share `suites`."""
        places = places or self.places_after_setup(session, workspace)
        gate = self.gate_at(
            places,
            workspace,
            session.seed_tests,
            carried_by(session),
            slots,
            suites={} if suites is None else suites,
            seen=seen,
            start=session.start_commit,
        )
        gate.worker_home = places.home
        return gate

    def gate_at(
        self,
        places: Policy,
        workspace: Workspace,
        seed_tests: Path,
        carried: Path,
        slots: SlotHandle | None = None,
        **more: Any,
    ) -> TaskGate:
        """Give a gate, whether there is a session or not."""
        runtime = self.runtime(workspace, places, carried, self.source.root, workspace.path)
        return TaskGate(
            workspace=workspace,
            runtime=replace(runtime, place=slots.taken) if slots else runtime,
            seed_tests=seed_tests,
            facts=self.facts,
            timeout_s=self.settings.validator_timeout_seconds,
            cores=1 if slots else cores_here(),
            alone=slots.alone if slots else nullcontext,
            mask=self.mask,
            challenge_seconds=self.settings.challenge_seconds,
            **more,
        )

    def runtime(
        self, trees: Workspace, places: Policy, carried: Path, *stands_for: Path
    ) -> Runtime:
        """Say where and how validators run that take the place of some checkouts."""
        return Runtime(
            export=trees.export,
            confinement=self.confinement,
            access=places.gate(),
            env=self.command_env(places),
            python=places.python,
            ruff=require_ruff(),
            scratch=self.scratch,
            stands_for=tuple(path.resolve() for path in stands_for),
            carried=carried,
        )

    def places(
        self, workspace: Workspace | None, setup: Path, *made: Path, saying: bool = False
    ) -> Policy:
        """Name what commands at a worktree may see; `made` are virtual environments of ours."""
        settings, git = self.settings, shutil.which("git")
        elsewhere = (*self.also_hidden, *self.beside)
        own = (settings.home, settings.sessions_dir, self.scratch, *elsewhere)
        confined = not isinstance(self.confinement, Unconfined)
        hidden = hidden_places(self.command_environ, *own, confined=confined)
        python = find_python(settings.python, self.source, hidden, made)
        if saying and python.note is not None:
            self.frontend.tell(python.note)
        return Policy(
            hidden=hidden,
            source=self.source.root,
            git_dir=self.source.git_dir,
            workspace=self.scratch / "workspace" if workspace is None else workspace.path,
            setup=setup,
            home=self.scratch / "home",
            python=python.path,
            shown=python.shown,
            programs=tool_places(find_ruff(), Path(git) if git else None),
            stores=self.source.stores,
            registration=None if workspace is None else workspace.registration(),
            git_config=self.scratch / GIT_CONFIG,
            network=settings.sandbox_network,
        )

    def command_env(self, places: Policy) -> dict[str, str]:
        """Give the environment of the worker's and the gate's commands."""
        return environment(self.command_environ, home=places.home, path_first=places.python.parent)

    def worker_env(self, places: Policy) -> dict[str, str]:
        """Give the worker's environment: bare `pytest` finds the modules that the gate finds."""
        roots = (str(places.workspace), str(places.workspace / "src"))
        return {**self.command_env(places), "PYTHONPATH": os.pathsep.join(roots)}


@contextmanager
def open_parts(
    settings: Settings,
    source: SourceRepo,
    facts: ProjectFacts,
    frontend: Frontend,
    *,
    panel: Panel | None = None,
    command_environ: Mapping[str, str] = os.environ,
    schedule: Schedule | None = None,
) -> Iterator[Parts]:
    """Set up what a run needs beside its session, and clear it away."""
    panel = panel or Panel()
    if settings.sandbox is SandboxChoice.OFF:
        frontend.tell(_NO_SANDBOX)
    with (
        open_wall(settings.sandbox) as confinement,
        temporary_directory("tilth-") as scratch,
    ):
        renew_home(scratch / "home")
        config = clean_configuration(source)
        (scratch / GIT_CONFIG).write_text(config, encoding="utf-8")
        secrets = (*known_secrets(settings), *panel.secrets, *credentials(source))
        hide_in_print(secrets)
        yield Parts(
            settings=settings,
            source=source,
            facts=facts,
            mask=Mask(secrets),
            confinement=confinement,
            scratch=scratch,
            panel=panel,
            frontend=frontend,
            command_environ=command_environ,
            schedule=schedule or Schedule(),
        )


def _those(sink: Sink | None) -> tuple[Sink, ...]:
    return () if sink is None else (sink,)


def _rules_of(memory: SessionState) -> Rules | None:
    """Give the rules a session was begun under; one that was not begun has none yet."""
    return None if memory.start is None else Rules(memory.start.rules)


def read_facts(source: SourceRepo, base: str) -> ProjectFacts:
    """Read what the repository says about itself, from the commit the session began from."""
    return find_project(lambda name: trees.read(source, base, name))


def cores_here() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def new_id() -> str:
    """Make an id that no other has."""
    return secrets.token_hex(8)
