"""`tilth prep-feature`: from a repository and a wish to a prepared session."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tilth.briefs import NamedText
from tilth.cli.edge import complain, tell
from tilth.cli.picking import can_ask
from tilth.cli.proving import prover
from tilth.cli.resuming import read_facts
from tilth.cli.seeds import choose, give_up
from tilth.cli.workbench import Workshop, open_workshop
from tilth.clock import SystemClock
from tilth.errors import (
    CapReached,
    DiskError,
    Interrupted,
    ProviderError,
    UserError,
    WorkspaceError,
)
from tilth.eventlog import Emitter, EventLog
from tilth.mask import Mask
from tilth.messages import Role
from tilth.outcomes import ExitCode, StopReason, exit_code
from tilth.payloads import Stop
from tilth.recall.memory import Memory, remember
from tilth.repository import trees
from tilth.repository.repo import SourceRepo, open_source
from tilth.seed.answers import AnswersFrontend, read_answers
from tilth.seed.engine import InterviewEnd, hold
from tilth.seed.frontend import InterviewFrontend
from tilth.seed.opening import Anchor, find_specs, open_interview, take_up
from tilth.seed.recall import Recalled, recall
from tilth.seed.sink import SessionSink
from tilth.seed.table import Table
from tilth.seed.terminal import TerminalFrontend
from tilth.session import Session, SessionStatus
from tilth.settings import Settings, known_secrets, load
from tilth.tools import Toolbox
from tilth.workspace import Workspace

_LARGEST_BRIEF = 200_000


@dataclass(frozen=True)
class Wishes:
    """Hold what the command line asks for."""

    brief: str | None = None
    brief_file: Path | None = None
    answers: Path | None = None
    review: bool = True
    force: bool = False
    keep_existing: bool = False


def prepare(
    repo: Path,
    wishes: Wishes,
    flags: Mapping[str, object],
    *,
    environ: MutableMapping[str, str] = os.environ,
    frontend: InterviewFrontend | None = None,
) -> int:
    """Check everything, settle what becomes of earlier seeds, and hold the interview."""
    settings = load(flags, environ)
    settings.require_endpoint(Role.SEEDER)
    if wishes.force and wishes.keep_existing:
        raise UserError("--force and --keep-existing contradict each other: give one of them")
    brief = _brief(wishes)
    if wishes.answers is not None:
        frontend = frontend or AnswersFrontend(read_answers(wishes.answers))
    source = open_source(repo)
    choice = choose(settings, source, force=wishes.force, keep=wishes.keep_existing)
    if choice.leave:
        return ExitCode.DONE
    frontend = frontend or _frontend(wishes, environ)
    if choice.go_on is not None:
        session = _woken(settings, choice.go_on)
        return go_on(settings, session, wishes, environ=environ, frontend=frontend)
    facts = read_facts(source, source.head)
    with open_workshop(settings.under(facts), source, facts) as shop:
        give_up(settings, choice.replaced)
        session = _create(shop)
        return _interview(shop, session, wishes, frontend, _anchor(shop, brief))


def go_on(
    settings: Settings,
    session: Session,
    wishes: Wishes,
    *,
    environ: MutableMapping[str, str] = os.environ,
    frontend: InterviewFrontend | None = None,
) -> int:
    """Go on with an interview that was interrupted; the session is awake."""
    try:
        settings.require_endpoint(Role.SEEDER)
        frontend = frontend or _frontend(wishes, environ)
        source = open_source(Path(session.checkpoint.source))
        facts = read_facts(source, source.head)
        with open_workshop(settings.under(facts), source, facts) as shop:
            return _interview(shop, session, wishes, frontend, _anchor(shop, _brief(wishes)))
    finally:
        session.release()


def _woken(settings: Settings, name: str) -> Session:
    mask = Mask(known_secrets(settings))
    return Session.wake(settings.sessions_dir, name, clock=SystemClock(), mask=mask)


def _brief(wishes: Wishes) -> str | None:
    if wishes.brief is not None and wishes.brief_file is not None:
        raise UserError("--brief and --brief-file say the same thing twice: give one of them")
    if wishes.brief_file is None:
        return wishes.brief.strip() or None if wishes.brief else None
    path = wishes.brief_file
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8: save it as UTF-8") from None
    if not text.strip() or len(text) > _LARGEST_BRIEF:
        raise UserError(f"{path} must hold between 1 and {_LARGEST_BRIEF} characters of text")
    return text.strip()


def _frontend(wishes: Wishes, environ: Mapping[str, str]) -> InterviewFrontend:
    if wishes.answers is not None:
        return AnswersFrontend(read_answers(wishes.answers))
    if not can_ask():
        raise UserError(
            "prep-feature asks questions and there is no terminal: run it in one, or give the "
            "answers with --answers FILE"
        )
    return TerminalFrontend(sys.stderr, environ)


def _create(shop: Workshop) -> Session:
    checkpoint = shop.checkpoint(SessionStatus.INTERVIEWING)
    sessions = shop.settings.sessions_dir
    return Session.new(sessions, checkpoint, None, {}, clock=SystemClock(), mask=shop.mask)


def _anchor(shop: Workshop, brief: str | None) -> Anchor:
    source = shop.source
    found = ((name, trees.read(source, source.head, name)) for name in shop.settings.context_files)
    return Anchor(
        brief=brief,
        specs=find_specs(source.root),
        conventions=tuple(
            NamedText(name=name, text=content.decode("utf-8", "replace"))
            for name, content in found
            if content
        ),
        base_files=trees.files(source, source.head),
        dirty=source.dirty,
    )


def _interview(
    shop: Workshop, session: Session, wishes: Wishes, frontend: InterviewFrontend, anchor: Anchor
) -> int:
    memory, recalled = remember(session.events()), recall(session.events())
    if recalled.prepared:
        # A crash came between the last event and the checkpoint; the events are the truth.
        session.save_checkpoint(SessionStatus.PREPARED, memory.meter().by_role)
        where = shlex.quote(str(shop.source.root))
        tell(f"session {session.id} is prepared already: `tilth run {where}`")
        return ExitCode.DONE
    if isinstance(frontend, AnswersFrontend):
        frontend.pass_over(recalled.asked)
    with _laid(shop, session, wishes, frontend, memory) as table:
        return _hold(table, session, shop.source, anchor, recalled, memory)


@contextmanager
def _laid(
    shop: Workshop, session: Session, wishes: Wishes, frontend: InterviewFrontend, memory: Memory
) -> Iterator[Table]:
    """Lay a table for one interview and clear it away afterwards."""
    clock, settings = SystemClock(), shop.settings
    sinks = (frontend,) if isinstance(frontend, TerminalFrontend) else ()
    log = EventLog(
        session.log_path,
        session=session.id,
        clock=clock,
        mask=shop.mask,
        sinks=sinks,
        last_seq=memory.last_seq,
    )
    seeder = shop.reach(settings.require_endpoint(Role.SEEDER))
    no_review = _no_review(settings, wishes)
    evaluator = None if no_review else shop.reach(settings.require_endpoint(Role.EVALUATOR))
    workspace = Workspace(shop.source, session.workspace, session.id, clock)
    try:
        yield Table(
            seeder=seeder,
            evaluator=evaluator,
            no_review=no_review,
            reader=Toolbox.for_reading(shop.source.root),
            frontend=frontend,
            sink=SessionSink(
                session, workspace, prover(shop, workspace, shop.source.head), shop.mask
            ),
            source=shop.source.root,
            session=session.id,
            branch=workspace.branch,
            settings=settings,
            emit=Emitter(log),
            clock=clock,
            mask=shop.mask,
            meter=memory.meter(),
            interrupt=shop.interrupt,
            new_id=lambda: secrets.token_hex(8),
            started=clock.monotonic(),
        )
    finally:
        log.close()
        session.release()
        for model in (seeder, *([evaluator] if evaluator else [])):
            model.close()


def _no_review(settings: Settings, wishes: Wishes) -> str:
    """Say why the contract is not reviewed; nothing when it is."""
    if not wishes.review:
        return "--no-review"
    if not settings.evaluate:
        return "TILTH_EVALUATE is off"
    return "" if settings.endpoint(Role.EVALUATOR) else "no evaluator is configured"


def _hold(
    table: Table,
    session: Session,
    source: SourceRepo,
    anchor: Anchor,
    recalled: Recalled,
    memory: Memory,
) -> int:
    """Hold the interview and leave the session as its end says."""
    try:
        if recalled.thread is None:
            talk = open_interview(table, anchor)
        else:
            talk = take_up(table, recalled, memory.last_stop)
        end = hold(table, talk)
    except (Interrupted, KeyboardInterrupt):
        return _interrupted(table, session, StopReason.INTERRUPTED, "stopped by the user")
    except ProviderError as error:
        return _interrupted(table, session, StopReason.PROVIDER_FAILURE, str(error))
    except CapReached as cap:
        return _interrupted(table, session, StopReason(cap.reason), str(cap))
    except (WorkspaceError, DiskError, UserError) as error:
        return _interrupted(table, session, StopReason.ERROR, str(error))
    spend = table.meter.by_role
    if end.sown is not None:
        session.save_checkpoint(SessionStatus.PREPARED, spend, base=source.head)
        sys.stdout.write(f"{session.id}\n")
        return ExitCode.DONE
    return _failed(table, session, end)


def _failed(table: Table, session: Session, end: InterviewEnd) -> int:
    reason = end.reason or StopReason.ERROR
    code = _stop(table, reason, end.detail)
    session.save_checkpoint(SessionStatus.FAILED, table.meter.by_role)
    complain(
        f"the interview failed: {end.detail}; nothing was written. Remove it with "
        f"`tilth reset {session.id}`, and try again, perhaps with another TILTH_PREP_MODEL"
    )
    return code


def _interrupted(table: Table, session: Session, reason: StopReason, detail: str) -> int:
    """Keep an interview for later; one in which nothing was said yet leaves no trace."""
    code = _stop(table, reason, detail)
    complain(f"the interview stopped: {detail}")
    if not table.meter.by_role:
        session.discard()
        return code
    session.save_checkpoint(SessionStatus.INTERVIEWING, table.meter.by_role)
    tell(f"it is kept: go on with `tilth prep-feature {shlex.quote(str(table.source))}`")
    return code


def _stop(table: Table, reason: StopReason, detail: str) -> ExitCode:
    code = exit_code(reason, request_open=False, below_bar=False)
    table.emit(Stop(reason=reason, exit_code=code, detail=detail))
    return code
