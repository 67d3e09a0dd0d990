"""An endpoint for lanes in a process of its own: it answers by what it is shown, after a while.

    python -m bench.lane_endpoint TASKS TURNS SECONDS

Prints its URL and serves until its standard input closes. A model stands elsewhere too: in the
process that is measured it would take from the lanes what they are measured by.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.endpoint import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.flow_site import submit, write  # tests/ is no package
from support.lane_stage import Script
from support.messages_api import MessagesServer, call


def serve(tasks: int, turns: int, seconds: float) -> None:
    """Serve until standard input closes."""
    look = [call("bash", command=f"echo {turn}") for turn in range(turns)]
    steps = {
        number: [*look, write(f"feature{number}.py", f"FEATURE = {number}\n"), submit(number)]
        for number in range(1, tasks + 1)
    }
    script = Script(steps, before=lambda number, role: time.sleep(seconds))
    with MessagesServer(script, at_once=True) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def lane_endpoint(tasks: int, turns: int, seconds: float) -> Iterator[str]:
    """Run such an endpoint beside us; gives its URL."""
    argv = [sys.executable, "-m", "bench.lane_endpoint", *map(str, (tasks, turns, seconds))]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None or process.stdin is None:
            raise RuntimeError("the endpoint has no output")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
