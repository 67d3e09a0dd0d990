"""Reads seed tests as the interpreter that will run them does, without running them."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from tilth.base.errors import ToolError
from tilth.gate.export import Runtime, open_bare
from tilth.gate.in_target import seed_reading
from tilth.gate.interpreter import unable
from tilth.gate.pristine import SeedReading, read_here

_READINGS = TypeAdapter(dict[str, SeedReading])


def read_seeds(
    runtime: Runtime, files: Mapping[str, bytes], timeout_s: float
) -> dict[str, SeedReading]:
    """Read files; UserError if the interpreter cannot."""
    if str(runtime.python) == sys.executable or not files:
        return {name: read_here(content) for name, content in files.items()}
    with open_bare(runtime) as export:
        script, asked, answered = (export.root / name for name in ("read.py", "asked", "answered"))
        script.write_bytes(Path(seed_reading.__file__).read_bytes())
        packed = {name: base64.b64encode(content).decode() for name, content in files.items()}
        asked.write_text(json.dumps(packed))
        argv = (str(runtime.python), "-I", "-B", str(script), str(asked), str(answered))
        said = ""
        try:
            said = export.run(argv, timeout_s).output
            return _READINGS.validate_json(answered.read_bytes())
        except (ToolError, OSError, ValidationError) as error:
            raise unable(runtime.python, "read the tests", said or error) from error
