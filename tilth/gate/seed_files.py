"""Reads test files as the interpreter that will run them does, without running them."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Mapping
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from tilth.base.errors import ToolError
from tilth.gate.challenge import Expectations
from tilth.gate.export import Runtime, open_bare
from tilth.gate.in_target import expectations, seed_reading
from tilth.gate.pristine import SeedReading, read_here
from tilth.gate.pytest_run import lay_out_modules

_Read = TypeVar("_Read")
_READINGS = TypeAdapter(dict[str, SeedReading])


def read_seeds(
    runtime: Runtime, files: Mapping[str, bytes], timeout_s: float
) -> dict[str, SeedReading]:
    """Read what tests the files hold; UserError if the interpreter cannot."""
    if str(runtime.python) == sys.executable or not files:
        return {name: read_here(content) for name, content in files.items()}
    return _asked(runtime, seed_reading.__name__, files, timeout_s, _READINGS.validate_json)


def read_expectations(
    runtime: Runtime, files: Mapping[str, bytes], timeout_s: float
) -> Expectations:
    """Read what the tests of files expect; UserError if the interpreter cannot."""
    if str(runtime.python) == sys.executable or not files:
        return Expectations.model_validate(expectations.read(dict(files)))
    return _asked(
        runtime, expectations.__name__, files, timeout_s, Expectations.model_validate_json
    )


def _asked(
    runtime: Runtime,
    module: str,
    files: Mapping[str, bytes],
    timeout_s: float,
    parse: Callable[[bytes], _Read],
) -> _Read:
    with open_bare(runtime) as export:
        asked, answered = export.root / "asked", export.root / "answered"
        start = lay_out_modules(export.root)
        packed = {name: base64.b64encode(content).decode() for name, content in files.items()}
        asked.write_text(json.dumps(packed))
        name = module.rpartition(".")[2]
        argv = (str(runtime.python), "-I", "-B", str(start), name, str(asked), str(answered))
        said = ""
        try:
            said = export.run(argv, timeout_s).output
            return parse(answered.read_bytes())
        except (ToolError, OSError, ValidationError) as error:
            raise runtime.unable("read the tests", said or error) from error
