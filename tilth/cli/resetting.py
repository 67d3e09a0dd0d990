"""`tilth reset`: a session taken away, step by step, whatever is left of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path

from tilth.cli.edge import tell
from tilth.clock import SystemClock
from tilth.errors import DiskError, SessionBusy, UserError
from tilth.eventlog import read_events
from tilth.inert import one_line
from tilth.mask import Mask
from tilth.outcomes import ExitCode
from tilth.removal import remove_tree
from tilth.repository.repo import SourceRepo, open_source
from tilth.session import SESSION_ID, Session, branch_of, find_session, list_sessions
from tilth.settings import load
from tilth.store import Lock, lock_holder
from tilth.workspace import Workspace


@dataclass(frozen=True)
class Step:
    """Tell of one thing a reset takes away, and whether it was there."""

    what: str
    where: str
    there: bool


def reset(
    wanted: str | None,
    *,
    yes: bool,
    dry_run: bool,
    everything: bool,
    as_json: bool = False,
    environ: MutableMapping[str, str] = os.environ,
) -> int:
    """Show what will go, ask, and take it away."""
    sessions = load({}, environ).sessions_dir
    names = _chosen(sessions, wanted, everything=everything)
    for name in names:
        _refuse_live(sessions, name)
    found = {name: _look(sessions, name) for name in names}
    if not as_json:
        _show(found, planned=True)
    if dry_run:
        return _answer(found, as_json=as_json)
    if not yes and not _agreed(len(names)):
        tell("nothing was removed")
        return ExitCode.USAGE
    done = {name: _remove(sessions, name) for name in names}
    if not as_json:
        _show(done, planned=False)
    return _answer(done, as_json=as_json)


def _chosen(sessions: Path, wanted: str | None, *, everything: bool) -> tuple[str, ...]:
    if everything:
        if wanted is not None:
            raise UserError("give either a session id or --all, not both")
        return list_sessions(sessions)
    if wanted is None:
        raise UserError("name the session to reset, or use --all; `tilth info` lists them")
    # A full id may be reset again even if nothing of it is left.
    return (wanted,) if SESSION_ID.fullmatch(wanted) else (find_session(sessions, wanted),)


def _refuse_live(sessions: Path, name: str) -> None:
    holder = lock_holder(sessions / name / "lock")
    if holder is not None:
        raise SessionBusy(f"session {name} is in use by process {holder}; stop it first")


def _workspace(sessions: Path, name: str) -> Workspace | None:
    """Find the repository a session worked on; every path and ref below it comes from the id."""
    source = _source(sessions, name)
    if source is None:
        return None
    return Workspace(source, sessions / name / "workspace", name, SystemClock())


def _source(sessions: Path, name: str) -> SourceRepo | None:
    candidates = [Path.cwd()]
    try:
        session = Session.look(sessions, name, clock=SystemClock(), mask=Mask())
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
        starts = (line for line in read_events(log) if line["type"] == "session_start")
        return [Path(line["payload"]["source"]) for line in starts][:1]
    except (UserError, KeyError, TypeError):
        return []


def _look(sessions: Path, name: str) -> tuple[Step, ...]:
    directory = sessions / name
    workspace = _workspace(sessions, name)
    steps = [Step("worktree", str(directory / "workspace"), (directory / "workspace").exists())]
    if workspace is None:
        where = f"{branch_of(name)} (its repository is not known: run this inside it)"
        steps.append(Step("branch", where, there=False))
    else:
        where = f"{workspace.branch} in {workspace.source.root}"
        steps.append(Step("branch", where, workspace.tip() is not None))
        steps += [Step("ref", ref, there=True) for ref in workspace.asides()]
    steps.append(Step("directory", str(directory), directory.exists()))
    return tuple(steps)


def _remove(sessions: Path, name: str) -> tuple[Step, ...]:
    steps = _look(sessions, name)
    directory = sessions / name
    workspace = _workspace(sessions, name)
    lock = Lock(directory / "lock")
    if directory.is_dir():
        lock.acquire()
    try:
        if workspace is not None:
            workspace.remove()
        if directory.exists():
            remove_tree(directory)
    except OSError as error:
        raise DiskError(f"cannot remove {error.filename}: {error.strerror}; run it again") from None
    finally:
        lock.release()
    return steps


def _agreed(count: int) -> bool:
    if count == 0:
        return True
    if not sys.stdin.isatty():
        raise UserError("not a terminal, so nobody can be asked; add --yes to remove all this")
    tell("Remove all this? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _show(found: dict[str, tuple[Step, ...]], *, planned: bool) -> None:
    if not found:
        tell("there is no session to reset")
    for name, steps in found.items():
        tell(f"session {name}")
        for step in steps:
            there = "will go" if planned else "removed"
            state = there if step.there else "already gone"
            tell(f"  {step.what:<10} {state:<13} {one_line(step.where)}")


def _answer(found: dict[str, tuple[Step, ...]], *, as_json: bool) -> int:
    if as_json:
        document = {
            name: [{"what": s.what, "where": s.where, "there": s.there} for s in steps]
            for name, steps in found.items()
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    return ExitCode.DONE
