"""One raid for all ways out: every attack in one session of one hostile worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.hostile_world import Raid, attack, open_world, raid
from support.sandbox_site import bubblewrap
from support.ways_out import BOUNDS, DAEMONS, PLANTED, SWAPPER, WAYS_OUT, write_file


@pytest.fixture(autouse=True, scope="session")
def _wall_needed() -> None:
    bubblewrap()


@pytest.fixture(scope="module")
def raided() -> Iterator[Raid]:
    # No longer than its module: the planted keys and home stand in this process's environment.
    others = {f"daemon {name}": attack(line) for name, line in DAEMONS.items()}
    others |= {f"bound {name}": attack(answer) for name, answer in BOUNDS.items()}
    others |= {"swap": attack(SWAPPER, write_file("w40/planted")), "plant": attack(*PLANTED)}
    with open_world("raid") as world:
        yield raid(world, {**WAYS_OUT, **others})
