"""`tilth demo`: a whole run on a small project, played from the recording that ships with Tilth.

It takes nothing from the user's settings but the place of Tilth's home, below which everything it
makes stands: `demo/last`, replaced by the next demo, or with `--keep` a directory of its own.
"""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import CorruptSession, UserError
from tilth.base.interrupt import Interrupt
from tilth.base.values import canonical
from tilth.config.secrets import conceal
from tilth.config.settings import SECRET_NAMES, SandboxChoice, load
from tilth.config.sources import home_of
from tilth.contract.outcomes import ExitCode
from tilth.demo.material import lay_out_bundle, lay_out_project, recording_path
from tilth.git.command import writing
from tilth.git.merging import require_merging
from tilth.git.worktree import delete
from tilth.log.reader import read_events
from tilth.log.state import SessionState
from tilth.log.verification import verify
from tilth.model.messages import Turn
from tilth.model.recorded import Script
from tilth.replay.play import recorded_models, recorded_settings
from tilth.replay.recording import Recording
from tilth.sandbox.choose import open_wall
from tilth.session.bundle import PRD_NAME, read_bundle
from tilth.session.parts import open_parts, read_facts
from tilth.session.run import run_session
from tilth.session.session import Session, session_id
from tilth.session.start import create
from tilth.session.store import Lock, make_private
from tilth.show.notices import tell
from tilth.show.program import program
from tilth.show.terminal import terminal
from tilth.task.budget import CAP_SETTINGS
from tilth.task.ending import Ending

OPENING = """\
A demo: an agent adds two features to a small project while nobody watches.
What the models say comes from a recording, so it needs no key and no network;
everything else happens for real. A worker model writes code, a gate runs ruff
and the tests, and a second model, the evaluator, judges what passed. Only what
it accepts is committed, on a branch of its own.
"""
_LANES_OPENING = """\
A demo of {jobs} jobs: ten tasks on a small project, worked on side by side. What the
models say comes from a recording, so it needs no key and no network; the rest
is real. Each task has a worktree of its own. What is accepted lands in the
order of one job, merged onto what has landed before it and tested there; two
of the ten collide, and one of them has to settle it.
"""
_SEEN = (
    "In T-001 the gate ran a test that the worker had not, and sent the work back.",
    "In T-002 every test passed, and the evaluator still found the Sunday nobody had tested.",
)
_LANES_SEEN = (
    "T-003 was accepted, but collided with T-002 where both export a name.",
    "Its worker was given both and settled it; ten commits stand in order.",
)
_SHORTEST_PAUSE_S = 0.7
_LONGEST_PAUSE_S = 2.0
_READ_A_SECOND = 700


@dataclass(frozen=True)
class Stage:
    """Hold where a demo is played and how its commands are confined there."""

    place: Path
    sandbox: SandboxChoice
    environ: Mapping[str, str]
    jobs: int = 1
    python: Path | None = None

    def settings(self) -> dict[str, str]:
        """Give what stands for this machine's own in the settings of the recording."""
        own = {"TILTH_SANDBOX": str(self.sandbox), "TILTH_JOBS": str(self.jobs)}
        return own if self.python is None else {**own, "TILTH_PYTHON": str(self.python)}


def demonstrate(
    *,
    keep: bool,
    fast: bool,
    jobs: str | None = None,
    environ: MutableMapping[str, str] = os.environ,
    sandbox: SandboxChoice | None = None,
    python: Path | None = None,
) -> int:
    """Build the project, play the recording on it, and say what to type next.

    Sandbox and interpreter are those found here, unless they are given.
    """
    conceal(environ, SECRET_NAMES)
    demos = home_of(environ) / "demo"
    # Read as a setting is, but with no file of the user's beside it.
    count = load({} if jobs is None else {"jobs": jobs}, {"TILTH_HOME": str(demos)}).jobs
    if count > 1:
        require_merging()
    recording = _recording(lanes=count > 1)
    with writing(demos):
        make_private(demos)
    place = _place(demos, keep=keep)
    stage = Stage(place, sandbox or _sandbox(), environ, count, python)
    with Lock(demos / "lock"):
        delete(stage.place)
        tell(OPENING if count == 1 else _LANES_OPENING.format(jobs=count))
        session, ending = _perform(stage, recording, fast=fast)
    if ending.exit_code == ExitCode.INTERRUPTED:
        return ending.exit_code
    if ending.exit_code != ExitCode.DONE:
        raise UserError(f"the demo did not end as recorded: {ending.detail}; see `tilth doctor`")
    sys.stdout.write("\n".join(_closing(stage, session)) + "\n")
    sys.stdout.flush()
    return ExitCode.DONE


