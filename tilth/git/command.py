"""The git binary, run so that nothing in a repository can make it run code.

Two kinds of call go through here. Refs and worktree registrations live in the user's own git
directory, so `Git` names it and switches off what its configuration could start. Everything that
touches content (freeze, diff, checkout, export) runs in a `Scratch` instead: an empty git directory
of our own that borrows nothing but the object store. There the user's configuration, drivers,
excludes and attributes do not exist, and `info/attributes` outranks every `.gitattributes`: a blob
is the bytes of the file, so what is validated, judged and committed is the same.

GitPython is not used here. It reads the repository's configuration and passes on the caller's
environment, its `is_dirty`, `diff` and `index` start filters and fsmonitor, and what it reads
without git (refs, objects) fails on SHA-256 and reftable repositories. `history` lets it read what
landed, from a directory of our own. Nothing here talks to a remote.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from tilth.base.errors import DiskError, UserError, WorkspaceError
from tilth.git import contents
from tilth.sandbox.removal import remove_tree, scratch_directory

TIMEOUT_SECONDS = 120
_PIECE = 64 * 1024
OLDEST_GIT = "2.31"

_NOWHERE = "/dev/null"
_PROTOCOLS = ("ext", "fd", "file", "ftp", "ftps", "git", "http", "https", "rsync", "ssh", "bundle")
_SWITCHED_OFF = (
    f"core.hooksPath={_NOWHERE}",
    f"core.attributesFile={_NOWHERE}",
    f"core.excludesFile={_NOWHERE}",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.quotePath=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.pager=cat",
    "core.editor=true",
    "core.askPass=true",
    "core.sshCommand=false",
    "core.gitProxy=",
    "credential.helper=",
    "protocol.allow=never",
    # By name too: a repository's own word on one protocol outranks ours on all.
    *(f"protocol.{name}.allow=never" for name in _PROTOCOLS),
    "diff.external=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "worktree.useRelativePaths=false",
)
_DURABLE = ("core.fsync=objects,reference", "core.fsyncMethod=batch")
# Before 2.36 there was this one, for objects alone; refs are then synced here.
_DURABLE_BEFORE = ("core.fsyncObjectFiles=true",)
_KNOWS_FSYNC = (2, 36)
_VERSION = re.compile(rb"git version (\d+)\.(\d+)")
_FIXED_ENVIRONMENT = {
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": _NOWHERE,
    "GIT_CONFIG_GLOBAL": _NOWHERE,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # The first is known to newer versions alone; the second names the only protocol that is
    # allowed, whatever any configuration says, and so shuts out every helper there could be.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_RAW = "* -text !eol !crlf -ident -filter -working-tree-encoding !diff !merge !whitespace\n"


@dataclass(frozen=True)
class Answer:
    """Hold what git printed and how it ended."""

    code: int
    out: bytes


@dataclass(frozen=True)
class Head:
    """Hold the start of what git printed, and the size and hash of all of it."""

    out: bytes
    size: int
    sha256: str


@dataclass(frozen=True)
class Git:
    """Run git on one named repository, work tree and index."""

    git_dir: Path
    work_tree: Path
    index: Path | None = None
    objects: Path | None = None
    common: Path | None = None

    def run(
        self, *args: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> bytes:
        """Give git's output, or raise WorkspaceError."""
        return self.ask(*args, stdin=stdin, environment=environment).out

    def line(self, *args: str) -> str:
        """Give git's output as one line of text."""
        return self.run(*args).decode("utf-8", "surrogateescape").rstrip("\n")

    def ask(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Collection[int] = (0,),
        environment: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run git where more than one exit code is an answer."""
        where = (f"--git-dir={self.git_dir}", f"--work-tree={self.work_tree}")
        command = [*where, *_overrides(), *args]
        done = execute(command, self._environment(environment), self.work_tree, stdin)
        if done.returncode not in ok:
            raise WorkspaceError(
                f"git {args[0]} failed (exit {done.returncode}): {_last_line(done.stderr)}"
            )
        return Answer(done.returncode, done.stdout)

    def head(
        self, *args: str, most: int, stdin: bytes = b"", seconds: float = TIMEOUT_SECONDS
    ) -> Head:
        """Give the start of git's output; the rest is counted and hashed, and held nowhere."""
        where = (f"--git-dir={self.git_dir}", f"--work-tree={self.work_tree}")
        command = [_program(), *where, *_overrides(), *args]
        digest, kept, size = hashlib.sha256(), bytearray(), 0
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as complaints,
            subprocess.Popen(
                command,
                stdin=_rewound(given, stdin),
                stdout=subprocess.PIPE,
                stderr=complaints,
                cwd=self.work_tree,
                env=self._environment(None),
                process_group=0,
            ) as process,
        ):
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            try:
                while process.stdout and (piece := process.stdout.read(_PIECE)):
                    digest.update(piece)
                    size += len(piece)
                    kept += piece[: max(0, most - len(kept))]
            finally:
                timer.cancel()
            code = process.wait()
            complaints.seek(0)
            if code != 0:
                said = _last_line(complaints.read(_PIECE))
                raise WorkspaceError(f"git {args[0]} failed (exit {code}): {said}")
        return Head(bytes(kept), size, digest.hexdigest())

    def read_objects(self, ids: Sequence[str]) -> list[bytes]:
        """Give the contents of the named objects, in order."""
        store = self.objects or self.git_dir
        return contents.read(store, ids, lambda names: self.run(*contents.ASKED, stdin=names))

    def move_refs(self, why: str, *moves: tuple[str, str, str]) -> None:
        """Move refs, each from an old value to a new one, all of them or none; have it on disk."""
        lines = "".join(f"update {ref} {new} {old}\n" for ref, new, old in moves)
        self.run("update-ref", "-m", why, "--stdin", stdin=lines.encode())
        if not syncs_refs():
            for ref, _, _ in moves:
                _sync(self.git_dir / ref)

    def with_index(self, index: Path) -> Git:
        return replace(self, index=index)

    def _environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        environment = base_environment(extra)
        # Named too, so that a planted `commondir` file cannot lead elsewhere; git then also
        # disregards core.worktree and core.bare.
        if self.objects is None:
            environment["GIT_COMMON_DIR"] = str(self.common or self.git_dir)
        else:
            environment["GIT_OBJECT_DIRECTORY"] = str(self.objects)
        if self.index is not None:
            environment["GIT_INDEX_FILE"] = str(self.index)
        return environment


