"""Paths that stay below one root, opened without ever following a symlink.

Every component is opened by descriptor relative to the one before, so a symlink that is swapped in
between a check and its use leads nowhere. `.git` is refused at any depth. What the files hold is
not looked at here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from tilth.base.errors import ToolError
from tilth.base.failpoint import reach

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


class Enclosure:
    """Open, read and replace files below one root and nowhere else; `kept` are replaced by none."""

    def __init__(self, root: Path, kept: Collection[Path] = ()) -> None:
        self._given = root
        self._kept = frozenset(kept)
        self.root = Path(os.path.realpath(root))

    def parts(self, path: str) -> tuple[str, ...]:
        """Split a path into names below the root; no symlink is followed, so `..` is lexical."""
        if not encoded(path, "the path"):
            raise ToolError("the path is empty: give one relative to the worktree root")
        names: list[str] = []
        for name in self._relative(path).split("/"):
            if name == ".." and not names:
                raise ToolError(f"{shown(path)} is outside the worktree: use a path inside it")
            if name == "..":
                names.pop()
            elif name not in ("", "."):
                names.append(name)
        if any(name.casefold() == ".git" for name in names):
            raise ToolError(f"{shown(path)} is inside .git, which the tools leave alone")
        return tuple(names)

    def is_folder(self, parts: tuple[str, ...]) -> bool:
        """Tell a directory from a file; anything else is refused."""
        if not parts:
            return True
        with self._folder(parts[:-1]) as parent:
            mode = _lstat(parent, parts).st_mode
        if not stat.S_ISDIR(mode):
            _check_regular(mode, parts)
        return stat.S_ISDIR(mode)

    @contextlib.contextmanager
    def folder(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Lend the descriptor of a directory."""
        with self._folder(parts) as descriptor:
            yield descriptor

    @contextlib.contextmanager
    def file(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Lend the descriptor of a regular file, open for reading."""
        if not parts:
            raise ToolError("the path is the worktree itself: name a file in it")
        with self._folder(parts[:-1]) as parent:
            _check_regular(_lstat(parent, parts).st_mode, parts)
            with _explained(parts):
                descriptor = os.open(parts[-1], _FILE, dir_fd=parent)
        try:
            _check_regular(os.fstat(descriptor).st_mode, parts)
            yield descriptor
        finally:
            os.close(descriptor)

    def replace(self, parts: tuple[str, ...], data: bytes) -> bool:
        """Write a file whole or not at all; tell whether it is new.

        A new file takes the old one's place, so a hard link's other end keeps what it had. It is
        written beside the root: what a kill leaves of it never stands among the worktree's files.
        """
        if not parts:
            raise ToolError("the path is the worktree itself: name a file in it")
        if self._given.joinpath(*parts) in self._kept:
            raise ToolError(
                f"{_joined(parts)} is generated and git ignores it: it is given to you to be read, "
                "the gate uses its own copy"
            )
        with self._folder(parts[:-1], create=True) as parent, _opened(self.root.parent) as beside:
            mode = _mode_to_keep(parent, parts)
            with _explained(parts):
                try:
                    name = _free(beside, f".{self.root.name}.draft")
                    _put(parent, parts[-1], data, mode, draft=(beside, name))
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    # No rename leads into a mount: there the file is drafted where it will stand.
                    name = f".{secrets.token_hex(8)}.draft"
                    _put(parent, parts[-1], data, mode, draft=(parent, name))
                reach("after putting a file in its place")
        return mode is None

    def _relative(self, path: str) -> str:
        if not path.startswith("/"):
            return path
        for root in (str(self._given), str(self.root)):
            if path == root or path.startswith(f"{root.rstrip('/')}/"):
                return path[len(root) :]
        raise ToolError(f"{shown(path)} is outside the worktree: use a path relative to its root")

    @contextlib.contextmanager
    def _folder(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        descriptor = os.open(self.root, _FOLDER)
        try:
            for depth in range(1, len(parts) + 1):
                deeper = _step(descriptor, parts[:depth], create=create)
                os.close(descriptor)
                descriptor = deeper
            yield descriptor
        finally:
            os.close(descriptor)


def shown(path: str) -> str:
    """Give a path as text for one line, however hostile its name."""
    if path and path.isprintable():
        return path
    return ascii(path)


def encoded(text: str, what: str) -> bytes:
    """Give the bytes of a model's text, or say what is wrong with it."""
    if "\0" in text:
        raise ToolError(f"{what} holds a NUL character: leave it out")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{what} is not valid Unicode text: it holds a lone surrogate") from None


def _step(parent: int, parts: tuple[str, ...], *, create: bool) -> int:
    if create:
        with _explained(parts), contextlib.suppress(FileExistsError):
            os.mkdir(parts[-1], dir_fd=parent)
    mode = _lstat(parent, parts).st_mode
    if not stat.S_ISDIR(mode):
        raise ToolError(f"{_joined(parts)} is not a directory")
    with _explained(parts):
        return os.open(parts[-1], _FOLDER, dir_fd=parent)


@contextlib.contextmanager
def _opened(directory: Path) -> Iterator[int]:
    descriptor = os.open(directory, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _free(folder: int, name: str) -> str:
    """Clear a name of what a kill left under it; where a directory has it, give another."""
    try:
        _remove(folder, name)
    except (IsADirectoryError, PermissionError):  # The second is what some systems say of one.
        return f"{name}-{secrets.token_hex(8)}"
    return name


def _put(parent: int, name: str, data: bytes, mode: int | None, *, draft: tuple[int, str]) -> None:
    """Write a draft and put it in its place; nothing is left of one that fails."""
    folder, drafted = draft
    descriptor = os.open(drafted, _NEW, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
        reach("before putting a file in its place")
        os.replace(drafted, name, src_dir_fd=folder, dst_dir_fd=parent)
    except BaseException:
        _remove(folder, drafted)
        raise


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _mode_to_keep(parent: int, parts: tuple[str, ...]) -> int | None:
    """Give the permissions of the file that will be replaced, or None if there is none."""
    try:
        mode = os.lstat(parts[-1], dir_fd=parent).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _told(error, parts) from error
    _check_regular(mode, parts)
    return stat.S_IMODE(mode) & 0o777


def _lstat(parent: int, parts: tuple[str, ...]) -> os.stat_result:
    with _explained(parts):
        found = os.lstat(parts[-1], dir_fd=parent)
        if stat.S_ISLNK(found.st_mode):
            target = os.readlink(parts[-1], dir_fd=parent)
            raise ToolError(_no_symlink(parts, target))
        return found


def _check_regular(mode: int, parts: tuple[str, ...]) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISLNK(mode):
        raise ToolError(_no_symlink(parts, "another file"))
    kind = next((name for test, name in _KINDS if test(mode)), "not a regular file")
    hint = ": use glob or bash to list it" if stat.S_ISDIR(mode) else ", not a regular file"
    raise ToolError(f"{_joined(parts)} is {kind}{hint}")


def _no_symlink(parts: tuple[str, ...], target: str) -> str:
    return (
        f"{_joined(parts)} is a symbolic link to {shown(target)}, and links are not followed: "
        "use the path of the file itself, inside the worktree"
    )


@contextlib.contextmanager
def _explained(parts: tuple[str, ...]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _told(error, parts) from error


def _told(error: OSError, parts: tuple[str, ...]) -> Exception:
    """Say in the tool's words what the system said; a full disk stays what it is."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return error
    if error.errno == errno.ENOENT:
        return ToolError(f"{_joined(parts)} does not exist")
    if error.errno == errno.ELOOP:
        return ToolError(_no_symlink(parts, "another file"))
    return ToolError(f"{_joined(parts)}: {(error.strerror or str(error)).lower()}")


def _joined(parts: tuple[str, ...]) -> str:
    return shown("/".join(parts))
