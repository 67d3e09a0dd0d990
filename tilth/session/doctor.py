"""The doctor: what Tilth needs on this machine, checked one by one, each with its fix.

It changes nothing and never stops at the first trouble: what cannot be checked is a finding too.
Nothing is sent anywhere unless it is asked to try the endpoints.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tilth.base.errors import TilthError, ToolError, UserError
from tilth.config.secrets import Mask
from tilth.config.settings import SandboxChoice, Settings, known_secrets, load
from tilth.git.command import OLDEST_GIT, base_environment, execute
from tilth.git.source import open_source
from tilth.model.messages import Role
from tilth.model.reviewers import is_same_model, read_reviewers
from tilth.session.carry import find, wish_of
from tilth.session.catalog import holder_of, list_sessions
from tilth.session.doctor_check import Check, Grade
from tilth.session.lost_log import LostLog, require_log, statuses
from tilth.session.measured import newest
from tilth.session.parts import read_facts
from tilth.session.programs import answer_of, said_by
from tilth.session.session import Session, SessionStatus
from tilth.show.project_lines import carried_line
from tilth.tools import find_ruff

OLDEST_PYTHON = (3, 11)
WARN_BELOW_BYTES = 1_000_000_000
FAIL_BELOW_BYTES = 100_000_000


def examine(
    environ: Mapping[str, str], *, online: bool = False, notify: bool = False
) -> tuple[Check, ...]:
    """Check everything; `online` tries each endpoint, `notify` sends you a word."""
    checks = [*_programs(environ)]
    try:
        settings = load({}, environ)
    except UserError as error:
        checks += [
            Check("settings", Grade.FAIL, line, "correct it, see `.env.example`")
            for line in str(error).splitlines()
        ]
        return tuple(checks)
    checks += _settings(settings, environ)
    checks += _python_for_tests(settings, environ)
    checks.append(_sandbox(settings))
    checks += _ground(settings)
    checks += _sessions(settings)
    checks += _carried(settings)
    checks += _models(settings)
    checks += _telemetry(environ)
    if online:
        from tilth.session.endpoint_checks import endpoint_checks

        checks += endpoint_checks(settings)
    if notify:
        checks += _notifications(settings, environ)
    return tuple(checks)


def _programs(environ: Mapping[str, str]) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    fine = sys.version_info >= OLDEST_PYTHON
    newer = "install Python 3.11 or newer and Tilth with it"
    yield Check("python", Grade.PASS if fine else Grade.FAIL, version, "" if fine else newer)
    yield _git()
    yield _ruff(environ)


def _git() -> Check:
    fix = f"install git {OLDEST_GIT} or newer"
    try:
        done = execute(["--version"], base_environment(), Path("/"))
    except TilthError as error:
        return Check("git", Grade.FAIL, str(error), fix)
    said = done.stdout.decode("utf-8", "replace").strip()
    return grade_git(said)


def grade_git(said: str) -> Check:
    """Judge what `git --version` printed."""
    fix = f"install git {OLDEST_GIT} or newer"
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers is None:
        return Check("git", Grade.FAIL, f"its version cannot be read: {said!r}", fix)
    version = (int(numbers[1]), int(numbers[2]))
    oldest = tuple(int(part) for part in OLDEST_GIT.split("."))
    if version < oldest:
        return Check("git", Grade.FAIL, f"{said} is too old", fix)
    return Check("git", Grade.PASS, said.removeprefix("git version "))


def _ruff(environ: Mapping[str, str]) -> Check:
    found = find_ruff()
    if found is None:
        return Check("ruff", Grade.FAIL, "it did not come with Tilth", "install Tilth again")
    try:
        said = said_by((str(found), "--version"), environ)
    except ToolError as error:
        return Check("ruff", Grade.FAIL, str(error), "install Tilth again")
    return Check("ruff", Grade.PASS, said.removeprefix("ruff "))


def _python_for_tests(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Try the interpreter that is set, else Tilth's own; a project's own is not started here."""
    python = settings.python or Path(sys.executable)
    whose = "TILTH_PYTHON" if settings.python else "Tilth's own Python"
    question = "import pytest; print(pytest.__version__)"
    fix = f"install pytest for {python}, or point TILTH_PYTHON at one that has it"
    try:
        said = answer_of(python, question, environ)
    except ToolError as error:
        yield Check("pytest", Grade.FAIL, f"{whose}: {error}", fix)
    else:
        yield Check("pytest", Grade.PASS, f"{said}, in {whose}")


