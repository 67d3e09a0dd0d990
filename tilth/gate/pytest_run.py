"""One pytest run in an export, and the report it left.

Starts the modules of `in_target` in the target's interpreter and reads what they wrote. What it
means, and whether it is believed, is decided elsewhere.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import marshal
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tilth.base.errors import ToolError, UserError
from tilth.gate import in_target
from tilth.gate.export import Export
from tilth.gate.overlay import place
from tilth.gate.passing import PytestRun
from tilth.gate.pytest_config import PytestSetup
from tilth.sandbox.confinement import Finished

_MOST_REPORT_BYTES = 64 * 1024 * 1024
_COPY = "tilth-gate-pytest"
PACKAGE = "tilth_gate_in_target"
# A process that a test spawns imports this again, under another name: it must find nothing to do.
_START = f"""\
if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import importlib

    main = importlib.import_module("{PACKAGE}." + sys.argv.pop(1)).main
    del sys.path[0]
    main()
"""


@dataclass(frozen=True)
class PytestEnd:
    """Hold how the process ended and the report it wrote; None when there is none."""

    finished: Finished
    run: PytestRun | None


def run_pytest(
    export: Export,
    tests: tuple[str, ...],
    setup: PytestSetup,
    timeout_s: float,
    *,
    expected: Mapping[str, object] | None = None,
    test_s: float | None = None,
    watched: bool = False,
) -> PytestEnd:
    """Run the named test files; UserError if the interpreter cannot run pytest at all.

    `expected` are the values of expectations that stand in the files as looks into a table. A test
    that takes longer than `test_s` is red. `watched` is a run that tells who read which file.
    """
    report = export.root / f"report-{secrets.token_hex(4)}"
    config = _place_config(export, setup)
    request = {
        "report": str(report),
        "root": str(export.path),
        "stands_for": [str(path) for path in export.runtime.stands_for],
        "seeds": [path for path in tests if path.endswith(".py")],
        "expected": expected,
        "test_s": test_s,
        "watched": watched,
        "blocked": setup.blocked,
        "args": [*setup.options, *_own_options(export, config), *tests],
    }
    asked = export.root / "request.json"
    asked.write_text(json.dumps(request))
    start = lay_out_modules(export.root)
    python = export.runtime.python
    try:
        finished = export.run((str(python), "-I", "-B", str(start), "run", str(asked)), timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: set TILTH_PYTHON to the project's Python") from error
    return PytestEnd(finished, _reported(report, export))


def lay_out_modules(root: Path) -> Path:
    """Put the modules of `in_target` where the target's interpreter finds them, and their start."""
    package = root / "gate" / PACKAGE
    if not package.is_dir():
        for name, content in _modules().items():
            file = package / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    start = root / "gate" / "start.py"
    start.write_text(_START)
    return start


@functools.cache
def _modules() -> dict[str, bytes]:
    """Give the modules by file name, also compiled: an interpreter like ours need not do it again.

    Another one looks for files of another name, or refuses these by their first bytes.
    """
    files: dict[str, bytes] = {}
    for module in sorted(Path(in_target.__file__).parent.glob("*.py")):
        source = module.read_bytes()
        files[module.name] = source
        # Where it is looked for if nobody sets another place: the target's environment does not.
        cached = f"__pycache__/{module.stem}.{sys.implementation.cache_tag}.pyc"
        files[cached] = _compiled(source, module.name)
    return files


def _compiled(source: bytes, name: str) -> bytes:
    """Compile a module into a file that is taken without a look at its source."""
    unchecked = (0b01).to_bytes(4, "little") + importlib.util.source_hash(source)
    code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    return importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code)


def _own_options(export: Export, config: str) -> tuple[str, ...]:
    return (
        f"-c{config}",
        f"--rootdir={export.path}",
        "-oaddopts=",
        "-orequired_plugins=",
        f"-ocache_dir={export.root / 'cache'}",
        f"--basetemp={export.root / 't'}",
        "--continue-on-collection-errors",
        "--color=no",
        "--no-header",
        "--tb=short",
    )


def _place_config(export: Export, setup: PytestSetup) -> str:
    """Put the base's configuration where pytest reads it, with its relative paths intact."""
    if setup.config is None or setup.content is None:
        name = f"{_COPY}.ini"
        place(export.path, name, b"[pytest]\n")
        return name
    path = PurePosixPath(setup.config)
    # A file that is pytest's alone keeps its name, by which older versions know how to read it.
    shared = path.name in ("pyproject.toml", "tox.ini", "setup.cfg")
    name = str(path.with_name(f"{_COPY}{path.suffix}")) if shared else str(path)
    place(export.path, name, setup.content)
    return name


def _reported(report: Path, export: Export) -> PytestRun | None:
    python = export.runtime.python
    try:
        record = json.loads(export.named_plainly(_read(report).decode()))
        missing = record.get("missing")
        run = None if missing else PytestRun.model_validate(record)
    except (ValueError, AttributeError, RecursionError):
        # None was written, or by whoever runs in that process.
        return None
    if run is None:
        raise UserError(
            f"{python} has no pytest ({missing}): "
            "install pytest in that environment or set TILTH_PYTHON"
        )
    return run


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