@dataclass(frozen=True)
class Scratch:
    """Lend an empty git directory and an index of our own, on a real object store."""

    root: Path
    objects: Path

    def git(self, work_tree: Path) -> Git:
        return Git(self.root / "git", work_tree, self.root / "index", self.objects)

    def directory(self, name: str) -> Path:
        """Make an empty directory that goes away with the scratch."""
        path = self.root / name
        with writing(path):
            path.mkdir()
        return path


@contextmanager
def scratch(git_dir: Path, head: str, *, convert: bool = False) -> Iterator[Scratch]:
    """Open a scratch on the objects of `git_dir`; `head` tells the hash in use.

    With `convert`, line endings and encodings are handled as `.gitattributes` asks, which is how
    a checkout that git itself made must be compared.
    """
    with writing(Path(tempfile.gettempdir())):
        root = scratch_directory("tilth-git-")
    try:
        bones = root / "git"
        write_file(bones / "HEAD", f"{head}\n".encode())
        write_file(bones / "config", configuration(head).encode())
        if not convert:
            write_file(bones / "info" / "attributes", _RAW.encode())
        with writing(bones):
            (bones / "refs").mkdir()
        yield Scratch(root, git_dir / "objects")
    finally:
        with suppress(OSError):
            remove_tree(root)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write into an error that names the place."""
    try:
        yield
    except OSError as error:
        raise DiskError(f"cannot write {path}: {error.strerror or error}") from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file and the directories above it."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def configuration(head: str) -> str:
    """Give the least configuration a git directory needs; `head` tells the hash in use."""
    if len(head) == 64:
        return "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n"
    return "[core]\n\trepositoryFormatVersion = 0\n"


def base_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Build git's environment from nothing; only where to find programs and put files stays."""
    environment = {"PATH": _search_path(), **_FIXED_ENVIRONMENT}
    if "TMPDIR" in os.environ:
        environment["TMPDIR"] = os.environ["TMPDIR"]
    return {**environment, **(extra or {})}


def execute(
    args: Sequence[str], environment: Mapping[str, str], cwd: Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Start git once, bounded in time, out of reach of the terminal's interrupt."""
    program = _program()
    try:
        return subprocess.run(
            [program, *args],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=cwd,
            env=dict(environment),
            timeout=TIMEOUT_SECONDS,
            process_group=0,
        )
    except subprocess.TimeoutExpired as error:
        raise WorkspaceError(f"git did not finish within {TIMEOUT_SECONDS} seconds") from error
    except OSError as error:
        raise WorkspaceError(f"git could not be started in {cwd}: {error.strerror}") from error


def _rewound(file: IO[bytes], content: bytes) -> IO[bytes]:
    """Fill a file that is then read from its beginning."""
    file.write(content)
    file.seek(0)
    return file


def _program() -> str:
    return _found(_search_path())


@functools.cache
def _found(path: str) -> str:
    program = shutil.which("git", path=path)
    if program is None:
        raise UserError(f"git is not on PATH: install git {OLDEST_GIT} or newer")
    return program


def visible(text: str) -> str:
    """Show control characters as escapes, so that a message stays one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(raw: bytes) -> str:
    """Turn a file name or a diff into text that can be written; bad bytes become `\\xNN`."""
    return raw.decode("utf-8", "backslashreplace")


def unshown(path: str) -> bytes:
    """Undo `shown` for a name that had bad bytes."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), os.fsencode(path))


def version() -> tuple[int, int]:
    """Give the version of the git in use."""
    return _version(_program())


def syncs_refs() -> bool:
    """Tell whether this git can be told to have refs on disk before it says so."""
    return version() >= _KNOWS_FSYNC


def _overrides() -> list[str]:
    durable = _DURABLE if syncs_refs() else _DURABLE_BEFORE
    return [word for setting in (*_SWITCHED_OFF, *durable) for word in ("-c", setting)]


@functools.cache
def _version(program: str) -> tuple[int, int]:
    said = subprocess.run([program, "version"], capture_output=True, check=False).stdout
    found = _VERSION.match(said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _sync(path: Path) -> None:
    """Have a file and its entry on disk; a ref that is packed has none."""
    for place in (path, path.parent):
        with suppress(FileNotFoundError):
            handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _search_path() -> str:
    return _absolute(os.environ.get("PATH", os.defpath))


@functools.cache
def _absolute(path: str) -> str:
    # A relative entry would be looked up inside the work tree.
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return visible(lines[-1])[:300] if lines else "git said nothing"
