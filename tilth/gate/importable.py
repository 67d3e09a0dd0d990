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
        script = export.root / "importable.py"
        script.write_bytes(Path(importable.__file__).read_bytes())
        said = ""
        try:
            said = export.run((str(runtime.python), "-I", "-B", str(script)), timeout_s).output
            return Importable.model_validate_json(said)
        except ToolError as error:
            raise unable(runtime.python, "say what it can import", error) from error
        except ValidationError as error:
            why = said or "it printed nothing"
            raise unable(runtime.python, "say what it can import", why) from error
