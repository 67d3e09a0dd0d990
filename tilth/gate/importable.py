"""Asks the interpreter that runs the tests which names it can import without the project."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tilth.base.errors import ToolError
from tilth.gate.export import Runtime, open_bare
from tilth.gate.in_target import importable
from tilth.gate.interpreter import unable
from tilth.gate.shadowing import Importable


def read_importable(runtime: Runtime, timeout_s: float) -> Importable:
    """Have the names; UserError if the interpreter cannot say them."""
    with open_bare(runtime) as export:
        script, answered = export.root / "importable.py", export.root / "answered"
        script.write_bytes(Path(importable.__file__).read_bytes())
        argv = (str(runtime.python), "-I", "-B", str(script), str(answered))
        said = ""
        try:
            said = export.run(argv, timeout_s).output
            return Importable.model_validate_json(answered.read_bytes())
        except (ToolError, OSError, ValidationError) as error:
            raise unable(runtime.python, "say what it can import", said or error) from error
