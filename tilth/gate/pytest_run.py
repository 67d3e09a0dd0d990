"""One pytest run in an export, and the report it left.

What it means, and whether it is believed, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from tilth.base.errors import ToolError, UserError
from tilth.gate.export import Export
from tilth.gate.overlay import place
from tilth.gate.passing import PytestRun
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.seed_files import read_seeds
from tilth.gate.target import ask
from tilth.sandbox.confinement import Finished

_NO_CONFIG = "tilth-gate-pytest.ini"


class NoPytest(UserError):
    """Say that an interpreter has no pytest."""


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
    request = {
        "root": str(export.path),
        "stands_for": [str(path) for path in export.runtime.stands_for],
        "expected": expected or {},
        "test_s": test_s,
        "watched": watched,
        "selects": setup.selects,
        "blocked": setup.blocked,
        "args": [*setup.options, *_own_options(export, setup), *tests],
    }
    python = export.runtime.python
    texts = {path: export.path / path for path in tests if path.endswith(".py")}
    files = {path: file.read_bytes() for path, file in texts.items() if file.is_file()}
    seeds = {} if expected else read_seeds(export.runtime, files, timeout_s)
    try:
        finished, found = ask(export, "run", request, timeout_s)
        run = PytestRun.model_validate({**found, "seeds": seeds})
    except ToolError as error:
        raise UserError(f"{error}: set TILTH_PYTHON to the project's Python") from error
    except (TypeError, ValidationError):
        run = None
    if run is not None and run.missing:
        raise NoPytest(
            f"{python} has no pytest ({run.missing}): "
            "install pytest in that environment or set TILTH_PYTHON"
        )
    return PytestEnd(finished, run)


def _own_options(export: Export, setup: PytestSetup) -> tuple[str, ...]:
    if setup.config is None:
        place(export.path, _NO_CONFIG, b"[pytest]\n")
    return (
        f"-c{setup.config or _NO_CONFIG}",
        f"--rootdir={export.path}",
        "-oaddopts=",
        "-orequired_plugins=",
        f"--basetemp={export.root / 't'}",
        "--continue-on-collection-errors",
        "--maxfail=0",
        "--color=no",
        "--no-header",
        "--tb=short",
    )
