"""A storm over lanes: thirty made plans, shuffled answers, any number of jobs, and kills.

    python tests/lane_storm.py [PLANS] [FIRST SEED]

Every plan is run with 2, 3 and 5 jobs under shuffled delays, and once more with kills at random
steps. All must come to the same commits, tree for tree and message for message. The sessions of a
plan that does not are kept, and said where.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.lane_kills import suffer  # found beside this file, also when it is run by name
from support.lane_plans import Outcome, PlanSite, make_plan

from tilth.model.messages import Role


def weather(root: Path, seed: int) -> tuple[Outcome, int]:
    """Play one plan in every way; gives what it comes to, and how often it was killed."""
    site = PlanSite(root / str(seed), make_plan(seed))
    first = site.run(2, _shuffled(seed))
    for jobs in (3, 5):
        _same(first, site.run(jobs, _shuffled(seed + jobs)), f"plan {seed} with {jobs} jobs")
    fresh = PlanSite(root / f"{seed}-killed", site.plan)
    calm = fresh.run(2)
    chance = random.Random(seed)
    again, kills = suffer(fresh, calm, chance, jobs=chance.choice((2, 3, 5)))
    _same(calm, again, f"plan {seed} after {kills} kills")
    return first, kills


def _shuffled(seed: int) -> Callable[[int, Role], None]:
    chance = random.Random(seed)
    return lambda number, role: time.sleep(chance.random() * 0.02)


def _same(first: Outcome, other: Outcome, what: str) -> None:
    if (first.commits, first.ended) != (other.commits, other.ended):
        raise AssertionError(f"{what} came to something else:\n{first}\n{other}")


def main() -> None:
    plans = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    killed = 0
    folder = Path(tempfile.mkdtemp(prefix="lane-storm-"))
    for seed in range(start, start + plans):
        try:
            first, kills = weather(folder, seed)
        except AssertionError:
            print(f"plan {seed}: its sessions are kept in {folder}", flush=True)
            raise
        killed += kills
        print(f"plan {seed}: {len(first.commits)} commits, {kills} kills", flush=True)
        for place in folder.iterdir():
            shutil.rmtree(place)
    folder.rmdir()
    print(f"{plans} plans, {killed} kills: the same commits whatever the timing")


if __name__ == "__main__":
    main()
