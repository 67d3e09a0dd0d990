"""The store: files that are replaced whole or only appended to, and the lock that guards them.

Every write either lands whole or leaves the old content; a failure is a DiskError that names the
file. It knows nothing of sessions.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from tilth.base.errors import CorruptSession, DiskError, SessionBusy
from tilth.base.failpoint import reach
from tilth.base.pids import exists
from tilth.base.plain_file import open_plain, read_plain

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600
_GHOST_TRIES = 100
_GHOST_PAUSE_S = 0.02
_LONGEST_LINE = 512 * 1024 * 1024
_RESERVED_BYTES = 64 * 1024


def replace_bytes(path: Path, content: bytes) -> None:
    """Replace a file atomically and have it on disk before returning."""
    try:
        handle, staged = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(file.fileno(), PRIVATE_FILE)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            reach(f"before replacing {path.name}")
            os.replace(staged, path)
            reach(f"after replacing {path.name}")
        except BaseException:
            Path(staged).unlink(missing_ok=True)
            raise
        sync_dir(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def replace_json(path: Path, value: Any) -> None:
    """Replace a JSON file atomically."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    replace_bytes(path, text.encode("utf-8", "backslashreplace"))


def read_json(path: Path) -> Any:
    """Read a JSON file of a session; one that cannot be read is a corrupt session."""
    try:
        return json.loads(read_plain(path))
    except FileNotFoundError:
        raise CorruptSession(f"{path}: the file is missing") from None
    except (ValueError, RecursionError, OSError) as error:
        said = getattr(error, "strerror", None) or error
        raise CorruptSession(f"{path}: cannot be read: {said}") from None


def sync_dir(path: Path) -> None:
    """Have a directory's entries on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    """Have a file's content on disk; macOS has no call for the content alone."""
    getattr(os, "fdatasync", os.fsync)(handle)


def cannot_write(path: Path, error: OSError) -> DiskError:
    """Say of a file that it cannot be written, and what helps."""
    return DiskError(f"cannot write {path}: {error.strerror or error}; free space or fix access")


