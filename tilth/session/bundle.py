"""The bundle: a PRD and the tests beside it, as they stand on the user's disk. Read only."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Never

from tilth.base.errors import BadPlan, BadText, UserError
from tilth.base.foreign_text import LARGEST_JSON, read_json
from tilth.base.plain_file import LeadsOut, NotPlain, read_inside, stays_inside
from tilth.contract.prd import Plan, parse_plan

PRD_NAME = "prd.json"
_TESTS_NAME = "tests"
_LARGEST_TEST = 5 * 1024 * 1024


@dataclass(frozen=True)
class Bundle:
    """Hold a plan and its seed tests, by file name."""

    prd: Path
    plan: Plan
    sha256: str
    tests: Mapping[str, bytes]


def find_prd(target: Path) -> Path | None:
    """Give the PRD a target names or holds; a link that a user names is followed."""
    try:
        if target.is_dir():
            prd = target / PRD_NAME
            return prd if prd.exists() else None
        exists = target.exists()
    except OSError as error:
        raise UserError(f"{target} cannot be read: {error.strerror}") from None
    if not exists:
        raise UserError(f"{target} does not exist; name a {PRD_NAME} or a directory that holds one")
    return target if _is_of_bundle(target) else Path(os.path.realpath(target))


def _is_of_bundle(target: Path) -> bool:
    """Tell a file, or a link that is part of a bundle itself, from a link of the user's own."""
    in_its_place = target.name == PRD_NAME and (target.parent / _TESTS_NAME).exists()
    return in_its_place or not target.is_symlink()


def read_bundle(prd: Path) -> Bundle:
    """Read a PRD and the seed tests in `tests/` beside it, or raise with every problem."""
    content = _read(prd, prd.parent, LARGEST_JSON)
    try:
        document = read_json(content)
    except BadText as error:
        raise BadPlan(str(prd), [str(error)]) from None
    plan = parse_plan(document, str(prd))
    digest = hashlib.sha256(content).hexdigest()
    return Bundle(prd.resolve(), plan, digest, _seed_tests(prd.parent, plan))


def _read(path: Path, bundle: Path, limit: int) -> bytes:
    """Read a file of a bundle; whatever a link led to would be committed and shown to models."""
    try:
        content = read_inside(bundle, path, limit)  # a name with a NUL is a ValueError
    except LeadsOut:
        raise UserError(
            f"{path} is a link that leads out of the bundle; put the file itself there"
        ) from None
    except (NotPlain, IsADirectoryError, FileNotFoundError, NotADirectoryError, ValueError):
        raise UserError(f"{path} is not a file; name a {PRD_NAME} or its directory") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > limit:
        raise UserError(f"{path} is larger than {limit // 1024 // 1024} MB; make it smaller")
    return content


def _seed_tests(bundle: Path, plan: Plan) -> dict[str, bytes]:
    folder = bundle / _TESTS_NAME
    try:
        names = sorted(os.listdir(folder)) if stays_inside(bundle, folder) else _led_out(folder)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UserError(f"{folder} cannot be read: {error.strerror}") from None
    return {
        name: _read(folder / name, bundle, _LARGEST_TEST)
        for name in names
        if any(task.owns_test(name) for task in plan.tasks)
    }


def _led_out(folder: Path) -> Never:
    raise UserError(
        f"{folder} is a link that leads out of the bundle; put the directory itself there"
    )
