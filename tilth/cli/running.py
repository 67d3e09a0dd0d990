"""`tilth run`: from a target on disk to a session that runs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from tilth.bundle import PRD_NAME, Bundle, find_prd, read_bundle
from tilth.cli.edge import tell
from tilth.cli.workbench import Workshop, open_workshop
from tilth.clock import SystemClock, stamp
from tilth.commits import seed_message
from tilth.errors import UserError
from tilth.loop import run
from tilth.messages import Role
from tilth.payloads import SeedCommitted
from tilth.project import ProjectFacts, read_project
from tilth.repository.repo import SourceRepo, open_source
from tilth.session import Checkpoint, Session, SessionStatus, branch_of, session_id
from tilth.settings import load
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
        raise UserError(
            f"no {PRD_NAME} in {target.resolve()}; name one, or write it there "
            "(a list of tasks: see docs/prd.md)"
        )
    bundle = read_bundle(prd)
    source = open_source(_repo_for(repo, prd))
    facts = _facts(source)
    if source.dirty:
        tell("note: uncommitted changes in the repository are not part of the session")
    settings = settings.under(facts)
    with open_workshop(settings, source, facts) as shop:
        session, workspace = create(shop, bundle)
        return _work(shop, session, workspace, bundle)


def _repo_for(repo: Path | None, prd: Path) -> Path:
    """Take the repository named, else the one around the PRD, else the one we stand in."""
    if repo is not None:
        return repo
    folder = prd.resolve().parent
    inside = any((parent / ".git").exists() for parent in (folder, *folder.parents))
    return folder if inside else Path.cwd()


def _facts(source: SourceRepo) -> ProjectFacts:
    from tilth.repository import trees

    return read_project(trees.read(source, source.head, "pyproject.toml"))


def create(shop: Workshop, bundle: Bundle) -> tuple[Session, Workspace]:
    """Make a session's directory, then its branch and worktree; on failure leave nothing."""
    clock = SystemClock()
    moment = clock.now()
    name = session_id(moment, secrets.token_hex(3))
    checkpoint = Checkpoint(
        session=name,
        status=SessionStatus.RUNNING,
        source=str(shop.source.root),
        branch=branch_of(name),
        base_commit=shop.source.head,
        prd=str(bundle.prd),
        prd_sha256=bundle.sha256,
        created=stamp(moment),
        updated=stamp(moment),
    )
    tests = {**standing_tests(shop.source, bundle), **bundle.tests}
    session = Session.new(
        shop.settings.sessions_dir, checkpoint, bundle.plan, tests, clock=clock, mask=shop.mask
    )
    workspace = Workspace(shop.source, session.workspace, name, clock)
    try:
        workspace.create(shop.source.head)
    except UserError:
        # The branch was there before us and is not ours to remove.
        session.discard()
        raise
    except BaseException:
        workspace.remove()
        session.discard()
        raise
    return session, workspace


def standing_tests(source: SourceRepo, bundle: Bundle) -> dict[str, bytes]:
    """Read the seed tests that already stand in the repository."""
    from tilth.repository import trees

    found: dict[str, bytes] = {}
    for path in trees.files(source, source.head):
        folder, _, name = path.rpartition("/")
        if folder == "tests" and any(task.owns_test(name) for task in bundle.plan.tasks):
            content = trees.read(source, source.head, path)
            if content is not None:
                found[name] = content
    return found


def _work(shop: Workshop, session: Session, workspace: Workspace, bundle: Bundle) -> int:
    with shop.bench(session, workspace) as bench:
        bench.emit(shop.start_of(session))
        if bundle.tests:
            files = {f"tests/{name}": content for name, content in bundle.tests.items()}
            message = seed_message(len(bundle.plan.tasks), len(files), session=session.id)
            commit = workspace.seed(files, message)
            bench.emit(SeedCommitted(commit=commit, files=tuple(sorted(files))))
        return run(bench).exit_code
