"""Remotes: the one place that pushes, and that asks `gh` for a pull request.

Both need the user's own configuration and credentials, so git runs here as the user's own git does,
but for the hooks of the repository. Nothing is ever forced, and what a remote says is shown without
the credentials that a URL may carry.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tilth.base.errors import UserError
from tilth.base.values import Value
from tilth.git.command import visible
from tilth.git.source import SourceRepo

LONGEST_S = 600
_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_OURS = ("TILTH_", "ANTHROPIC_")
_NOISE = re.compile(r"^(?:hint|remote: *$|To |error: failed to push)", re.IGNORECASE)


class Reply(Value):
    """Say whether the other side agreed, and what it said in one line."""

    ok: bool
    said: str = ""


def require_remote(source: SourceRepo, remote: str, environ: Mapping[str, str]) -> None:
    """Refuse a remote that the repository does not know."""
    done = _start(("git", "remote"), source.root, environ)
    names = done.stdout.split()
    if remote not in names:
        known = ", ".join(names) or "none"
        raise UserError(
            f"there is no remote {remote!r} in {source.root} (known: {known}): add it with "
            "`git remote add`"
        )


def require_gh(environ: Mapping[str, str]) -> None:
    """Refuse to promise a pull request where there is no `gh`."""
    if shutil.which("gh", path=environ.get("PATH")) is None:
        raise UserError("gh is not on PATH: install GitHub's `gh`, or leave --pr out")


def push(
    source: SourceRepo, remote: str, commit: str, branch: str, environ: Mapping[str, str]
) -> Reply:
    """Push a commit as a branch; a remote that has moved on refuses it."""
    still = ("-c", "core.hooksPath=/dev/null", "-c", "push.recurseSubmodules=no")
    order = ("push", "--porcelain", "--no-follow-tags", remote, f"{commit}:refs/heads/{branch}")
    done = _start(("git", *still, *order), source.root, environ)
    return Reply(ok=done.returncode == 0, said=_why(done))


def open_pull_request(
    source: SourceRepo, branch: str, title: str, text: str, environ: Mapping[str, str]
) -> Reply:
    """Ask `gh` for a pull request; what it says at the end is where to find it."""
    order = ("gh", "pr", "create", "--head", branch, "--title", title, "--body-file", "-")
    done = _start(order, source.root, environ, text)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if done.returncode == 0:
        return Reply(ok=True, said=_shown(lines[-1] if lines else "opened"))
    return Reply(ok=False, said=_why(done))


def _start(
    argv: Sequence[str], root: Path, environ: Mapping[str, str], text: str = ""
) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in environ.items() if not name.startswith(_OURS)}
    if not sys.stdin.isatty():
        # Nobody is there to be asked for a password.
        own |= {"GIT_TERMINAL_PROMPT": "0", "GH_PROMPT_DISABLED": "1"}
    try:
        return subprocess.run(
            [shutil.which(argv[0], path=environ.get("PATH")) or argv[0], *argv[1:]],
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            cwd=root,
            env={**own, "LC_ALL": "C"},
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired:
        said = f"it did not finish within {LONGEST_S} seconds"
        return subprocess.CompletedProcess(argv, 124, "", said)
    except OSError as error:
        raise UserError(f"{argv[0]} could not be started: {error.strerror}") from None


def _why(done: subprocess.CompletedProcess[str]) -> str:
    """Pick the line that says most: the refusal of a ref, else the last word on stderr."""
    for line in done.stdout.splitlines():
        if line.startswith("!"):
            return _shown(line.split("\t")[-1])
    lines = [line for line in done.stderr.splitlines() if line.strip() and not _NOISE.match(line)]
    return _shown(lines[-1] if lines else f"exit {done.returncode}")


def _shown(line: str) -> str:
    return visible(_IN_URL.sub("…", line.strip()))[:300]
