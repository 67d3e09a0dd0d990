"""`tilth reset`: what will go is shown and asked about, then what went is said."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import MutableMapping, Sequence

from tilth.base.errors import UserError
from tilth.base.safe_text import one_line
from tilth.config.settings import load
from tilth.contract.outcomes import ExitCode
from tilth.session.reset import Step, choose, is_last_copy, look, remove
from tilth.show.notices import after_the_fact, tell


def reset(
    wanted: str | None,
    *,
    yes: bool,
    dry_run: bool,
    everything: bool,
    discard: bool = False,
    as_json: bool = False,
    environ: MutableMapping[str, str] = os.environ,
) -> int:
    """Show what will go, ask, and take it away."""
    sessions = load({}, environ).sessions_dir
    names = choose(sessions, wanted, everything=everything)
    found = {name: look(sessions, name) for name in names}
    if not as_json:
        _show(found, planned=True)
    if dry_run or not found:
        return _answer(found, as_json=as_json)
    lost = [name for name, steps in found.items() if is_last_copy(steps)]
    if yes and lost and not discard:
        raise UserError(_last_copy(lost))
    if not yes and not _agreed(word="discard" if lost and not discard else "y"):
        tell("nothing was removed")
        return ExitCode.USAGE
    done = {name: remove(sessions, name) for name in names}
    if not as_json:
        _show(done, planned=False)
    with after_the_fact():
        _answer(done, as_json=as_json)
    return ExitCode.DONE


def _last_copy(names: Sequence[str]) -> str:
    first = names[0]
    return (
        f"accepted work of session {', '.join(names)} stands on no other branch: bring it home "
        f"with `tilth take {first}`, or add --discard to lose it"
    )


def _agreed(*, word: str) -> bool:
    if not sys.stdin.isatty():
        raise UserError("not a terminal, so nobody can be asked; add --yes to remove all this")
    if word == "discard":
        tell("Accepted work above stands on no other branch. Type `discard` to lose it:")
        return sys.stdin.readline().strip().lower() == word
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
        sys.stdout.write(json.dumps(document, ensure_ascii=True) + "\n")
    return ExitCode.DONE
