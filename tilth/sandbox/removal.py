"""The removal of directories that others have filled: of any depth, and closed to us or not.

A command can nest directories deeper than a path can name or a call can recurse, and take away its
own rights to them. None of that may stop whoever clears up. No link is ever followed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tilth.sandbox.processes import owner


def remove_tree(path: Path) -> None:
    """Remove a directory and all that is in it."""
    try:
        shutil.rmtree(path, onerror=_open_and_retry)
    except RecursionError:
        _remove_flat(path)


def open_to_owner(directory: Path) -> None:
    """Give ourselves back the rights to a directory that a command may have closed."""
    with suppress(OSError):
        mode = stat.S_IMODE(os.lstat(directory).st_mode)
        if mode & stat.S_IRWXU != stat.S_IRWXU and not directory.is_symlink():
            directory.chmod(mode | stat.S_IRWXU)


def scratch_directory(prefix: str, within: Path | None = None) -> Path:
    """Make an empty directory that tells whose it is, so that others may clear it once we died."""
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{owner()}-", dir=within)).resolve()


@contextmanager
def temporary_directory(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Lend an empty directory; what cannot be removed of it afterwards stays, without an error."""
    path = scratch_directory(prefix, within)
    try:
        yield path
    finally:
        with suppress(OSError):
            remove_tree(path)


def _open_and_retry(again: Callable[..., Any], path: str, error: Any) -> None:
    if not os.path.lexists(path):
        return
    for closed in (os.path.dirname(path), path):
        if not os.path.islink(closed):
            os.chmod(closed, stat.S_IRWXU)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _remove_flat(path: Path) -> None:
    """Bring every directory up beside `path` and empty it there, so that no path grows long."""
    name = f".{secrets.token_hex(8)}"
    waiting = [str(path)]
    moved = 0
    while waiting:
        folder = waiting.pop()
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as listing:
            entries = list(listing)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            moved += 1
            os.chmod(entry.path, stat.S_IRWXU)
            waiting.append(os.path.join(path.parent, f"{name}-{moved}"))
            os.rename(entry.path, waiting[-1])
        os.rmdir(folder)