def _recording(*, lanes: bool) -> Recording:
    """Open the shipped recording, whole and true, or say that the installation is at fault."""
    path = recording_path(lanes=lanes)
    try:
        recording = Recording(path)
        holds = path.read_bytes().endswith(b"\n") and verify(read_events(path)).holds
    except CorruptSession as error:
        raise UserError(f"{error}; install Tilth again") from None
    if not holds or not recording.starts:
        raise UserError(f"{path}: the demo's recording is damaged; install Tilth again")
    return recording


def _place(demos: Path, *, keep: bool) -> Path:
    if not keep:
        return demos / "last"
    return demos / session_id(SystemClock().now(), secrets.token_hex(3))


def _sandbox() -> SandboxChoice:
    try:
        with open_wall(SandboxChoice.AUTO):
            return SandboxChoice.AUTO
    except UserError as error:
        tell(f"note: {error}")
        tell("note: this demo plays a recording that ships with Tilth, so it runs without one")
        return SandboxChoice.OFF


def _perform(stage: Stage, recording: Recording, *, fast: bool) -> tuple[Session, Ending]:
    source = lay_out_project(stage.place / "invoices")
    folder = "lanes" if stage.jobs > 1 else "bundle"
    bundle = read_bundle(lay_out_bundle(stage.place / "bundle", folder) / PRD_NAME)
    start = recording.starts[0]
    caps = {name: start.settings[name] for name in CAP_SETTINGS.values() if name in start.settings}
    settings = recorded_settings(
        start,
        recording.opening,
        stage.place,
        **stage.settings(),
        **caps,
    )
    script = Script(recording)
    frontend = replace(terminal(advises=False), sinks=(script,))
    pause = _pace(frontend.interrupt, fast=fast)
    facts = read_facts(source, source.head)
    with open_parts(settings, source, facts, frontend) as parts:
        parts = replace(parts, open_models=recorded_models(script, pause))
        session = create(parts, bundle)
        return session, run_session(parts, session, SessionState())


def _pace(interrupt: Interrupt, *, fast: bool) -> Callable[[Turn], None]:
    """Wait before an answer as long as it takes to follow, but no longer."""

    def pause(turn: Turn) -> None:
        if not fast:
            spoken = len(canonical(list(turn.content))) / _READ_A_SECOND
            interrupt.sleep(min(_SHORTEST_PAUSE_S + spoken, _LONGEST_PAUSE_S))

    return pause


def _closing(stage: Stage, session: Session) -> Iterator[str]:
    """Say what was seen and which commands show more of it; each can be typed as it stands."""
    yield ""
    yield "That was a recording; git, ruff, pytest and the loop around them were real."
    if stage.jobs > 1:
        yield from _LANES_SEEN
    else:
        yield from _SEEN
    yield ""
    yield "Look at what it left:"
    for about, command in _commands(stage, session):
        yield f"  # {about}"
        yield f"  {command}"


def _commands(stage: Stage, session: Session) -> Iterator[tuple[str, str]]:
    repo = _shown(stage.place / "invoices", stage.environ)
    tilth = f"TILTH_HOME={_shown(stage.place, stage.environ)} {program()}"
    if stage.environ.get("TILTH_SESSIONS_DIR"):
        tilth = f"TILTH_SESSIONS_DIR={_shown(stage.place / 'sessions', stage.environ)} {tilth}"
    # By its id: `latest` is of the repository one stands in.
    name = session.id
    only = "" if stage.sandbox is not SandboxChoice.OFF else " --verify-only"
    yield (
        "the commits, on a branch of their own",
        f"git -C {repo} log --stat main..{session.checkpoint.branch}",
    )
    collided = "the task whose landing was refused", f"{tilth} show {name} T-003"
    rejected = "the verdicts on the task that was rejected", f"{tilth} show {name} T-002"
    yield collided if stage.jobs > 1 else rejected
    report = session.directory / "report.md"
    if report.exists():
        yield "the report of the run", f"cat {_shown(report, stage.environ)}"
    yield "the tasks, what they cost and how they ended", f"{tilth} info {name}"
    yield "all of it in the browser", f"{tilth} visualize {name}"
    yield "the proof that the log is true", f"{tilth} replay {name}{only}"


def _shown(path: Path, environ: Mapping[str, str]) -> str:
    """Write a path for a shell, short where it is below the user's home."""
    home = environ.get("HOME", "")
    text = shlex.quote(str(path))
    if os.path.isabs(home) and path.is_relative_to(home) and text == str(path):
        return f"~/{path.relative_to(home)}"
    return text
