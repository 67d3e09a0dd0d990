"""A storm of kills: sessions that are killed at random moments until they are done.

    python tests/storm.py KILLS [SEED] [JOBS]

Every session is killed with `kill -9`, children included, after a random time, and resumed, over
and over. In the end each must be as if nobody had disturbed it. Prints how many kills it survived.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.crash_stage import Stage  # found beside this file, also when it is run by name

# A machine that is busier than it was in the calm needs longer for each step: whoever was killed
# often is left alone for longer, so that every session gets through.
PATIENCE = 1.1


@dataclass
class Tally:
    """Count what a storm did."""

    kills: int = 0
    sessions: int = 0
    torn: int = 0


def storm(
    root: Path, kills: int, seed: int, tell: Callable[[str], None] | None = None, jobs: int = 1
) -> Tally:
    """Kill sessions until there were enough kills; raises at the first thing that was lost."""
    chance, tally = random.Random(seed), Tally()
    calm = Stage(root / "calm", TILTH_JOBS=str(jobs))
    with calm.server:
        began = time.monotonic()
        assert calm.begin() == 0
        length = time.monotonic() - began
    calm.check()
    while tally.kills < kills:
        stage = Stage(root / f"{tally.sessions}", TILTH_JOBS=str(jobs))
        _suffer(stage, chance, length, calm.tree(), tally)
        if tell is not None:
            tell(f"{tally.kills} kills, {tally.sessions} sessions")
    return tally


def _suffer(stage: Stage, chance: random.Random, length: float, tree: str, tally: Tally) -> None:
    """Kill one session at random moments until it gets through."""
    before: list[bytes] = []
    longest = length * 0.4
    with stage.server:
        while True:
            code = stage.go_on(life_s=chance.uniform(0, longest))
            now = stage.acknowledged()
            assert now[: len(before)] == before, "an acknowledged record was changed"
            before = now
            if code == 0:
                break
            assert code == -9, f"a resume ended with exit code {code}"
            tally.kills += 1
            longest *= PATIENCE
            tally.torn += _tear(stage, chance)
    stage.check(tree)
    tally.sessions += 1


def _tear(stage: Stage, chance: random.Random) -> bool:
    """Now and then leave half a line, as a power cut would."""
    if chance.random() > 0.1 or not stage.acknowledged():
        return False
    with stage.log.open("ab") as log:
        log.write(b'{"seq": 1, "ts": "20')
    return True


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    given = sys.argv[2] if len(sys.argv) > 2 else ""
    seed = int(given) if given else int.from_bytes(os.urandom(4), "big")
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    print(f"seed {seed}, {jobs} job(s)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = storm(Path(folder), kills, seed, lambda line: print(line, flush=True), jobs)
    print(
        f"survived {tally.kills} kills over {tally.sessions} sessions, "
        f"{tally.torn} of them with a torn line; nothing was lost"
    )


if __name__ == "__main__":
    main()
