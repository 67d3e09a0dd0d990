"""An endpoint in a process of its own that answers with tool calls and notes when it was asked.

    python -m bench.endpoint TURNS

Prints its URL, serves until its standard input closes, then prints the times of the requests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.messages_api import Answer, MessagesServer, Request, call, say  # noqa: E402  # tests/ is no package

COMMANDS = (
    ("bash", {"command": "echo turn"}),
    ("read_file", {"path": "README.md"}),
    ("grep", {"pattern": "Sample", "path": "."}),
    ("write_file", {"path": "notes.txt", "content": "a line of notes\n" * 40}),
)


class Times:
    """Answer a fixed number of tool calls, then nothing but words."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.at: list[float] = []

    def __call__(self, request: Request) -> Answer:
        self.at.append(time.monotonic())
        if len(self.at) > self.turns:
            return say("That is all.")
        name, arguments = COMMANDS[len(self.at) % len(COMMANDS)]
        text = say("I take the next step of the work, as planned, and look at what comes of it.")
        return text + call(name, **arguments)


def serve(turns: int) -> None:
    """Serve until standard input closes."""
    times = Times(turns)
    with MessagesServer(times) as server:
        print(server.url, flush=True)
        sys.stdin.read()
    print(json.dumps(times.at), flush=True)


class Endpoint:
    """Stand for a running endpoint."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url = url
        self.gaps: list[float] = []

    def stop(self) -> None:
        out, _ = self._process.communicate(timeout=30)
        at = json.loads(out)
        # The first gap holds imports and warm-up on both sides.
        self.gaps = [after - before for before, after in pairwise(at[1:])]


@contextmanager
def endpoint(turns: int) -> Iterator[Endpoint]:
    """Run an endpoint beside us; after the block its gaps are known."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.endpoint", str(turns)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.stdout is None:
        raise RuntimeError("the endpoint has no output")
    running = Endpoint(process, process.stdout.readline().strip())
    try:
        yield running
    finally:
        running.stop()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
