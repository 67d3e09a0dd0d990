"""Workers killed in the middle of their units, at points that a seed chooses."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from support.dask_cluster import DaskCluster
from support.fleet_site import FleetSite, answer, number_of, parent_of
from support.messages_api import Reply, Request

WORKER_CALLS = 2  # of one unit that nobody disturbs
PATIENCE_S = 70  # with one unit, on a machine that has much else to do


class Kills:
    """Answer as ever, but kill the worker of some units when they ask.

    The awaited point is a request of the unit's own session: it stands on disk, holds its lock, and
    waits for an answer.
    """

    def __init__(self, root: Path, units: int, kills: int, seed: int) -> None:
        points = [(unit, call) for unit in range(1, units + 1) for call in range(WORKER_CALLS)]
        self._planned = set(random.Random(seed).sample(points, kills))
        self._asked: Counter[int] = Counter()
        self.site = FleetSite(root, units, self._answer)
        self.cluster: DaskCluster | None = None
        # The processes of the sessions whose workers were killed.
        self.orphans: list[int] = []

    def _answer(self, request: Request) -> Reply:
        unit = number_of(request)
        if unit is not None:
            call = self._asked[unit]
            self._asked[unit] += 1
            if (unit, call) in self._planned and self.cluster is not None:
                session = self.site.holder(unit)
                assert session is not None
                self.orphans.append(session)
                self.cluster.kill(parent_of(session))
        return answer(request)

    def run(self, workers: int) -> None:
        """Run all units on a cluster, and hold them against what they must be."""
        with self.site.server:
            with DaskCluster(self.site.root / "dask", workers, self.site.environ()) as cluster:
                self.cluster = cluster
                # Keys are for the workers: the command that hands units out has none.
                bare = {"TILTH_API_KEY": "", "TILTH_WORKER_MODEL": ""}
                options = ("--engine", "dask", "--scheduler", cluster.address)
                done = self.site.run(*options, patience_s=PATIENCE_S * self.site.count, **bare)
            assert done.returncode == 0, done.stdout + done.stderr
            assert len(cluster.killed) == len(self._planned)
        self.site.check_all()
