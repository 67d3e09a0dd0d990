"""Programs that start warm: a process that has loaded what they need forks for each start.

Most of what a short process costs is importing: pytest for a gate, the SDK for `tilth`. Here that
is done once for all processes of a test run; everything else is as real as before. The tests of
the gate itself, of the sandbox, of an installed Tilth and of its start take a cold Python.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import importlib.metadata
import io
import marshal
import os
import pkgutil
import runpy
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tokenize
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

# What Tilth and the SDK import only when they come to need it.
_LOADED_LATE = ("anthropic", "genai_prices.data", "httpcore2", "prompt_toolkit", "rich.markdown")
_PYTEST = ["-m", "pytest"]
_PATIENCE_S = 60.0
# Tells whose a place is: what stands there anew may have the inode of what stood there.
_TOKEN = "token"
# Said instead of a size by whoever wants nothing but that the server stays.
_STAY = bytes(8)
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH)
# Variables that change nothing here. For any other of Python's own a start is cold, unless it has
# -I and hears none.
_HARMLESS = (b"PYTHONDONTWRITEBYTECODE", b"PYTHONUNBUFFERED", b"PYTHON_VERSION", b"PYTHON_SHA256")
# The program that is started: it asks for a fork, hands over its files and stands for it. It takes
# modules in C alone: the library's own around them would be more than half of what it costs.
_CLIENT = """\
#!{python} -IS
import _signal, _socket, marshal, posix, sys
arguments = {first!r} + sys.argv[1:]
changing = [n for n in posix.environ if n[:6] == b"PYTHON" and n not in {harmless!r}]
script = arguments[{count}:][:1]
if {flags!r} and {flags!r} == arguments[:{count}] and script and script[0][:1] not in ("", "-"):
    arguments = arguments[{count}:]
elif {flags!r} and ({pytest!r} != arguments[arguments[:1] == ["-P"] :][:2] or changing):
    posix.execv({python!r}, [{python!r}, *arguments])
data = marshal.dumps((arguments, posix.getcwd(), posix.environ))
files = b"".join(file.to_bytes(4, sys.byteorder) for file in (0, 1, 2))
link = _socket.socket(_socket.AF_UNIX)
link.connect({address!r})
link.sendmsg(
    [len(data).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)]
)
link.sendall(data)
pid = int(link.recv(16))
for number in {forwarded!r}:
    _signal.signal(number, lambda number, frame: posix.kill(pid, number))
link.sendall(b"go")
status = int(link.recv(16) or 70)
if status < 0:
    _signal.signal(-status, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -status)
posix._exit(status)
"""


@functools.cache
def warm_python() -> Path:
    """Give a Python that has pytest, and the gate's own part of a run, loaded when it starts.

    It starts warm for a gate, for `python -m pytest` and, beside it, for `pytest`.
    """
    from tilth.gate.target import PACKAGE, lay_out_modules

    loads = ["pytest", f"{PACKAGE}.plugin"]
    return _open("python", flags=["-I", "-B"], loads=loads, lay_out_modules=lay_out_modules)


def with_warm_gate(environ: dict[str, str]) -> dict[str, str]:
    """Let the gate of these settings start warm; behind a wall nothing outside can be reached."""
    walled = environ["TILTH_SANDBOX"] != "off"
    return environ if walled else {"TILTH_PYTHON": str(warm_python()), **environ}


@functools.cache
def warm_tilth() -> Path:
    """Give a `tilth` that has all of its modules loaded, and what they load when they are used."""
    import tilth

    own = [module.name for module in pkgutil.walk_packages(tilth.__path__, "tilth.")]
    own.remove("tilth.__main__")
    return _open("tilth", flags=[], loads=[*_LOADED_LATE, *own])


def _open(
    name: str,
    *,
    flags: list[str],
    loads: list[str],
    lay_out_modules: Callable[[Path], Path] | None = None,
) -> Path:
    """Have what forks, started by the first process of a run that wants it; it ends with the last.

    Each holds a link to it for as long as it lives.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")[:8] or f"of-{os.getpid()}"
    root = Path(tempfile.gettempdir()) / f"tilth-warm-{name}-{run}"
    with _alone(root):
        link = _link(root)
        if link is None:
            # Nobody is there, or one that is about to end: what it left is of no use.
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(mode=0o700)
            (root / _TOKEN).write_text(secrets.token_hex(), encoding="ascii")
            _lay_out(root, name, flags)
            modules = lay_out_modules(root) if lay_out_modules else root
            opener = _start(
                [sys.executable, *flags, __file__, str(root), str(modules), name, *loads]
            )
            link = _link(root)
            os.close(opener)
    assert link is not None
    atexit.register(link.close)
    return root / "bin" / name


