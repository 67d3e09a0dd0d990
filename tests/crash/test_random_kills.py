"""Kills at random moments: a short storm and a few lives; `make crash` runs long ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from lives import live
from storm import storm


def test_a_short_storm_of_kills_loses_nothing(tmp_path: Path) -> None:
    tally = storm(tmp_path, kills=12, seed=20261116)
    assert tally.kills >= 12
    assert tally.sessions >= 1


# In the first, what waits to land is dropped between two starts.
@pytest.mark.parametrize("seed", [204, 104])
def test_a_life_of_kills_stops_drops_and_changing_jobs_loses_nothing(
    tmp_path: Path, seed: int
) -> None:
    life, _ = live(tmp_path, seed)
    assert life.kills + life.stops > 0
