"""The viewer at work: the real command, served or exported, and plain requests to it."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from support.warm_start import warm_tilth

# As a person starts it, and as `bench` times it.
COLD = (sys.executable, "-m", "tilth")


def warm() -> tuple[str, ...]:
    """Give a program that starts at a fraction of the cost, for what is not about the start."""
    return (str(warm_tilth()),)


@dataclass(frozen=True)
class Answer:
    """Hold what came back."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Viewer:
    """Hold a running viewer and its address."""

    address: str
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        return self.address.partition("?")[0]

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    def ask(self, path: str, *, method: str = "GET", token: bool = True, **headers: str) -> Answer:
        """Send one request exactly as it is given; header names have their dashes as `_`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            path += ("&" if "?" in path else "?") + f"token={self.token}"
        named.setdefault("Host", f"127.0.0.1:{self.port}")
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in named.items():
                link.putheader(name, value)
            link.endheaders()
            came = link.getresponse()
            return Answer(
                came.status, {k.lower(): v for k, v in came.headers.items()}, came.read().decode()
            )
        finally:
            link.close()


def environ(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TILTH_HOME": str(home), "TZ": "UTC"}


@contextmanager
def served(home: Path, *args: str, program: Sequence[str] = COLD) -> Iterator[Viewer]:
    """Serve a session until the block ends."""
    process = subprocess.Popen(
        [*program, "visualize", *args],
        cwd=home,
        env=environ(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), address
        yield Viewer(address, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)
        if process.stdout:
            process.stdout.close()


def visualize(
    home: Path, *args: str, program: Sequence[str] = COLD
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [*program, "visualize", *args],
        cwd=home,
        env=environ(home),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
