"""One pytest run in an export, believed only by its signed report.

Starts the report script in the target's interpreter and reads what it signed. What it means is
decided elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from tilth.errors import ToolError, UserError
from tilth.gate import gate_report
from tilth.gate.bay import Bay
from tilth.gate.overlay import place
from tilth.gate.passing import PytestRun
from tilth.gate.pytest_setup import PytestSetup
from tilth.sandbox import Finished

_MOST_REPORT_BYTES = 64 * 1024 * 1024
_COPY = "tilth-gate-pytest"


@dataclass(frozen=True)
class PytestEnd:
    """Hold how the process ended and the report it signed; None when there is none to believe."""

    finished: Finished
    run: PytestRun | None


def run_pytest(bay: Bay, tests: tuple[str, ...], setup: PytestSetup, timeout_s: float) -> PytestEnd:
    """Run the named test files; UserError if the interpreter cannot run pytest at all."""
    key = secrets.token_bytes(32)
    report = bay.root / "report"
    config = _place_config(bay, setup)
    request = {
        "key": key.hex(),
        "report": str(report),
        "root": str(bay.export),
        "stands_for": [str(path) for path in bay.ground.stands_for],
        "blocked": setup.blocked,
        "args": [*setup.options, *_own_options(bay, config), *tests],
    }
    asked = bay.root / "request.json"
    asked.write_text(json.dumps(request))
    script = bay.root / "gate_report.py"
    script.write_bytes(Path(gate_report.__file__).read_bytes())
    python = bay.ground.python
    try:
        finished = bay.run((str(python), "-I", "-B", str(script), str(asked)), timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: set TILTH_PYTHON to the project's Python") from error
    return PytestEnd(finished, _believed(report, key, bay))


def _own_options(bay: Bay, config: str) -> tuple[str, ...]:
    return (
        f"-c{config}",
        f"--rootdir={bay.export}",
        "-oaddopts=",
        "-orequired_plugins=",
        f"-ocache_dir={bay.root / 'cache'}",
        f"--basetemp={bay.root / 't'}",
        "--continue-on-collection-errors",
        "--color=no",
        "--no-header",
        "--tb=short",
    )


def _place_config(bay: Bay, setup: PytestSetup) -> str:
    """Put the base's configuration where pytest reads it, with its relative paths intact."""
    if setup.config is None or setup.content is None:
        name = f"{_COPY}.ini"
        place(bay.export, name, b"[pytest]\n")
        return name
    path = PurePosixPath(setup.config)
    # A file that is pytest's alone keeps its name, by which older versions know how to read it.
    shared = path.name in ("pyproject.toml", "tox.ini", "setup.cfg")
    name = str(path.with_name(f"{_COPY}{path.suffix}")) if shared else str(path)
    place(bay.export, name, setup.content)
    return name


def _believed(report: Path, key: bytes, bay: Bay) -> PytestRun | None:
    content = _read(report)
    body, _, seal = content.rstrip(b"\n").rpartition(b"\n")
    wanted = hmac.new(key, body, hashlib.sha256).hexdigest().encode()
    if not hmac.compare_digest(seal, wanted):
        return None
    python = bay.ground.python
    record = json.loads(bay.homely(body.decode()))
    if "missing" in record:
        raise UserError(
            f"{python} has no pytest ({record['missing']}): "
            "install pytest in that environment or set TILTH_PYTHON"
        )
    try:
        return PytestRun.model_validate(record)
    except ValidationError as error:
        raise UserError(f"{python} runs a pytest whose report cannot be read: {error}") from error


def _read(path: Path) -> bytes:
    """Read a file that hostile code could have put there: never a link, a pipe or a flood."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_REPORT_BYTES:
            return b""
        return file.read()
