"""The bundle: a PRD and the tests beside it, as they stand on the user's disk. Read only."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilth.base.errors import BadPlan, UserError
from tilth.contract.prd import Plan, parse_plan

PRD_NAME = "prd.json"
_LARGEST_PRD = 10 * 1024 * 1024
_LARGEST_TEST = 5 * 1024 * 1024


@dataclass(frozen=True)
class Bundle:
    """Hold a plan and its seed tests, by file name."""

    prd: Path
    plan: Plan
    sha256: str
    tests: Mapping[str, bytes]


def find_prd(target: Path) -> Path | None:
    """Give the PRD a target names or holds."""
    try:
        if target.is_dir():
            prd = target / PRD_NAME
            return prd if prd.exists() else None
        exists = target.exists()
    except OSError as error:
        raise UserError(f"{target} cannot be read: {error.strerror}") from None
    if not exists:
        raise UserError(f"{target} does not exist; name a {PRD_NAME} or a directory that holds one")
    return target


def read_bundle(prd: Path) -> Bundle:
    """Read a PRD and the seed tests in `tests/` beside it, or raise with every problem."""
    content = _read(prd, _LARGEST_PRD)
    plan = parse_plan(_parsed(content, prd), str(prd))
    digest = hashlib.sha256(content).hexdigest()
    return Bundle(prd.resolve(), plan, digest, _seed_tests(prd.parent / "tests", plan))


def _read(path: Path, limit: int) -> bytes:
    try:
        if not path.is_file():
            raise UserError(f"{path} is not a file; name a {PRD_NAME} or its directory")
        if path.stat().st_size > limit:
            raise UserError(f"{path} is larger than {limit // 1024 // 1024} MB; make it smaller")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None


def _parsed(content: bytes, prd: Path) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise BadPlan(str(prd), [f"not UTF-8 at byte {error.start}; save it as UTF-8"]) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadPlan(str(prd), [f"not JSON at {where}: {error.msg}"]) from None
    except (ValueError, RecursionError) as error:
        raise BadPlan(str(prd), [f"not usable JSON: {error}"]) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _seed_tests(folder: Path, plan: Plan) -> dict[str, bytes]:
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UserError(f"{folder} cannot be read: {error.strerror}") from None
    return {
        name: _read(folder / name, _LARGEST_TEST)
        for name in names
        if any(task.owns_test(name) for task in plan.tasks)
    }