def _link(root: Path) -> socket.socket | None:
    """Have a server stay for as long as the link is open, if there is one."""
    link = socket.socket(socket.AF_UNIX)
    with contextlib.suppress(OSError):
        link.connect(str(root / "socket"))
        link.sendall(_STAY)
        if link.recv(1) == b"y":
            return link
    link.close()
    return None


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Be alone among all that begin and end here; a lock that is taken cannot be removed safely."""
    with root.with_name(f"tilth-warm-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start(argv: list[str]) -> int:
    """Start a server, wait until it listens, and give what ends it once nobody stays."""
    reading, writing = os.pipe()
    server = subprocess.Popen(argv, stdin=reading, stdout=subprocess.PIPE)
    os.close(reading)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    # Others may still want it when this process ends: nobody waits for it.
    atexit.register(server.poll)
    return writing


def _lay_out(root: Path, name: str, flags: list[str]) -> None:
    """Put the program where a virtual environment has it, beside the other programs."""
    folder, own = root / "bin", Path(sys.executable)
    programs: dict[str, list[str]] = {name: [], f"{name}3": []}
    if name == "python":
        # As the script of that name is: the current directory is no place to import from.
        programs["pytest"] = ["-P", *_PYTEST]
    folder.mkdir()
    for program in own.parent.iterdir():
        if not program.name.startswith(name) and program.name not in programs:
            (folder / program.name).symlink_to(program)
    for title, first in programs.items():
        program = folder / title
        text = _CLIENT.format(
            python=str(own),
            first=first,
            flags=flags,
            count=len(flags),
            harmless=_HARMLESS,
            pytest=_PYTEST,
            address=str(root / "socket"),
            forwarded=[int(number) for number in FORWARDED],
        )
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)


# The arguments, the directory and the environment of what was started.
Asked = tuple[list[str], str, dict[bytes, bytes]]


class Server:
    """Fork for everybody who asks, tell them how it ended, and end what nobody waits for."""

    def __init__(self, listening: socket.socket, name: str) -> None:
        self._listening = listening
        self._name = name
        self._running: dict[int, socket.socket] = {}
        self._staying: list[socket.socket] = []

    def serve(self) -> None:
        """Serve until whoever started it has let go and nobody else stays."""
        waking, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        opener = [0]
        while opener or self._staying:
            links = list(self._running.values())
            watched = [*opener, waking, self._listening, *self._staying, *links]
            ready, _, _ = select.select(watched, [], [])
            opener = [file for file in opener if file not in ready]
            self._let_go([link for link in self._staying if link in ready])
            self._drop([link for link in links if link in ready])
            if waking in ready:
                os.read(waking, 512)
                self._reap()
            if self._listening in ready:
                self._start(self._listening.accept()[0])

    def _reap(self) -> None:
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with self._running.pop(pid) as link:
                _tell(link, os.waitstatus_to_exitcode(status))

    def _let_go(self, gone: list[socket.socket]) -> None:
        for link in gone:
            self._staying.remove(link)
            link.close()

    def _drop(self, gone: list[socket.socket]) -> None:
        """End the processes whose program was ended."""
        for pid, link in self._running.items():
            if link in gone:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)

    def _start(self, link: socket.socket) -> None:
        files: list[int] = []
        # All wait for whoever is slow to say what it wants.
        link.settimeout(_PATIENCE_S)
        try:
            asked = _asked(link, files)
            if asked is None:
                link.sendall(b"y")
                self._staying.append(link)
                return
        except (OSError, EOFError, ValueError, TypeError):
            # Whoever asked was ended before all was said.
            for file in files:
                os.close(file)
            link.close()
            return
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become(self._name, asked, files, theirs)
        os.close(theirs)
        # Not before it has a group of its own: whoever hears of it may signal it.
        os.read(ours, 1)
        for file in (ours, *files):
            os.close(file)
        self._running[pid] = link
        _tell(link, pid)
        with contextlib.suppress(OSError):
            link.recv(2)


def _asked(link: socket.socket, files: list[int]) -> Asked | None:
    """Read what is asked for, if anything is; files that come with it are added to those given."""
    size, given, _, _ = socket.recv_fds(link, 8, 3)
    files.extend(given)
    if size == _STAY:
        return None
    with link.makefile("rb") as stream:
        asked: Asked = marshal.loads(stream.read(int.from_bytes(size, "big")))
    return asked


def _tell(link: socket.socket, number: int) -> None:
    try:
        link.sendall(str(number).encode())
    except OSError:
        return  # It was ended itself.


def _become(name: str, asked: Asked, files: list[int], ready: int) -> None:
    """Be the process that was asked for; never come back."""
    status = 1
    try:
        _take_over(asked, files, ready)
        if name == "tilth":
            sys.argv[:] = [name, *asked[0]]
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        elif asked[0][0] in ("-m", "-P"):
            _be_pytest(asked[0])
        else:
            sys.argv[:] = asked[0]
            runpy.run_path(sys.argv[0], run_name="__main__")
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001 (as an interpreter does at its end)
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def _be_pytest(words: list[str]) -> None:
    sys.argv[:] = words[words.index("pytest") :]
    if words[0] == "-m":
        sys.path.insert(0, str(Path.cwd()))
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


def _take_over(asked: Asked, files: list[int], ready: int) -> None:
    """Take on the files, place and environment of the program that asked."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.write(ready, b"y")
    for target, file in enumerate(files):
        os.dup2(file, target)
    os.closerange(3, 256)
    _, place, environ = asked
    os.chdir(place)
    os.environ.clear()
    os.environb.update(environ)
    time.tzset()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout, sys.stderr = _writer(1, "strict"), _writer(2, "backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def _writer(file: int, errors: str) -> io.TextIOWrapper:
    raw = io.FileIO(file, "w", closefd=False)
    lines = file == 2 or os.isatty(file)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors=errors, line_buffering=lines
    )


