"""A fleet in a storm: twelve units on three workers that are killed at random until all are done.

    python tests/fleet_storm.py [KILLS] [SEED]

Every kill comes while a session waits for its model. In the end each unit has one session, one
commit and an unbroken record, and no process is left. Prints what it survived.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.fleet_kills import Kills  # found beside this file, also when it is run by name
from support.fleet_site import is_alive
from support.waiting import wait_for

UNITS = 12
WORKERS = 3


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        storm = Kills(Path(folder) / "fleet", UNITS, kills, seed)
        storm.run(WORKERS)
        for orphan in storm.orphans:
            wait_for(lambda pid=orphan: not is_alive(pid), f"process {orphan} to end")
    print(
        f"{UNITS} units on {WORKERS} workers survived {kills} kills: each once, all commits there"
    )


if __name__ == "__main__":
    main()
