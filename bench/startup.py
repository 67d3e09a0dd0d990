"""Time a start: `tilth --help` against what it cannot do without."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.endpoint import ROOT

sys.path.insert(0, str(ROOT / "tests"))


def seconds(*argv: str) -> float:
    """Time one process from start to end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *argv], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def help_ratio(rounds: int = 9) -> float:
    """Give how much longer `tilth --help` takes than importing typer, taken in pairs."""
    pairs = [
        (seconds("-m", "tilth", "--help"), seconds("-c", "import typer")) for _ in range(rounds)
    ]
    return statistics.median(ours / bare for ours, bare in pairs)


def first_request_ratio(rounds: int = 5) -> float:
    """Give how much longer `tilth run` takes to its first request than importing the SDK does.

    The sandbox is on, the worktree is made and the seed test is run before that request.
    """
    from support.flow_site import Site
    from support.messages_api import MessagesServer, Request, error

    asked: list[float] = []

    def script(request: Request) -> object:
        asked.append(time.perf_counter())
        return error(400, "enough")

    pairs = []
    with tempfile.TemporaryDirectory() as folder, MessagesServer(script) as server:
        site = Site.make(Path(folder) / "site")
        environ = site.environ(server.url, TILTH_SANDBOX="auto")
        argv = [sys.executable, "-m", "tilth", "run", str(site.bundle(1)), "--repo", str(site.repo)]
        for _ in range(rounds):
            bare = seconds("-c", "import anthropic; anthropic.Anthropic(api_key='x').messages")
            asked.clear()
            began = time.perf_counter()
            subprocess.run([*argv, "--new"], env=environ, check=False, capture_output=True)
            pairs.append((asked[0] - began, bare))
    return statistics.median(ours / bare for ours, bare in pairs)
