"""`tilth prep-feature`: from a repository and a wish to a prepared session."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import (
    CapReached,
    DiskError,
    Interrupted,
    ProviderError,
    UserError,
    WorkspaceError,
)
from tilth.base.safe_text import one_line
from tilth.config.secrets import Mask
from tilth.config.settings import Settings, known_secrets, load
from tilth.contract.outcomes import ExitCode, StopReason, exit_code
from tilth.git import trees
from tilth.git.landed_ids import landed_ids
from tilth.git.source import SourceRepo, is_dirty, open_for_session, open_source
from tilth.interview.answers import AnswersFrontend, read_answers
from tilth.interview.approval import Approver
from tilth.interview.bench import InterviewBench
from tilth.interview.earlier import choose, give_up, seed_concerns
from tilth.interview.engine import InterviewEnd, hold
from tilth.interview.frontend import InterviewFrontend
from tilth.interview.logged import LoggedInterview, read_interview
from tilth.interview.opening import Anchor, find_specs, go_on_from, open_interview
from tilth.interview.person_text import person_text
from tilth.interview.prover import Ground, make_prover, open_ground
from tilth.interview.sink import SessionSink
from tilth.interview.terminal import TerminalFrontend
from tilth.log.events import Stop
from tilth.log.state import SessionState, fold
from tilth.log.writer import Emitter, EventLog
from tilth.model.messages import Role
from tilth.session.endpoints import model_at
from tilth.session.lost_log import require_start
from tilth.session.parts import Parts, new_id, open_parts, read_facts
from tilth.session.session import Session, SessionStatus
from tilth.session.start import new_checkpoint
from tilth.show.notices import after_the_fact, complain, tell
from tilth.show.picker import can_ask
from tilth.show.terminal import terminal
from tilth.task.briefs import NamedText
from tilth.task.budget import Meter
from tilth.task.night import Night
from tilth.tools import Toolbox

_LARGEST_BRIEF = 200_000


@dataclass(frozen=True)
class PrepareOptions:
    """Hold what the command line asks for."""

    brief: str | None = None
    brief_file: Path | None = None
    answers: Path | None = None
    review: bool = True
    force: bool = False
    keep_existing: bool = False


def prepare(
    repo: Path,
    options: PrepareOptions,
    flags: Mapping[str, object],
    *,
    environ: MutableMapping[str, str] = os.environ,
    frontend: InterviewFrontend | None = None,
) -> int:
    """Check everything, settle what becomes of earlier seeds, and hold the interview."""
    settings = load(flags, environ)
    settings.require_endpoint(Role.SEEDER)
    if options.force and options.keep_existing:
        raise UserError("--force and --keep-existing contradict each other: give one of them")
    brief = _brief(options)
    if options.answers is not None:
        frontend = frontend or AnswersFrontend(read_answers(options.answers))
    source = open_for_session(repo)
    people = terminal()
    choice = choose(settings, source, people.pick, force=options.force, keep=options.keep_existing)
    if choice.leave:
        return ExitCode.DONE
    frontend = frontend or _frontend(options, environ)
    if choice.go_on is not None:
        session = _open_session(settings, choice.go_on)
        return go_on(settings, session, options, environ=environ, frontend=frontend)
    facts = read_facts(source, source.head)
    with open_parts(settings.under(facts), source, facts, people) as parts:
        give_up(settings, choice.replaced)
        session = _create(parts)
        return _interview(parts, session, options, frontend, _anchor(parts, brief))


def go_on(
    settings: Settings,
    session: Session,
    options: PrepareOptions,
    *,
    environ: MutableMapping[str, str] = os.environ,
    frontend: InterviewFrontend | None = None,
) -> int:
    """Go on with an interview that was interrupted; the session is open and locked."""
    try:
        settings.require_endpoint(Role.SEEDER)
        frontend = frontend or _frontend(options, environ)
        source = open_source(Path(session.checkpoint.source))
        facts = read_facts(source, source.head)
        with open_parts(settings.under(facts), source, facts, terminal()) as parts:
            return _interview(parts, session, options, frontend, _anchor(parts, _brief(options)))
    finally:
        session.release()


def _open_session(settings: Settings, name: str) -> Session:
    mask = Mask(known_secrets(settings))
    return Session.open_locked(settings.sessions_dir, name, clock=SystemClock(), mask=mask)


def _brief(options: PrepareOptions) -> str | None:
    if options.brief is not None and options.brief_file is not None:
        raise UserError("--brief and --brief-file say the same thing twice: give one of them")
    if options.brief_file is None:
        return person_text(options.brief or "") or None
    path = options.brief_file
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8: save it as UTF-8") from None
    if not text.strip() or len(text) > _LARGEST_BRIEF:
        raise UserError(f"{path} must hold between 1 and {_LARGEST_BRIEF} characters of text")
    return person_text(text)


def _frontend(options: PrepareOptions, environ: Mapping[str, str]) -> InterviewFrontend:
    if options.answers is not None:
        return AnswersFrontend(read_answers(options.answers))
    if not can_ask():
        raise UserError(
            "prep-feature asks questions and there is no terminal: run it in one, or give the "
            "answers with --answers FILE"
        )
    return TerminalFrontend(sys.stderr, environ)


def _create(parts: Parts) -> Session:
    checkpoint = new_checkpoint(parts.source, SessionStatus.INTERVIEWING)
    sessions = parts.settings.sessions_dir
    return Session.new(sessions, checkpoint, None, {}, clock=SystemClock(), mask=parts.mask)


def _anchor(parts: Parts, brief: str | None) -> Anchor:
    source = parts.source
    found = ((name, trees.read(source, source.head, name)) for name in parts.settings.context_files)
    return Anchor(
        brief=brief,
        specs=find_specs(source.root),
        conventions=tuple(
            NamedText(name=name, text=content.decode("utf-8", "replace"))
            for name, content in found
            if content
        ),
        base_files=trees.files(source, source.head),
        landed=landed_ids(source),
        dirty=is_dirty(source),
        seed_concerns=seed_concerns(parts.settings, source),
    )


def _interview(
    parts: Parts,
    session: Session,
    options: PrepareOptions,
    frontend: InterviewFrontend,
    anchor: Anchor,
) -> int:
    session.hide(parts.mask)
    memory, logged = fold(session.events()), read_interview(session.events())
    require_start(session, memory)
    if logged.prepared:
        # A crash came between the last event and the checkpoint; the events are the truth.
        session.save_checkpoint(SessionStatus.PREPARED, memory.spend)
        where = shlex.quote(str(parts.source.root))
        tell(f"session {session.id} is prepared already: `tilth run {where}`")
        return ExitCode.DONE
    if isinstance(frontend, AnswersFrontend):
        frontend.pass_over(logged.asked)
    if isinstance(frontend, TerminalFrontend):
        frontend.recall(logged.answers)
    try:
        with (
            open_ground(parts, parts.source.head) as ground,
            _open_bench(parts, ground, session, options, frontend, memory) as bench,
        ):
            return _hold(bench, session, parts.source, anchor, logged, memory)
    finally:
        if isinstance(frontend, TerminalFrontend):
            frontend.close()


@contextmanager
def _open_bench(
    parts: Parts,
    ground: Ground,
    session: Session,
    options: PrepareOptions,
    frontend: InterviewFrontend,
    memory: SessionState,
) -> Iterator[InterviewBench]:
    """Put the parts of one interview together, and close them afterwards."""
    clock, settings = SystemClock(), parts.settings
    log = _open_log(session, parts.mask, frontend, memory)
    interrupt = parts.frontend.interrupt
    no_review = _no_review(settings, options)
    seeder = model_at(settings.require_endpoint(Role.SEEDER), interrupt)
    reviewer = None if no_review else settings.require_endpoint(Role.EVALUATOR)
    evaluator = model_at(reviewer, interrupt) if reviewer else None
    workspace = parts.workspace(session)
    prover = make_prover(ground)
    try:
        yield InterviewBench(
            seeder=seeder,
            evaluator=evaluator,
            no_review=no_review,
            reader=Toolbox.for_reading(parts.source.root),
            frontend=frontend,
            sink=SessionSink(session, workspace, prover, parts.mask),
            source=parts.source.root,
            session=session.id,
            branch=workspace.branch,
            settings=settings,
            emit=Emitter(log),
            clock=clock,
            mask=parts.mask,
            meter=Meter(lambda: log.state.spend),
            interrupt=interrupt,
            new_id=new_id,
            started=clock.monotonic(),
            approver=frontend if isinstance(frontend, Approver) else None,
            night=Night(pending=memory.waiting),
        )
    finally:
        log.close()
        session.release()
        for model in (seeder, *([evaluator] if evaluator else [])):
            model.close()


def _open_log(
    session: Session, mask: Mask, frontend: InterviewFrontend, memory: SessionState
) -> EventLog:
    return EventLog(
        session.log_path,
        session=session.id,
        clock=SystemClock(),
        mask=mask,
        sinks=(frontend,) if isinstance(frontend, TerminalFrontend) else (),
        before=memory,
    )


def _no_review(settings: Settings, options: PrepareOptions) -> str:
    """Say why the contract is not reviewed; nothing when it is."""
    if not options.review:
        return "--no-review"
    if not settings.evaluate:
        return "TILTH_EVALUATE is off"
    return "" if settings.endpoint(Role.EVALUATOR) else "no evaluator is configured"


def _hold(
    bench: InterviewBench,
    session: Session,
    source: SourceRepo,
    anchor: Anchor,
    logged: LoggedInterview,
    memory: SessionState,
) -> int:
    """Hold the interview and leave the session as its end says."""
    try:
        if logged.thread is None:
            _show_concerns(anchor)
            state = open_interview(bench, anchor)
        else:
            state = go_on_from(bench, logged, memory.last_stop)
        end = hold(bench, state)
    except (Interrupted, KeyboardInterrupt):
        return _interrupted(bench, session, StopReason.INTERRUPTED, "stopped by the user")
    except ProviderError as error:
        return _interrupted(bench, session, StopReason.PROVIDER_FAILURE, str(error))
    except CapReached as cap:
        return _interrupted(bench, session, StopReason(cap.reason), str(cap))
    except (WorkspaceError, DiskError, UserError) as error:
        return _interrupted(bench, session, StopReason.ERROR, str(error))
    spend = bench.meter.by_role
    if end.written is not None:
        session.save_checkpoint(SessionStatus.PREPARED, spend, base_commit=source.head)
        with after_the_fact():
            sys.stdout.write(f"{session.id}\n")
        return ExitCode.DONE
    return _failed(bench, session, end)


def _show_concerns(anchor: Anchor) -> None:
    """Tell the person too what reviewers said of earlier acceptance tests here."""
    if anchor.seed_concerns:
        tell("evaluators found earlier acceptance tests here weak; the seeder is told:")
    for concern in anchor.seed_concerns:
        tell(f"  - {one_line(concern, 400)}")


def _failed(bench: InterviewBench, session: Session, end: InterviewEnd) -> int:
    reason = end.reason or StopReason.ERROR
    code = _stop(bench, reason, end.detail)
    session.save_checkpoint(SessionStatus.FAILED, bench.meter.by_role)
    complain(
        f"the interview failed: {end.detail}; nothing was written. Remove it with "
        f"`tilth reset {session.id}`, and try again, perhaps with another TILTH_PREP_MODEL"
    )
    return code


def _interrupted(bench: InterviewBench, session: Session, reason: StopReason, detail: str) -> int:
    """Keep an interview for later; one in which nothing was said yet leaves no trace."""
    code = _stop(bench, reason, detail)
    complain(f"the interview stopped: {detail}")
    if not bench.meter.by_role:
        session.discard()
        return code
    session.save_checkpoint(SessionStatus.INTERVIEWING, bench.meter.by_role)
    tell(f"it is kept: go on with `tilth prep-feature {shlex.quote(str(bench.source))}`")
    return code


def _stop(bench: InterviewBench, reason: StopReason, detail: str) -> ExitCode:
    code = exit_code(reason, request_open=False, below_bar=False)
    bench.emit(Stop(reason=reason, exit_code=code, detail=detail))
    return code