def main(root: str, modules: str, name: str, *loads: str) -> None:
    """Load what is needed, say so, serve, and leave nothing behind."""
    place = Path(root)
    own = (place / _TOKEN).read_bytes()
    sys.path.insert(0, modules)
    for module in loads:
        importlib.import_module(module)
    del sys.path[0]
    if "pytest" in loads:
        _load_all_of_pytest()
    # What is loaded stays: looking through it again is much of what a start would cost.
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / "socket"))
        listening.listen(64)
        print("ready", flush=True)
        Server(listening, name).serve()
    # Whoever came since found nobody, and may have begun anew in the same place.
    with _alone(place), contextlib.suppress(FileNotFoundError):
        if (place / _TOKEN).read_bytes() == own:
            shutil.rmtree(place)


def _load_all_of_pytest() -> None:
    """Load what pytest loads whenever it starts: the debugger too, and plugins by themselves."""
    from _pytest.config import builtin_plugins

    for module in ("pdb", *(f"_pytest.{plugin}" for plugin in builtin_plugins)):
        importlib.import_module(module)
    # The patterns of the tokenizer, made at its first use.
    list(tokenize.generate_tokens(io.StringIO("").readline))
    for plugin in importlib.metadata.entry_points(group="pytest11"):
        package = importlib.import_module(plugin.module).__name__.partition(".")[0]
        # Else it would be told of in every run: a plugin that is loaded cannot be rewritten.
        sys.modules[package].__doc__ = "PYTEST_DONT_REWRITE"


if __name__ == "__main__":
    main(*sys.argv[1:])
