"""A plain file, opened so that nothing else is ever read in its place.

A pipe would wait for ever for somebody to write, a device may never end, and a link can lead
anywhere: what is opened is looked at once it is open, so that no swap before comes too late. It
raises OSError, like any other way of reading; what a file holds is not looked at.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NotPlain(OSError):
    """Say that something stands there that is no ordinary file."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "it is no ordinary file", str(path))


class LeadsOut(OSError):
    """Say that a link leads to where nothing is to be read."""

    def __init__(self, path: str | Path, root: str | Path) -> None:
        super().__init__(errno.ELOOP, f"it is a link that leads out of {root}", str(path))


def open_plain(path: str | Path) -> BinaryIO:
    """Open an ordinary file for reading; a link to one is followed."""
    # Looked at before as well: to open a device can set it off.
    _check(os.stat(path).st_mode, path)
    file = open(path, "rb", opener=_opener)  # noqa: SIM115  # it is the caller's
    try:
        _check(os.fstat(file.fileno()).st_mode, path)
    except OSError:
        file.close()
        raise
    return file


def read_plain(path: str | Path, limit: int = -1) -> bytes:
    """Read an ordinary file; with a limit, one byte more of it at most."""
    with open_plain(path) as file:
        return file.read(limit if limit < 0 else limit + 1)


def read_inside(root: Path, path: Path, limit: int = -1) -> bytes:
    """Read an ordinary file that stands below a directory, by a link as well if it stays there.

    Names that begin with a dot are not what a link may lead to: a checkout's own secrets stand
    there.
    """
    names = _names_inside(root, path)
    _check(os.stat(path).st_mode, path)
    folder = os.open(os.path.realpath(root), _FOLDER)
    try:
        for name in names[:-1]:
            deeper = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = deeper
        handle = os.open(names[-1], _FILE | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)
    with _plain(handle, path) as file:
        return file.read(limit if limit < 0 else limit + 1)


def stays_inside(root: Path, path: Path) -> bool:
    """Tell whether a path leads to a place below a directory, by whatever links."""
    try:
        return bool(_names_inside(root, path))
    except OSError:
        return False


def _names_inside(root: Path, path: Path) -> tuple[str, ...]:
    """Give the way to a file from a directory without any link in it."""
    top, real = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    if real == top or not real.is_relative_to(top):
        raise LeadsOut(path, root)
    names = real.relative_to(top).parts
    written = Path(os.path.abspath(path)).parts
    is_led = written[-len(names) :] != names
    if is_led and any(name.startswith(".") for name in names):
        raise LeadsOut(path, root)
    return names


def _opener(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | _FILE)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise NotPlain(path) from None
        raise


def _plain(handle: int, path: str | Path) -> BinaryIO:
    try:
        _check(os.fstat(handle).st_mode, path)
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def _check(mode: int, path: str | Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise NotPlain(path)
