"""`tilth replay`: from a session's log to the proof that it is true, on paper and in git."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from tilth.base.errors import UserError
from tilth.base.plain_file import open_plain
from tilth.base.safe_text import first_lines, inert, one_line
from tilth.config.secrets import conceal
from tilth.config.settings import SECRET_NAMES, Settings, load
from tilth.contract.outcomes import ExitCode
from tilth.log.verification import Difference, Suspect, Verification, verify
from tilth.replay.compare import Match, TaskReplay
from tilth.replay.recording import Landing, Recording
from tilth.sandbox.choose import refuse_unconfined
from tilth.session.catalog import open_to_look
from tilth.session.session import Session
from tilth.session.shown_mask import Masks
from tilth.show.notices import tell
from tilth.show.progress_line import progress_line

if TYPE_CHECKING:
    from tilth.replay.play import Played

_SHOWN_LINES = 20
_SHOWN_SUSPECTS = 8
_OWN_HASH = {True: ": changed, its own hash no longer fits", False: ": its own hash fits", None: ""}


def replay(
    wanted: str, *, verify_only: bool, environ: MutableMapping[str, str] = os.environ
) -> int:
    """Verify every request; then, unless told not to, play the session again and compare."""
    settings = load({}, environ)
    session = Masks(settings, environ).put_on(open_to_look(settings, wanted))
    _check_log(session.log_path)
    with progress_line("rebuilding every request", environ):
        found = verify(session.events())
    if not found.requests:
        raise UserError(f"session {session.id} holds no model call yet: there is nothing to replay")
    if not verify_only:
        instead = ", or use --verify-only, which runs nothing"
        refuse_unconfined(settings.sandbox, "a replay runs recorded commands", instead)
    _say(_verified(session.id, found))
    if verify_only:
        return _code(found.holds)
    return _code(_plays_out(session, settings, found, environ) and found.holds)


def _plays_out(
    session: Session, settings: Settings, found: Verification, environ: MutableMapping[str, str]
) -> bool:
    """Play the session again and tell whether every task came out as recorded."""
    # Heavy, and of no use to a verification alone.
    from tilth.replay.play import play_again

    recording = Recording(session.log_path)
    if not recording.attempts:
        _say(["no task was begun, so there is nothing to play again"])
        return True
    conceal(environ, SECRET_NAMES)
    suspects = found.first.suspects if found.first else ()
    accused = frozenset(suspect.seq for suspect in suspects)
    tell("playing it again, with the recorded answers and real tools, in a throwaway repository")
    with progress_line("playing it again", environ) as line:
        played = play_again(session, recording, settings, accused, line)
    _say(_retold(played, accused))
    return all(task.holds for task in played.tasks)


def _code(holds: bool) -> int:
    return ExitCode.DONE if holds else ExitCode.TASK_FAILED


def _check_log(path: Path) -> None:
    try:
        with open_plain(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            torn = file.read(1) not in (b"", b"\n")
    except OSError as error:
        raise UserError(f"{path}: the recording cannot be read: {error.strerror}") from None
    if torn:
        tell(f"note: the last line of {path} is torn; it was never acknowledged and is left out")


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _verified(name: str, found: Verification) -> Iterable[str]:
    roles = ", ".join(f"{role} {count}" for role, count in sorted(found.by_role.items()))
    yield f"{name}: {found.identical}/{found.requests} requests identical ({inert(roles)})"
    if found.first is not None:
        yield from _difference(found.first)


def _difference(first: Difference) -> Iterable[str]:
    where = ", ".join(
        part
        for part in (
            one_line(first.role),
            one_line(first.task_id or ""),
            f"iteration {first.iter}" if first.iter else "",
            f"event {first.seq}",
        )
        if part
    )
    what = f"request {first.number}" if first.number else "an event"
    yield f"first difference: {what} ({where}): {first.why}"
    if first.rebuilt:
        yield f"  recorded {one_line(first.recorded)}"
        yield f"  rebuilt  {first.rebuilt}"
    if first.suspects and not any(suspect.changed for suspect in first.suspects):
        yield "  it was identical up to the request before; since then it was given:"
    for suspect in first.suspects[:_SHOWN_SUSPECTS]:
        yield from _suspect(suspect)


def _suspect(suspect: Suspect) -> Iterable[str]:
    about = f" ({one_line(suspect.about)})" if suspect.about else ""
    yield f"  event {suspect.seq} {suspect.type}{about}{_OWN_HASH[suspect.changed]}"
    for line in first_lines(suspect.text, _SHOWN_LINES):
        yield f"    | {line}"


def _retold(played: Played, accused: Collection[int]) -> Iterable[str]:
    for task in played.tasks:
        yield from _task(task, played)
    for note in played.notes:
        yield f"note: {one_line(note)}"
    for change in played.changes:
        what = f"event {change.seq} ({one_line(change.task_id)}, {one_line(change.name)})"
        if change.seq in accused:
            yield f"{what} as the log has it, beside what it gives now:"
        else:
            yield f"for information, the first tool result that came out differently: {what}"
        yield from _diff(change.lines)


def _task(task: TaskReplay, played: Played) -> Iterable[str]:
    name = one_line(task.task_id)
    match task.match:
        case Match.EQUAL:
            landing = task.recorded
            which = f"{landing.tree[:12]} of commit {landing.commit[:12]}" if landing else ""
            yield f"{name}: equal, tree {which}"
        case Match.UNFINISHED:
            yield f"{name}: unfinished when the log ends; nothing was committed to compare"
        case Match.MISSING:
            yield f"{name}: differs, played again it was not committed"
        case Match.DIFFERS:
            recorded, again = _tree(task.recorded), _tree(task.again)
            yield f"{name}: differs, recorded tree {recorded}, played again {again}"
    if task.holds:
        return
    if task.divergence:
        yield f"  first divergence: {one_line(task.divergence)}"
    if task.interrupted:
        yield f"  {task.interrupted} interrupted call(s) were not run again: effect unknown"
    yield from _diff(played.diffs.get(task.task_id, "").splitlines())


def _tree(landing: Landing | None) -> str:
    return landing.tree[:12] if landing else "none"


def _diff(lines: Iterable[str]) -> Iterable[str]:
    text = "\n".join(lines)
    shown = first_lines(text, _SHOWN_LINES)
    for line in shown:
        yield f"    {line}"
    rest = len(text.splitlines()) - len(shown)
    if rest > 0:
        yield f"    … and {rest} more lines"
