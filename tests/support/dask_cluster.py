"""A real Dask cluster on loopback: a scheduler and workers, each a process that can be killed.

Every process dies with the test that started it, whatever becomes of the test.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from support.waiting import wait_for

RUN = """
import os, sys
from tilth.fleet.watchdog import die_with
die_with(int(sys.argv.pop(1)))
sys.argv[0] = sys.argv.pop(1)
from importlib import import_module
import_module(f"distributed.cli.{sys.argv[0]}").main()
"""


class DaskCluster:
    """Hold one scheduler and its workers; `environ` is what the workers find, keys included."""

    def __init__(self, root: Path, workers: int, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = dict(environ)
        self._count = workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self.killed: list[int] = []

    def __enter__(self) -> DaskCluster:
        self._root.mkdir(parents=True, exist_ok=True)
        file = self._root / "scheduler.json"
        # Only the workers have the keys.
        bare = {"PATH": self._environ["PATH"]}
        try:
            about = ("--port", "0", "--scheduler-file", str(file))
            self._start(bare, "dask_scheduler", *about)
            wait_for(lambda: file.exists() and file.read_text(), "the scheduler")
            self.address: str = json.loads(file.read_text())["address"]
            for _ in range(self._count):
                self.add_worker()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def add_worker(self) -> None:
        folder = ("--local-directory", str(self._root))
        alone = ("--nthreads", "1", "--no-nanny")
        self._start(self._environ, "dask_worker", self.address, *alone, *folder)

    def kill(self, pid: int) -> None:
        """Kill one worker, and let another take its place."""
        assert pid in {process.pid for process in self._processes}
        os.kill(pid, signal.SIGKILL)
        self.killed.append(pid)
        self.add_worker()

    def kill_scheduler(self) -> None:
        self._processes[0].kill()
        self._processes[0].wait()

    def _start(self, environ: Mapping[str, str], program: str, *args: str) -> None:
        # It serves pages even without a dashboard: on a port that nobody else wants.
        quiet = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        with (self._root / f"{program}.log").open("ab") as log:
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-c", RUN, str(os.getpid()), program, *args, *quiet],
                    env={**environ, "DASK_TEMPORARY_DIRECTORY": str(self._root)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def _end(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
