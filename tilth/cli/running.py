"""`tilth run`: from a target on disk to a session that runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from tilth.bundle import Bundle, find_prd, read_bundle
from tilth.cli.edge import tell
from tilth.cli.picking import can_ask, pick
from tilth.cli.resuming import first_steps, read_facts, resumable_sessions, resume
from tilth.cli.seeds import no_prepared_session, prepared_session
from tilth.cli.workbench import Workshop, open_workshop, seat_reviewers
from tilth.clock import SystemClock
from tilth.errors import UserError
from tilth.loop import run
from tilth.mask import Mask
from tilth.messages import Role
from tilth.recall.memory import Memory
from tilth.repository import trees
from tilth.repository.repo import SourceRepo, open_source
from tilth.session import Session, SessionStatus, list_sessions
from tilth.settings import Settings, load
from tilth.store import lock_holder
from tilth.workspace import Workspace


def start(
    target: Path,
    repo: Path | None,
    flags: Mapping[str, object],
    *,
    new: bool,
    environ: MutableMapping[str, str] = os.environ,
) -> int:
    """Check everything, then create a session and run it."""
    settings = load(flags, environ)
    settings.require_endpoint(Role.WORKER)
    if settings.evaluate:
        settings.require_endpoint(Role.EVALUATOR)
    prd = find_prd(target)
    if prd is None:
        name = _prepared(settings, open_source(repo or target))
        return resume(name, flags, fresh=False, environ=environ)
    bundle = read_bundle(prd)
    source = open_source(repo_for(repo, prd))
    facts = read_facts(source, source.head)
    if source.dirty:
        tell("note: uncommitted changes in the repository are not part of the session")
    if not new:
        earlier = _offer(settings, bundle, source)
        if earlier is not None:
            return resume(earlier, flags, fresh=False, environ=environ)
    settings = settings.under(facts)
    panel = seat_reviewers(settings, bundle.plan, environ)
    with open_workshop(settings, source, facts, panel) as shop:
        session = create(shop, bundle)
        workspace = Workspace(source, session.workspace, session.id, SystemClock())
        with shop.bench(session, workspace, Memory()) as bench:
            footing = shop.footing(session, workspace, Memory())
            return run(bench, lambda: first_steps(bench, footing)).exit_code


def _prepared(settings: Settings, source: SourceRepo) -> str:
    """Find the session of a repository that is ready to run, or one from there that can go on."""
    name = prepared_session(settings, source)
    if name is not None:
        return name
    begun = [
        session
        for session in resumable_sessions(settings)
        if session.checkpoint.prd is None and session.checkpoint.source == str(source.root)
    ]
    if begun:
        raise UserError(
            f"the prepared session {begun[0].id} has begun: go on with `tilth resume {begun[0].id}`"
        )
    raise no_prepared_session(settings, source)


def _offer(settings: Settings, bundle: Bundle, source: SourceRepo) -> str | None:
    """Offer a session of the same PRD and repository that could go on; None means a new one."""
    same = [
        session
        for session in resumable_sessions(settings)
        if session.checkpoint.prd_sha256 == bundle.sha256
        and session.checkpoint.source == str(source.root)
    ]
    if not same:
        _refuse_twin(settings, bundle, source)
        return None
    newest = same[0]
    said = f"session {newest.id} of this PRD is {newest.checkpoint.status} and can be resumed"
    if not can_ask():
        raise UserError(f"{said}: `tilth resume {newest.id}`, or start afresh with --new")
    choices = [*(f"resume {session.id}" for session in same), "start afresh beside it"]
    chosen = pick(f"{said}.", choices)
    return same[chosen].id if chosen < len(same) else None


def _refuse_twin(settings: Settings, bundle: Bundle, source: SourceRepo) -> None:
    """Refuse to start a PRD a second time while it is running: it would cost twice."""
    for name in list_sessions(settings.sessions_dir):
        holder = lock_holder(settings.sessions_dir / name / "lock")
        if holder is None:
            continue
        session = Session.look(settings.sessions_dir, name, clock=SystemClock(), mask=Mask())
        seen = session.checkpoint
        if (seen.prd_sha256, seen.source) == (bundle.sha256, str(source.root)):
            raise UserError(
                f"session {name} of this PRD is running (process {holder}): see `tilth events "
                f"{name} --follow`, or start another beside it with --new"
            )


def repo_for(repo: Path | None, prd: Path) -> Path:
    """Take the repository named, else the one around the PRD, else the one we stand in."""
    if repo is not None:
        return repo
    folder = prd.resolve().parent
    inside = any((parent / ".git").exists() for parent in (folder, *folder.parents))
    return folder if inside else Path.cwd()


def create(shop: Workshop, bundle: Bundle) -> Session:
    """Make a session's directory; branch and worktree follow when it stands up."""
    checkpoint = shop.checkpoint(SessionStatus.RUNNING, bundle)
    tests = {**standing_tests(shop.source, bundle), **bundle.tests}
    sessions, clock = shop.settings.sessions_dir, SystemClock()
    return Session.new(sessions, checkpoint, bundle.plan, tests, clock=clock, mask=shop.mask)


def standing_tests(source: SourceRepo, bundle: Bundle) -> dict[str, bytes]:
    """Read the seed tests that already stand in the repository."""
    found: dict[str, bytes] = {}
    for path in trees.files(source, source.head):
        folder, _, name = path.rpartition("/")
        if folder == "tests" and any(task.owns_test(name) for task in bundle.plan.tasks):
            content = trees.read(source, source.head, path)
            if content is not None:
                found[name] = content
    return found
