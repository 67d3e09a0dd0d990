"""The commands that run a session, as a person at a terminal has them; they give the exit code."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from tilth.session import resume as resuming
from tilth.session import start as starting
from tilth.show.terminal import terminal


def start(target: Path, repo: Path | None, flags: Mapping[str, object], **how: Any) -> int:
    """Do what `tilth run --no-ping` does, unless it is told to ping."""
    how = {"ping": False, **how}
    return starting.start(target, repo, flags, frontend=terminal(), **how).exit_code


def resume(
    wanted: str | None,
    flags: Mapping[str, object],
    *,
    fresh: bool,
    environ: MutableMapping[str, str],
    **more: Any,
) -> int:
    """Do what `tilth resume` does."""
    how = {"fresh": fresh, "environ": environ, "frontend": terminal(), **more}
    return resuming.resume(wanted, flags, **how).exit_code