def _settings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    path = settings.env_file
    if path.is_file():
        yield Check("settings", Grade.PASS, f"read from {path} and the environment")
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield Check("settings", Grade.WARN, f"others can read {path}", f"chmod 600 {path}")
    else:
        yield Check("settings", Grade.PASS, "read from the environment; `tilth init` writes a file")
    for line in settings.unknown:
        yield Check("settings", Grade.WARN, line, "correct the name or take it out")
    try:
        read_reviewers(settings, environ)
    except UserError as error:
        for line in str(error).splitlines():
            yield Check("settings", Grade.FAIL, line, "correct the file")


def _carried(settings: Settings) -> Iterator[Check]:
    """Say what a run in the repository one stands in would be given of what git ignores."""
    try:
        source = open_source(Path.cwd())
        wish = wish_of(settings, read_facts(source, source.head), source, source.head)
        found = find(source, source.root, source.head, wish) if wish else None
    except TilthError:
        return  # No repository, or one without a commit: nothing would be carried.
    if found is None or not found.sizes:
        yield Check("carry", Grade.PASS, "no file that git ignores is carried")
        return
    yield Check("carry", Grade.PASS, carried_line(tuple(found.sizes), sum(found.sizes.values())))


def _sandbox(settings: Settings) -> Check:
    from tilth.sandbox.choose import open_wall
    from tilth.sandbox.describe import describe

    if settings.sandbox is SandboxChoice.OFF:
        found = "OFF: what a model runs has your rights, your files and your network"
        return Check("sandbox", Grade.WARN, found, "unset TILTH_SANDBOX unless in a container")
    try:
        with open_wall(settings.sandbox) as wall:
            return Check("sandbox", Grade.PASS, describe(wall)[0])
    except UserError as error:
        return Check("sandbox", Grade.FAIL, error.problem, error.fix)


def _ground(settings: Settings) -> Iterator[Check]:
    """Look at the place where sessions live, or will live once there is one."""
    wanted = settings.sessions_dir
    place = next(path for path in (wanted, *wanted.parents) if os.path.lexists(path))
    move = "fix its access, or set TILTH_SESSIONS_DIR to another place"
    if not place.is_dir():
        yield Check("sessions", Grade.FAIL, f"{place} is not a directory", move)
        return
    if not os.access(place, os.W_OK | os.X_OK):
        yield Check("sessions", Grade.FAIL, f"{place} cannot be written", move)
    else:
        later = "" if place == wanted else " (made when it is needed)"
        yield Check("sessions", Grade.PASS, f"{wanted} is writable{later}")
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        yield Check("disk", Grade.WARN, f"free space at {place} is unknown: {error.strerror}")
    else:
        yield grade_disk(free, place)


def grade_disk(free: int, place: Path) -> Check:
    """Judge how much room there is for sessions."""
    found = f"{free / 1e9:.1f} GB free at {place}"
    fix = "free some space, or set TILTH_SESSIONS_DIR to a larger disk"
    if free < FAIL_BELOW_BYTES:
        return Check("disk", Grade.FAIL, f"{free / 1e6:.0f} MB free at {place}", fix)
    if free < WARN_BELOW_BYTES:
        return Check("disk", Grade.WARN, found, fix)
    return Check("disk", Grade.PASS, found)


