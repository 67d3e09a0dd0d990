"""The process of one unit's run: started, waited for and killed by whoever does the work.

The same on this machine and on a worker of a cluster. The child holds the other end of our pipe:
when this process dies, it ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress

from pydantic import ValidationError

from tilth.base.safe_text import one_line
from tilth.fleet.job import Job, UnitReport, failed, lost

_TAIL = 2000


def run_unit(job: str) -> str:
    """Run a job to its report, both as JSON: what a worker of a cluster is asked to do."""
    with UnitProcess(Job.model_validate_json(job)) as process:
        return process.wait().model_dump_json()


class UnitProcess:
    """Hold one running unit."""

    def __init__(self, job: Job) -> None:
        self.name = job.unit.name
        with ExitStack() as stack:
            # Files, not pipes: nobody has to read along, however much is said.
            self._said = stack.enter_context(tempfile.TemporaryFile())
            self._complaints = stack.enter_context(tempfile.TemporaryFile())
            read_end, self._pipe = os.pipe()
            stack.callback(os.close, self._pipe)
            try:
                self._process = self._start(read_end)
            finally:
                os.close(read_end)
            stack.callback(self._end)
            # A child that is dead already is told of when its end is.
            with suppress(BrokenPipeError):
                os.write(self._pipe, job.model_dump_json().encode() + b"\n")
            self._cleanup = stack.pop_all()

    def _start(self, job: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "tilth.fleet.child", str(os.getpid())],
            stdin=job,
            stdout=self._said,
            stderr=self._complaints,
            process_group=0,
        )

    def __enter__(self) -> UnitProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_over(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> UnitReport:
        """Give the report once the run is over."""
        code = self._process.wait()
        self._said.seek(0)
        try:
            return UnitReport.model_validate_json(self._said.read().splitlines()[-1])
        except (IndexError, ValidationError):
            why = f"its process ended with {_ending(code)}{self._last_words()}"
            # One that was not killed has a fault, which it would have again.
            return lost(self.name, why) if code < 0 else failed(self.name, why)

    def close(self) -> None:
        """Leave nothing behind: a run that is still going on is killed."""
        self._cleanup.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _last_words(self) -> str:
        self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, self._complaints.tell() - _TAIL))
        lines = self._complaints.read().decode("utf-8", "replace").strip().splitlines()
        return f": {one_line(lines[-1], 300)}" if lines else ""


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
