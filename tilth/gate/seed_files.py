"""Reads test files as the interpreter that will run them does, without running them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from tilth.base.errors import ToolError
from tilth.gate.challenge import Expectations
from tilth.gate.export import Runtime, open_bare
from tilth.gate.in_target import expectations, seed_reading
from tilth.gate.pristine import SeedReading
from tilth.gate.target import ask


def read_seeds(
    runtime: Runtime, files: Mapping[str, bytes], timeout_s: float
) -> dict[str, SeedReading]:
    """Read what tests the files hold, each text once; UserError if the interpreter cannot."""
    known = runtime.readings
    fresh = {name: content for name, content in files.items() if content not in known}
    for name, found in _asked(runtime, seed_reading, fresh, timeout_s).items():
        known[fresh[name]] = SeedReading.model_validate(found)
    return {name: known[content] for name, content in files.items()}


def read_expectations(
    runtime: Runtime, files: Mapping[str, bytes], timeout_s: float
) -> Expectations:
    """Read what the tests of files expect; UserError if the interpreter cannot."""
    return Expectations.model_validate(_asked(runtime, expectations, files, timeout_s))


def _asked(
    runtime: Runtime, module: ModuleType, files: Mapping[str, bytes], timeout_s: float
) -> dict[str, Any]:
    request = {name: content.decode("latin-1") for name, content in files.items()}
    if str(runtime.python) == sys.executable or not files:
        found: dict[str, Any] = module.answer(request)
        return found
    with open_bare(runtime) as export:
        try:
            finished, answer = ask(export, module.__name__.rpartition(".")[2], request, timeout_s)
        except ToolError as error:
            raise runtime.unable("read the tests", error) from error
    if not isinstance(answer, dict):
        raise runtime.unable("read the tests", finished.output)
    return answer