def _sessions(settings: Settings) -> Iterator[Check]:
    for name in list_sessions(settings.sessions_dir):
        session = Session.look(settings.sessions_dir, name)
        try:
            status = session.checkpoint.status
            if status is not SessionStatus.INTERVIEWING:
                session.plan  # noqa: B018  # read for what it may raise
            require_log(session.log_path, session.checkpoint, statuses(session))
        except LostLog as error:
            yield Check("session", Grade.WARN, error.problem, error.fix)
            continue
        except UserError as error:
            mend = f"`tilth resume {name}` mends what can be mended"
            yield Check("session", Grade.WARN, error.problem, mend)
            continue
        if status is SessionStatus.RUNNING and holder_of(session) is None:
            found = f"{name} was interrupted and nobody works on it"
            yield Check("session", Grade.WARN, found, f"`tilth resume {name}` goes on with it")


def _models(settings: Settings) -> Iterator[Check]:
    where = f"in the environment or in {settings.env_file}"
    if settings.api_key is None:
        fix = f"set TILTH_API_KEY {where}"
        yield Check("key", Grade.WARN, "no key is set; a run needs one", fix)
    else:
        yield Check("key", Grade.PASS, "set")
    worker, evaluator = settings.endpoint(Role.WORKER), settings.endpoint(Role.EVALUATOR)
    if settings.worker_model is None:
        fix = f"set TILTH_WORKER_MODEL {where}"
        yield Check("model", Grade.WARN, "no worker model is set; a run needs one", fix)
    else:
        yield Check("model", Grade.PASS, f"worker {settings.worker_model}")
    if not settings.evaluate:
        fix = "unset TILTH_EVALUATE"
        yield Check("evaluator", Grade.WARN, "off: validators alone decide", fix)
    elif worker is not None and evaluator is not None:
        if is_same_model(evaluator, worker):
            found = "the worker's own model on its own endpoint: a weaker second look"
            yield Check("evaluator", Grade.WARN, found, "set TILTH_EVALUATOR_MODEL to another")
        else:
            yield Check("evaluator", Grade.PASS, evaluator.model)
        yield _measured(settings, evaluator.model)


def _measured(settings: Settings, model: str) -> Check:
    """Say how often the evaluator is known to be wrong."""
    known = newest(settings, model)
    if known is not None:
        return Check("measured", Grade.PASS, f"{model}: {known.figure}, {known.ts[:10]}")
    found = f"{model} was never measured with these prompts: how often it errs is not known"
    return Check("measured", Grade.WARN, found, "measure it with `tilth eval-check`")


def _telemetry(environ: Mapping[str, str]) -> Iterator[Check]:
    """Look whether what the environment asks for is installed; nothing is sent."""
    from tilth.session.telemetry import WantedExporters

    wanted = WantedExporters.by(environ)
    if wanted is None:
        return
    missing = wanted.missing()
    if missing:
        said = f"no exporter named {', '.join(missing)} is installed"
        yield Check("telemetry", Grade.WARN, said, "install `tilth[otel]`, or that exporter")
    else:
        yield Check("telemetry", Grade.PASS, ", ".join(wanted.exporters))


def _notifications(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Send one word to every channel."""
    from tilth.session.notify import Notice, NoticeKind, channels, try_channel

    mask = Mask(known_secrets(settings))
    word = Notice(
        kind=NoticeKind.TEST, session="", text="This is a test: word from Tilth reaches you."
    )
    found = channels(settings, environ)
    if not found:
        fix = "set TILTH_NOTIFY or TILTH_NOTIFY_COMMAND"
        yield Check("notify", Grade.WARN, "nobody is told how a run ends", fix)
    for channel in found:
        error = try_channel(channel, word)
        if error is None:
            yield Check("notify", Grade.PASS, f"{channel.name}: sent")
        else:
            said, fix = f"{channel.name}: {mask.known(error)}", "correct the setting"
            yield Check("notify", Grade.FAIL, said, fix)
