"""Starting: from a target on disk to a session that runs. What `tilth run` does, as a function."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Mapping, MutableMapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from tilth.base.clock import Clock, SystemClock, stamp
from tilth.base.errors import CorruptSession, UserError
from tilth.config.settings import Settings, load
from tilth.git import trees
from tilth.git.merging import require_merging
from tilth.git.source import SourceRepo, is_dirty, open_for_session, open_source
from tilth.log.state import SessionState
from tilth.model.provider import load_early
from tilth.session.bundle import PRD_NAME, Bundle, find_prd, read_bundle
from tilth.session.catalog import (
    holder_of,
    readable_sessions,
    resumable_sessions,
    sessions_of,
)
from tilth.session.fence import Fence
from tilth.session.frontend import Frontend
from tilth.session.lost_log import LostLog, require_log, statuses
from tilth.session.models import choose_reviewers, require_endpoints
from tilth.session.night import Schedule
from tilth.session.parts import Parts, open_parts, read_facts
from tilth.session.readiness import Preflight, look_ahead
from tilth.session.resume import resume
from tilth.session.run import RunResult, result_of, run_session
from tilth.session.second_night import numbered
from tilth.session.session import Checkpoint, Session, SessionStatus, branch_of, session_id


def start(
    target: Path,
    repo: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    new: bool = False,
    renumber: bool = False,
    until: str | None = None,
    ping: bool = True,
    spend_leftovers: bool = False,
    preflight: Preflight | None = None,
    environ: MutableMapping[str, str] = os.environ,
    frontend: Frontend | None = None,
    clock: Clock | None = None,
    fence: Fence | None = None,
) -> RunResult:
    """Check everything, then create a session and run it to its end.

    `overrides` are settings by field name and win over `environ`, out of which keys are taken. With
    a `fence`, the session is the one it names, and writes only while nobody has taken it over.
    """
    overrides, frontend = overrides or {}, frontend or Frontend()
    schedule = Schedule.read(until, clock, spend_leftovers=spend_leftovers)
    require_endpoints(settings := load(overrides, environ))
    load_early()
    go_on = partial(
        resume,
        overrides=overrides,
        until=until,
        ping=ping,
        spend_leftovers=spend_leftovers,
        preflight=preflight,
        environ=environ,
        frontend=frontend,
        clock=clock,
    )
    prd = find_prd(target)
    if prd is None:
        return go_on(prepared_to_run(settings, open_source(_source_of(repo, target)), frontend))
    bundle, source = read_bundle(prd), open_for_session(repo_for(repo, prd))
    _note_changes(source, frontend)
    earlier = None if new else _offer(settings, bundle, source, frontend)
    if earlier is not None:
        return go_on(earlier)
    bundle = numbered(source, bundle, frontend.tell, renumber=renumber)
    wish = {"second_opinions": spend_leftovers}
    panel = choose_reviewers(settings, bundle.plan, environ, frontend, **wish)
    known = settings.under(facts := read_facts(source, source.head)), source, facts, frontend
    with open_parts(*known, panel=panel, schedule=schedule) as parts:
        return _run_new(parts, bundle, ping=ping, preflight=preflight, fence=fence)


def _note_changes(source: SourceRepo, frontend: Frontend) -> None:
    if is_dirty(source):
        frontend.tell("note: uncommitted changes in the repository are not part of the session")


def _run_new(
    parts: Parts, bundle: Bundle, *, ping: bool, preflight: Preflight | None, fence: Fence | None
) -> RunResult:
    if parts.settings.jobs > 1:
        require_merging()
    tests = seed_tests(parts, bundle)
    proven = look_ahead(
        parts, bundle.plan, tests, parts.source.head, pings=ping, preflight=preflight
    )
    session = create(parts, bundle, tests, fence)
    ending = run_session(parts, session, SessionState(), preflight=proven)
    return result_of(session, ending.exit_code, ending)


def prepared_to_run(settings: Settings, source: SourceRepo, frontend: Frontend) -> str:
    """Find the one prepared session of a repository; of several, ask; else say what to do."""
    sessions = sessions_of(settings, source, SessionStatus.PREPARED)
    if not sessions:
        raise _nothing_prepared(settings, source)
    if len(sessions) == 1:
        return sessions[0].id
    said = f"{source.root} has {len(sessions)} prepared sessions"
    if frontend.pick is None:
        commands = ", ".join(f"`tilth resume {session.id}`" for session in sessions)
        raise UserError(f"{said}: run one of them with {commands}")
    choices = [f"prepared session {session.id}" for session in sessions]
    return sessions[frontend.pick(f"{said}. Which one is to run?", choices)].id


def _nothing_prepared(settings: Settings, source: SourceRepo) -> UserError:
    begun = [
        session
        for session in resumable_sessions(settings)
        if session.checkpoint.prd is None and session.checkpoint.source == str(source.root)
    ]
    if begun:
        return UserError(
            f"the prepared session {begun[0].id} has begun: go on with `tilth resume {begun[0].id}`"
        )
    interviews = sessions_of(settings, source, SessionStatus.INTERVIEWING)
    command = f"`tilth prep-feature {shlex.quote(str(source.root))}`"
    if interviews:
        return UserError(
            f"{source.root} has no prepared session, but interview {interviews[0].id} is not "
            f"finished: go on with {command}"
        )
    return UserError(
        f"{source.root} has no prepared session and no prd.json: prepare one with {command}, or "
        "name a PRD (see docs/prd.md)"
    )


def _offer(
    settings: Settings, bundle: Bundle, source: SourceRepo, frontend: Frontend
) -> str | None:
    """Offer a session of the same PRD and repository that could go on; None means a new one."""
    same = [
        session
        for session in resumable_sessions(settings)
        if _is_same(session, bundle, source) and not _is_lost(session, frontend)
    ]
    if not same:
        _refuse_running_twin(settings, bundle, source)
        return None
    newest = same[0]
    said = f"session {newest.id} of this PRD is {newest.checkpoint.status} and can be resumed"
    if frontend.pick is None:
        raise UserError(f"{said}: `tilth resume {newest.id}`, or start afresh with --new")
    choices = [*(f"resume {session.id}" for session in same), "start afresh beside it"]
    chosen = frontend.pick(f"{said}.", choices)
    return same[chosen].id if chosen < len(same) else None


def _is_lost(session: Session, frontend: Frontend) -> bool:
    """Tell whether a resume would be refused for the session's log, and say so to the person."""
    try:
        require_log(session.log_path, session.checkpoint, statuses(session))
    except LostLog as error:
        frontend.tell(f"note: session {session.id} of this PRD is passed over: {error}")
        return True
    except CorruptSession:
        pass  # A resume says what it is, and may mend it.
    return False


