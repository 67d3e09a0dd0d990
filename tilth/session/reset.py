"""Reset: a session taken away, step by step, whatever is left of it. It asks and prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import DiskError, SessionBusy, UserError
from tilth.git.picking import made_anew, unreached_by_branches
from tilth.git.source import SourceRepo, open_source
from tilth.git.workspace import Workspace
from tilth.git.worktree import Worktree, registered_below
from tilth.log.events import SessionStart
from tilth.log.reader import read_events
from tilth.sandbox.removal import remove_tree
from tilth.session.catalog import find_session, list_sessions
from tilth.session.fence import fence_file
from tilth.session.here import Here
from tilth.session.session import SESSION_ID, Session, branch_of
from tilth.session.store import Lock, lock_holder

ACCEPTED = "accepted"


@dataclass(frozen=True)
class Step:
    """Tell of one thing a reset takes away, and whether it was there."""

    what: str
    where: str
    there: bool


def choose(sessions: Path, wanted: str | None, *, everything: bool) -> tuple[str, ...]:
    """Name the sessions to reset; one that is running is refused."""
    names = _named(sessions, wanted, everything=everything)
    for name in names:
        holder = lock_holder(sessions / name / "lock")
        if holder is not None:
            raise SessionBusy(f"session {name} is in use by process {holder}; stop it first")
    return names


def _named(sessions: Path, wanted: str | None, *, everything: bool) -> tuple[str, ...]:
    if everything:
        if wanted is not None:
            raise UserError("give either a session id or --all, not both")
        here = Here.find()
        every = list_sessions(sessions)
        return tuple(each for each in every if here is None or here.has(sessions, each))
    if wanted is None:
        raise UserError("name the session to reset, or use --all; `tilth info` lists them")
    # A full id may be reset again even if nothing of it is left.
    return (wanted,) if SESSION_ID.fullmatch(wanted) else (find_session(sessions, wanted),)


def _workspace(sessions: Path, name: str) -> Workspace | None:
    """Find the repository a session worked on; every path and ref below it comes from the id."""
    source = _source(sessions, name)
    if source is None:
        return None
    return Workspace(source, sessions / name / "workspace", name, SystemClock())


def _source(sessions: Path, name: str) -> SourceRepo | None:
    candidates = [Path.cwd()]
    try:
        session = Session.look(sessions, name)
        candidates.insert(0, Path(session.checkpoint.source))
    except UserError:
        # Half removed already: the log may know, else the repository we stand in is the best guess.
        candidates[:0] = _recorded_source(sessions / name / "events.jsonl")
    for place in candidates:
        try:
            return open_source(place)
        except UserError:
            continue
    return None


def _recorded_source(log: Path) -> list[Path]:
    try:
        said = (event.payload for event in read_events(log))
        return [Path(start.source) for start in said if isinstance(start, SessionStart)][:1]
    except UserError:
        return []


def is_last_copy(steps: Iterable[Step]) -> bool:
    """Tell whether accepted work would be gone for good."""
    return any(step.what == ACCEPTED for step in steps)


def _only_here(workspace: Workspace | None) -> Iterator[str]:
    """Name the accepted commits that stand on no other branch, as they are or made anew."""
    tip = workspace.tip() if workspace is not None else None
    if workspace is None or tip is None:
        return
    source, session = workspace.source, workspace.session
    alone = [workspace.record(one) for one in unreached_by_branches(source, tip, workspace.branch)]
    own = [record for record in alone if record.session == session and record.task]
    done = [record for record in own if not record.failed]
    if not done:
        return
    since = alone[0].parent or alone[0].id
    anew = {
        (task, record.round)
        for record in made_anew(source, session, since)
        if not record.failed
        for task in record.tasks
    }
    for record in done:
        if (record.task, record.round) not in anew:
            yield f"{record.id[:12]} {record.subject}"


def _lanes(directory: Path, workspace: Workspace | None) -> tuple[Path, ...]:
    """Name the worktrees of a session that was worked on with several jobs."""
    folder = directory / "workspaces"
    # Beside them may lie what a kill left of a file that was being written.
    there = {path for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    known = registered_below(workspace.source, folder) if workspace is not None else ()
    return tuple(sorted(there.union(known)))


def look(sessions: Path, name: str) -> tuple[Step, ...]:
    """Say what a reset would take away, and what is gone already."""
    directory = sessions / name
    workspace = _workspace(sessions, name)
    steps = [Step(ACCEPTED, line, there=True) for line in _only_here(workspace)]
    steps.append(Step("worktree", str(directory / "workspace"), (directory / "workspace").exists()))
    steps += [Step("worktree", str(path), path.exists()) for path in _lanes(directory, workspace)]
    if workspace is None:
        where = f"{branch_of(name)} (its repository is not known: run this inside it)"
        steps.append(Step("branch", where, there=False))
    else:
        where = f"{workspace.branch} in {workspace.source.root}"
        steps.append(Step("branch", where, workspace.tip() is not None))
        steps += [Step("ref", ref, there=True) for ref in workspace.asides()]
    steps.append(Step("directory", str(directory), directory.exists()))
    return tuple(steps)


def remove(sessions: Path, name: str) -> tuple[Step, ...]:
    """Take a session away, and say what was there."""
    steps = look(sessions, name)
    directory = sessions / name
    workspace = _workspace(sessions, name)
    lock = Lock(directory / "lock")
    if directory.is_dir():
        lock.acquire()
    try:
        if workspace is not None:
            for path in _lanes(directory, workspace):
                Worktree(workspace.source, path).detach()
            workspace.remove()
        if directory.exists():
            remove_tree(directory)
        fence_file(sessions, name).unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(f"cannot remove {error.filename}: {error.strerror}; run it again") from None
    finally:
        lock.release()
    return steps
