"""`tilth init`: a commented `.env` where Tilth looks for it; never overwrites one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tilth.base.errors import DiskError, UserError
from tilth.config.reference import env_example
from tilth.config.settings import EXAMPLE_MODEL, load
from tilth.contract.outcomes import ExitCode
from tilth.session.store import PRIVATE_FILE, make_private
from tilth.show.notices import after_the_fact, tell
from tilth.show.tables import Page


def init(*, environ: Mapping[str, str] = os.environ) -> int:
    """Write the file, print where it is, and say what to do with it."""
    path = load({}, environ).env_file
    write_example(path)
    with after_the_fact():
        Page.out(environ).line(str(path))
    tell(f"uncomment TILTH_API_KEY and TILTH_WORKER_MODEL (e.g. {EXAMPLE_MODEL}) in it")
    tell("then: tilth doctor --online")
    return ExitCode.DONE


def write_example(path: Path) -> None:
    """Write the example for its owner alone, or say that there is a file already."""
    try:
        make_private(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    except FileExistsError:
        raise UserError(
            f"{path} is there already and is left as it is; edit it, or move it away first"
        ) from None
    except OSError as error:
        raise DiskError(
            f"cannot write {path}: {error.strerror}; fix access or TILTH_HOME"
        ) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(env_example())
    except OSError as error:
        # Ours alone: it was not there a moment ago.
        path.unlink(missing_ok=True)
        raise DiskError(f"cannot write {path}: {error.strerror}; free some space") from error
