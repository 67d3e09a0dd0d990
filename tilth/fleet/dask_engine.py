"""The engine that hands units to a Dask cluster: one that is there, or one made here.

The only place that knows Dask. What goes through its scheduler are names, paths and settings that
are no keys, and reports; nothing of Tilth is pickled but the name of one function. A worker that is
lost has its unit run again by the scheduler itself; one that keeps losing workers comes back here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tilth.base.errors import UserError
from tilth.base.safe_text import one_line
from tilth.fleet.job import Job, UnitReport, lost
from tilth.fleet.process import run_unit
from tilth.sandbox.removal import temporary_directory

if TYPE_CHECKING:
    from distributed import Client, Future

_REACH_S = 10
_MISSING = "--engine dask needs the package distributed: install tilth[fleet]"


class DaskEngine:
    """Submit each unit as one task; `width` is what the cluster's workers can take at once."""

    def __init__(self, client: Client, most: int | None, cleanup: ExitStack) -> None:
        self._client = client
        self._most = most
        self._cleanup = cleanup
        self._running: dict[str, Future[str]] = {}
        self._submitted = 0

    @property
    def width(self) -> int:
        # A cluster that grows on demand needs something to wait for.
        with _talking():
            threads: int = max(1, sum(self._client.nthreads().values()))
        return threads if self._most is None else min(threads, self._most)

    @property
    def remark(self) -> str:
        with _talking():
            is_empty = not self._client.nthreads()
        return "the cluster has no worker yet; units wait until there is one" if is_empty else ""

    def start(self, job: Job) -> None:
        self._submitted += 1
        with _talking():
            self._running[job.unit.name] = self._client.submit(
                run_unit,
                job.model_dump_json(),
                key=f"tilth-{job.fleet}-{self._submitted}",
                pure=False,
            )

    def ended(self, wait_s: float) -> Iterator[UnitReport]:
        from distributed import wait

        futures = list(self._running.values())
        with _talking(), suppress(TimeoutError, CancelledError):
            wait(futures, timeout=wait_s, return_when="FIRST_COMPLETED")
        if self._client.status != "running":
            raise _gone("the connection was lost")
        for name, future in list(self._running.items()):
            if future.done():
                del self._running[name]
                yield _report(name, future)

    def withdraw(self) -> tuple[str, ...]:
        with _talking():
            # A worker that is there may have begun one already: those come to their end.
            if not self._running or self._client.nthreads():
                return ()
            self._client.cancel(list(self._running.values()))
        names = tuple(self._running)
        self._running.clear()
        return names

    def close(self) -> None:
        self._cleanup.close()


@contextmanager
def _talking() -> Iterator[None]:
    """Say in one line that a scheduler went away; what the units did stands in their sessions."""
    try:
        yield
    except OSError as error:
        raise _gone(str(error)) from None


def _gone(why: str) -> UserError:
    said = one_line(why, 200)
    return UserError(
        f"the Dask scheduler does not answer any more ({said}); the same command goes on where the "
        "units stopped"
    )


def open_dask(address: str | None, jobs: int | None) -> DaskEngine:
    """Reach a scheduler, or make one here with a worker for each of `jobs`."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UserError(_MISSING) from None
    _hush()
    with ExitStack() as stack:
        if address is None:
            folder = stack.enter_context(temporary_directory("tilth-dask-"))
            cluster: Any = stack.enter_context(
                LocalCluster(
                    n_workers=jobs or 1,
                    threads_per_worker=1,
                    dashboard_address=None,
                    local_directory=str(folder),
                    host="127.0.0.1",
                    silence_logs=logging.CRITICAL,
                )
            )
            address, jobs = cluster.scheduler_address, None
        client = stack.enter_context(_client(Client, str(address)))
        return DaskEngine(client, jobs, stack.pop_all())


def _hush() -> None:
    """Have Dask not talk of every worker that comes and goes; what matters is said by the fleet."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _client(kind: type[Client], address: str) -> Client:
    try:
        return kind(address, timeout=_REACH_S)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        said = one_line(str(error) or type(error).__name__, 200)
        raise UserError(
            f"the Dask scheduler at {one_line(address, 100)} cannot be reached: {said}; is it "
            "running, and the address like tcp://host:8786?"
        ) from None


def _report(name: str, future: Future[str]) -> UnitReport:
    """Read what came of a task; whatever a cluster can do to one, the unit can be run again."""
    error = future.exception() if not future.cancelled() else None
    if error is None and not future.cancelled():
        return UnitReport.model_validate_json(future.result())
    why = "the cluster forgot it" if error is None else f"{type(error).__name__}: {error}"
    return lost(name, f"its worker was lost: {one_line(why, 300)}")
