"""The seed's files in a session's directory: plan, pristine tests and the interview's record.

They appear when a seed holds and not before; until then the directory holds only the interview.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilth.base.errors import DiskError
from tilth.base.values import jsonable
from tilth.config.secrets import Mask
from tilth.contract.prd import Plan
from tilth.session.session import Session
from tilth.session.store import PRIVATE_DIR, replace_json, sync_dir, write_new

PLAN, META = "prd.json", "seed-meta.json"


def save_seed(
    session: Session, plan: Plan, tests: Mapping[str, bytes], meta: Mapping[str, Any], mask: Mask
) -> None:
    """Put a seed in its place: the tests first, all at once, and the plan last."""
    drop_seed(session)
    directory = session.directory
    staged = directory / ".new-seed-tests"
    try:
        shutil.rmtree(staged, ignore_errors=True)
        write_new(staged, tests)
        os.rename(staged, session.seed_tests)
        sync_dir(directory)
    except OSError as error:
        raise _cannot(directory, error) from error
    replace_json(directory / META, mask.data(dict(meta)))
    replace_json(directory / PLAN, mask.data(jsonable(plan)))


def drop_seed(session: Session) -> None:
    """Take a seed back, if there is one."""
    try:
        for name in (PLAN, META):
            (session.directory / name).unlink(missing_ok=True)
        shutil.rmtree(session.seed_tests, ignore_errors=True)
        session.seed_tests.mkdir(mode=PRIVATE_DIR, exist_ok=True)
    except OSError as error:
        raise _cannot(session.directory, error) from error


def _cannot(directory: Path, error: OSError) -> DiskError:
    return DiskError(f"cannot write the seed in {directory}: {error.strerror or error}")
