"""Programs that start warm: a process that has loaded what they need forks for each start.

Most of what a short process costs is importing: pytest for a gate, the SDK for `tilth`. Here that
is done once for each process that runs tests; everything else is as real as before. The tests of
the gate itself, of the sandbox, of an installed Tilth and of its start take a cold Python.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import io
import marshal
import os
import pkgutil
import runpy
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
from collections.abc import Callable
from pathlib import Path

# What Tilth and the SDK import only when they come to need it.
_LOADED_LATE = ("anthropic", "genai_prices.data", "httpcore2", "prompt_toolkit", "rich.markdown")
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH)
# The program that is started: it asks for a fork, hands over its files and stands for it. It takes
# modules in C alone: the library's own around them would be more than half of what it costs.
_CLIENT = """\
#!{python} -IS
import _signal, _socket, marshal, posix, sys
arguments = sys.argv[1:]
if {flags!r} != arguments[:{count}] or arguments[{count}:][:1] in (["-c"], ["-m"]):
    posix.execv({python!r}, [{python!r}, *arguments])
data = marshal.dumps((arguments[{count}:], posix.getcwd(), posix.environ))
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
    """Give a Python that has pytest, and the gate's own part of a run, loaded when it starts."""
    from tilth.gate.pytest_run import PACKAGE, lay_out_modules

    loads = ["pytest", f"{PACKAGE}.report"]
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
    """Start what forks; it ends with this process, when the other end of its pipe is closed."""
    root = Path(tempfile.mkdtemp(prefix="tilth-warm-"))
    program = _lay_out(root, name, flags)
    modules = lay_out_modules(root).parent if lay_out_modules else root
    reading, writing = os.pipe()
    argv = [sys.executable, *flags, __file__, str(root / "socket"), str(modules), name, *loads]
    server = subprocess.Popen(argv, stdin=reading, stdout=subprocess.PIPE)
    os.close(reading)
    atexit.register(_close, server, root, os.getpid(), writing)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return program


def _close(server: subprocess.Popen[bytes], root: Path, owner: int, writing: int) -> None:
    if os.getpid() == owner:
        os.close(writing)
        server.wait()
        shutil.rmtree(root)


def _lay_out(root: Path, name: str, flags: list[str]) -> Path:
    """Put the program where a virtual environment has it, beside the other programs."""
    folder, own = root / "bin", Path(sys.executable)
    folder.mkdir()
    for program in own.parent.iterdir():
        if not program.name.startswith(name):
            (folder / program.name).symlink_to(program)
    text = _CLIENT.format(
        python=str(own),
        flags=flags,
        count=len(flags),
        address=str(root / "socket"),
        forwarded=[int(number) for number in FORWARDED],
    )
    program = folder / name
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    (folder / f"{name}3").symlink_to(program)
    return program


# The arguments, the directory and the environment of what was started.
Asked = tuple[list[str], str, dict[bytes, bytes]]


class Server:
    """Fork for everybody who asks, tell them how it ended, and end what nobody waits for."""

    def __init__(self, listening: socket.socket, name: str) -> None:
        self._listening = listening
        self._name = name
        self._running: dict[int, socket.socket] = {}

    def serve(self) -> None:
        waking, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            links = list(self._running.values())
            ready, _, _ = select.select([0, waking, self._listening, *links], [], [])
            if 0 in ready:
                return
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

    def _drop(self, gone: list[socket.socket]) -> None:
        """End the processes whose program was ended."""
        for pid, link in self._running.items():
            if link in gone:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)

    def _start(self, link: socket.socket) -> None:
        files: list[int] = []
        try:
            asked = _asked(link, files)
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


def _asked(link: socket.socket, files: list[int]) -> Asked:
    """Read what is asked for; the files that come with it are added to those given."""
    size, given, _, _ = socket.recv_fds(link, 8, 3)
    files.extend(given)
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


def main(address: str, modules: str, name: str, *loads: str) -> None:
    """Load what is needed, say so, and serve."""
    sys.path.insert(0, modules)
    for module in loads:
        importlib.import_module(module)
    del sys.path[0]
    if "pytest" in loads:
        from _pytest.config import builtin_plugins

        # The debugger, which pytest loads whenever it starts.
        for module in ("pdb", *(f"_pytest.{plugin}" for plugin in builtin_plugins)):
            importlib.import_module(module)
        # The patterns of the tokenizer, made at its first use.
        list(tokenize.generate_tokens(io.StringIO("").readline))
    # What is loaded stays: looking through it again is much of what a start would cost.
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        Server(listening, name).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
