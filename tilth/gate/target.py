"""Asks a module of `in_target` in the target's interpreter, and reads what it answers.

What the answer means, and whether it is believed, is decided elsewhere.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tilth.base.plain_file import read_inside
from tilth.gate import in_target
from tilth.gate.export import Export
from tilth.sandbox.confinement import Finished

_MOST_BYTES = 64 * 1024 * 1024
PACKAGE = "tilth_gate_in_target"


def ask(export: Export, module: str, request: object, timeout_s: float) -> tuple[Finished, Any]:
    """Start a process that answers a request, in an export; None stands for no answer."""
    place = lay_out_modules(export.root)
    asked, answered = place / "asked", place / "answered"
    asked.write_text(json.dumps(request))
    answered.unlink(missing_ok=True)
    start = place / PACKAGE / "start.py"
    python = str(export.runtime.python)
    argv = (python, "-I", "-B", str(start), module, str(asked), str(answered))
    finished = export.run(argv, timeout_s)
    try:
        text = read_inside(export.root, answered, _MOST_BYTES).decode()
        return finished, json.loads(export.named_plainly(text))
    except (OSError, ValueError, RecursionError):
        # None was written, or by whoever runs in that process.
        return finished, None


def lay_out_modules(root: Path) -> Path:
    """Put the modules where the target's interpreter finds them, and say where that is."""
    place = root / "gate"
    # What is compiled comes along, for an interpreter like ours.
    shutil.copytree(Path(in_target.__file__).parent, place / PACKAGE, dirs_exist_ok=True)
    return place
