"""The program that runs inside a sandbox and starts its commands, one after another.

It is the first process of the sandbox's process namespace. For each request it forks; the child
gets an IPC namespace of its own, gives up every capability and becomes the command. When the
command is over all that it left is killed and the temporary directories are emptied, so nothing
lives or lies there between two requests. When whoever asks is gone it ends, and the namespace with
it. It stands alone: it is handed to an isolated interpreter as text and imports the standard
library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import struct
import sys
from typing import Any

_NEW_NS, _NEW_IPC = 0x00020000, 0x08000000
_REC, _PRIVATE = 0x4000, 0x40000
_MOST_LEFT = 1000
# As /tmp is everywhere.
_FOR_ALL = 0o1777
_CAPBSET_DROP, _AMBIENT, _AMBIENT_CLEAR = 24, 47, 4
_CAP_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_REAP_MS = 200
_FAILED = 125
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Serve requests on the socket that was inherited, until its other end is closed."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    # What is mounted outside from now on must not appear in here.
    _check(_libc.unshare(_NEW_NS))
    _check(_libc.mount(None, b"/", None, ctypes.c_ulong(_REC | _PRIVATE), None))
    _tell(channel, {"ready": True})
    while (request := _asked(channel)) is not None:
        try:
            answer = _serve(channel, *request)
        except OSError as error:
            # A command may lower our own limits; then another sandbox must take over.
            fault = {"step": "enter", "errno": error.errno, "text": str(error)}
            answer = {"status": None, "fault": fault, "clear": False}
        _tell(channel, answer)


def _serve(channel: socket.socket, wanted: dict[str, Any], output: int) -> dict[str, Any]:
    heard, told = os.pipe()
    step = "enter"
    child = os.fork()
    if child == 0:
        try:
            _enter(wanted, output)
            step = "exec"
            os.execvpe(wanted["argv"][0], wanted["argv"], wanted["env"])  # noqa: S606  # its task
        except (OSError, ValueError, TypeError, LookupError) as error:
            number = error.errno if isinstance(error, OSError) else None
            fault = {"step": step, "errno": number, "text": str(error)[:300]}
            os.write(told, json.dumps(fault).encode())
        finally:
            os._exit(_FAILED)
    os.close(told)
    os.close(output)
    try:
        status = _wait(channel, child)
        _end_all()
        said = os.read(heard, 4096)
    finally:
        os.close(heard)
    return {
        "status": status,
        "fault": json.loads(said) if said else None,
        "clear": _cleared(wanted),
    }


def _cleared(wanted: dict[str, Any]) -> bool:
    """Clear away what a command left in the temporary directories; tell whether that was all."""
    try:
        for place in wanted["fresh"]:
            _clear(**place)
    except (OSError, RecursionError):
        return False
    return True


def _wait(channel: socket.socket, child: int) -> int | None:
    """Wait for the command's end or a wish to end it, and bury others that died meanwhile."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    ended = os.pidfd_open(child)
    poll.register(ended, select.POLLIN)
    try:
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(_REAP_MS)}
            while True:
                try:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    return None
                if pid == child:
                    return status
                if pid == 0:
                    break
            if channel.fileno() in ready:
                if not channel.recv(1):
                    os._exit(0)
                return None
    finally:
        os.close(ended)


def _end_all() -> None:
    """Kill every other process of the namespace, and wait until none is left."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _enter(wanted: dict[str, Any], output: int) -> None:
    os.setsid()
    _check(_libc.unshare(_NEW_IPC))
    os.chdir(wanted["cwd"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    _give_up_capabilities()
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def _clear(path: str, kept: list[str]) -> None:
    """Empty a directory but for the mounts below it and the way to them."""
    os.chmod(path, _FOR_ALL)
    left = _MOST_LEFT
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        for entry in list(os.scandir(folder)):
            if entry.path in kept:
                continue
            if any(one.startswith(f"{entry.path}/") for one in kept):
                waiting.append(entry.path)
                continue
            left -= 1
            if left < 0:
                raise OSError(f"{path} holds too much to be cleared")
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, onerror=_open_and_retry)
            else:
                os.unlink(entry.path)


def _open_and_retry(again: Any, path: str, error: Any) -> None:
    for closed in (os.path.dirname(path), path):
        if not os.path.islink(closed):
            os.chmod(closed, 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _give_up_capabilities() -> None:
    for number in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_CAPBSET_DROP, number, 0, 0, 0)
    _libc.prctl(_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    header = struct.pack("=Ii", _CAP_VERSION, 0)
    _check(_libc.capset(header, bytes(24)))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _asked(channel: socket.socket) -> tuple[dict[str, Any], int] | None:
    """Take one request: a mark with the descriptor of the output, then its length and its text."""
    handles: list[int] = []
    while not handles:
        mark, handles, _, _ = socket.recv_fds(channel, 1, 1)
        if not mark:
            return None
        # A mark that comes alone asked for an end that had come already.
    os.set_inheritable(handles[0], False)
    left = struct.unpack("=I", _exactly(channel, 4))[0]
    return json.loads(_exactly(channel, left)), handles[0]


def _exactly(channel: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = channel.recv(min(size, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _tell(channel: socket.socket, answer: dict[str, Any]) -> None:
    channel.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