def _is_same(session: Session, bundle: Bundle, source: SourceRepo) -> bool:
    seen = session.checkpoint
    return (seen.prd_sha256, seen.source) == (bundle.sha256, str(source.root))


def _refuse_running_twin(settings: Settings, bundle: Bundle, source: SourceRepo) -> None:
    """Refuse to start a PRD a second time while it is running: it would cost twice."""
    for session in readable_sessions(settings):
        holder = holder_of(session)
        if holder is not None and _is_same(session, bundle, source):
            raise UserError(
                f"session {session.id} of this PRD is running (process {holder}): see `tilth "
                f"events {session.id} --follow`, or start another beside it with --new"
            )


def _source_of(repo: Path | None, target: Path) -> Path:
    """Take the repository named, else the target itself."""
    if repo is None and target.is_dir() and not _is_repository(target.resolve()):
        raise UserError(
            f"{target.resolve()} holds no {PRD_NAME} and is no git repository: name a PRD, and its "
            "repository with --repo DIR"
        )
    return repo or target


def repo_for(repo: Path | None, prd: Path) -> Path:
    """Take the repository named, else the one around the PRD, else the one we stand in."""
    if repo is not None:
        return repo
    for folder in (prd.resolve().parent, Path.cwd()):
        if _is_repository(folder):
            return folder
    raise UserError(
        f"neither {prd} nor {Path.cwd()} stands in a git repository: say which one it is for, with "
        "--repo DIR"
    )


def _is_repository(folder: Path) -> bool:
    """Tell whether git may know a place; one that is bare is told so by whoever opens it."""
    around = any((parent / ".git").exists() for parent in (folder, *folder.parents))
    return around or (folder / "HEAD").is_file()


def seed_tests(parts: Parts, bundle: Bundle) -> dict[str, bytes]:
    """Gather the acceptance tests: a bundle's own stand before those of the repository."""
    return {**committed_tests(parts.source, bundle), **bundle.tests}


def create(
    parts: Parts,
    bundle: Bundle,
    tests: Mapping[str, bytes] | None = None,
    fence: Fence | None = None,
) -> Session:
    """Make a session's directory; branch and worktree follow when it runs."""
    name = fence.session if fence else None
    checkpoint = new_checkpoint(parts.source, SessionStatus.RUNNING, bundle, name)
    tests = seed_tests(parts, bundle) if tests is None else tests
    return Session.new(
        parts.settings.sessions_dir,
        checkpoint,
        bundle.plan,
        tests,
        clock=SystemClock(),
        mask=parts.mask,
        guard=fence.passing if fence else nullcontext,
    )


def new_checkpoint(
    source: SourceRepo,
    status: SessionStatus,
    bundle: Bundle | None = None,
    name: str | None = None,
) -> Checkpoint:
    """Name a new session, unless it has a name already, and say where it begins."""
    moment = SystemClock().now()
    name = name or session_id(moment, secrets.token_hex(3))
    return Checkpoint(
        session=name,
        status=status,
        source=str(source.root),
        branch=branch_of(name),
        base_commit=source.head,
        base_branch=source.branch,
        prd=str(bundle.prd) if bundle else None,
        prd_sha256=bundle.sha256 if bundle else None,
        created=stamp(moment),
        updated=stamp(moment),
    )


def committed_tests(source: SourceRepo, bundle: Bundle) -> dict[str, bytes]:
    """Read the acceptance tests that the repository has already."""
    found: dict[str, bytes] = {}
    for path in trees.files(source, source.head):
        folder, _, name = path.rpartition("/")
        if folder == "tests" and any(task.owns_test(name) for task in bundle.plan.tasks):
            content = trees.read(source, source.head, path)
            if content is not None:
                found[name] = content
    return found