class Reserve:
    """Keep a little of the disk, so that a run that fills it can still say that it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with suppress(DiskError):
            replace_bytes(path, bytes(_RESERVED_BYTES))

    def give_back(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


class Journal:
    """Append JSON lines to one file, one write a line, and keep it open between them.

    A torn last line, left by a crash, was never acknowledged: it is moved to `<name>.torn` when the
    journal is opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.appended = 0
        self._unsure = False
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._handle = os.open(path, flags, PRIVATE_FILE)
            self._size = self._cut_torn_tail()
            self._identity = _identity(os.fstat(self._handle))
            if self._size == 0:
                # Just made, perhaps: a synced line is lost with a file that has no name yet.
                sync_dir(path.parent)
        except OSError as error:
            raise cannot_write(path, error) from error

    def append(self, line: str, *, sync: bool = False) -> None:
        """Write one line; on failure the file is as it was before."""
        record = line.encode("utf-8", "backslashreplace") + b"\n"
        reach(f"before appending to {self._path.name}")
        self._require_in_place()
        try:
            self._write(record, sync=sync)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        reach(f"after appending to {self._path.name}")

    def _require_in_place(self) -> None:
        """Refuse to go on in a file that nobody can find, or that has lost what was written."""
        try:
            now = os.stat(self._path)
        except OSError:
            now = None
        if now is None or _identity(now) != self._identity or now.st_size < self._size:
            raise CorruptSession(
                f"{self._path}: it was removed, replaced or cut while it was written to",
                "put the whole file back, then resume",
            )

    def _write(self, record: bytes, *, sync: bool) -> None:
        if self._unsure:
            # An interrupt came after a write and before it was counted.
            os.ftruncate(self._handle, self._size)
        size = self._size + len(record)
        self._unsure = True
        try:
            if os.write(self._handle, record) != len(record):
                raise DiskError(f"cannot write {self._path}: the disk is full; free some space")
            if sync:
                _sync(self._handle)
        except BaseException:
            # Nobody was told that it is there, an interrupt included: it would be written twice.
            os.ftruncate(self._handle, self._size)
            raise
        # No call stands between these, so an interrupt finds all of them done or none.
        self._size, self.appended, self._unsure = size, self.appended + 1, False

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _cut_torn_tail(self) -> int:
        size = os.fstat(self._handle).st_size
        end = _end_of_last_line(self._handle, size)
        if end < size:
            torn = os.pread(self._handle, min(size - end, _LONGEST_LINE), end)
            aside = self._path.with_name(self._path.name + ".torn")
            with open(
                os.open(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE), "ab"
            ) as f:
                f.write(torn + b"\n")
            os.ftruncate(self._handle, end)
        return end


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def _end_of_last_line(handle: int, size: int) -> int:
    chunk = 64 * 1024
    position = size
    while position > 0:
        start = max(0, position - chunk)
        found = os.pread(handle, position - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        position = start
    return 0


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read a journal line by line in constant memory; a torn last line is passed over."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise CorruptSession(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        for number, raw in enumerate(file, start=1):
            if not raw.endswith(b"\n"):
                return
            yield parse_line(raw, path, number)


def parse_line(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    """Read one whole line of a journal; a bad one is a corrupt session."""
    try:
        line = _parsed(raw)
    except (ValueError, RecursionError) as error:
        raise CorruptSession(f"{path}: line {number} is not JSON: {error}") from None
    if not isinstance(line, dict):
        raise CorruptSession(f"{path}: line {number} is not an object")
    return line


def _parsed(raw: bytes) -> Any:
    try:
        return from_json(raw)
    except ValueError:
        # Twice as quick, but it refuses what the standard reader lets pass: a lone surrogate.
        return json.loads(raw)


def lock_holder(path: Path) -> str | None:
    """Give the pid of the process that holds a lock, or None; the lock is left as it is."""
    try:
        file = open_plain(path)
    except OSError:
        return None
    handle = file.fileno()
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return (_written_pid(handle) or "unknown") if _may_live(handle) else None
    finally:
        file.close()
    return None


def last_active(directory: Path) -> tuple[bool, bool, float]:
    """Say whether a session is at work, has a plan, and when something last happened in it.

    An interview that was given up has none, and is not what anybody means by the latest session.
    """
    times = [0.0]
    for name in ("events.jsonl", "checkpoint.json"):
        with suppress(OSError):
            times.append((directory / name).stat().st_mtime)
    is_held = lock_holder(directory / "lock") is not None
    return is_held, (directory / "prd.json").exists(), max(times)


def wait_for_lock(path: Path) -> None:
    """Wait until nobody holds a lock; it is not kept."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise CorruptSession(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH)


def _written_pid(handle: int) -> str:
    return _written(handle)[0]


def _written(handle: int) -> tuple[str, str]:
    """Give the holder's number and the namespace in which it is its number."""
    lines = os.pread(handle, 256, 0).decode("ascii", "replace").splitlines()
    pid, space, *_ = (*(line.strip() for line in lines), "", "")
    return pid, space


def _may_live(handle: int) -> bool:
    """Tell whether the holder lives, or cannot be told to be dead: it may run in a container."""
    pid, space = _written(handle)
    return not pid or (space not in ("", _own_space())) or _is_alive(pid)


def _own_space() -> str:
    """Name the namespace of our process numbers; the first of every machine has one name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{os.stat('/proc/self/ns/pid').st_ino}@{boot}"
    except OSError:
        return ""


def _is_alive(pid: str) -> bool:
    try:
        return exists(int(pid))
    except ValueError:
        return False


class Lock:
    """Hold a kernel lock on a file; it is free as soon as its holder is gone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1

    def acquire(self) -> None:
        """Take the lock at once, or raise SessionBusy naming the holder."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        try:
            self._take(handle)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        self._write_pid()

    def _take(self, handle: int) -> None:
        for _ in range(_GHOST_TRIES):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _written_pid(handle)
                if holder and _may_live(handle):
                    break
                # Its holder is dead: what is left is a child of its that has not begun to run, or
                # somebody who only looks. Both are gone in a moment.
                time.sleep(_GHOST_PAUSE_S)
            except OSError as error:
                raise cannot_write(self._path, error) from error
            else:
                return
        raise SessionBusy(
            f"session {self._path.parent.name} is in use by process {holder or 'unknown'}; "
            "wait for it or stop it first"
        )

    def _write_pid(self) -> None:
        try:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{os.getpid()}\n{_own_space()}\n".encode(), 0)
        except OSError as error:
            self.release()
            raise cannot_write(self._path, error) from error

    def release(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def make_private(directory: Path) -> None:
    """Make a directory and what is missing above it, for its owner alone."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=PRIVATE_DIR, exist_ok=True)


def write_new(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a directory that is not yet in its place."""
    try:
        for name, content in files.items():
            path = directory / name
            make_private(path.parent)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise cannot_write(directory, error) from error
