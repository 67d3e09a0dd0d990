"""Kills at random moments: a short storm; `make crash` runs a long one."""

from __future__ import annotations

from pathlib import Path

from storm import storm


def test_a_short_storm_of_kills_loses_nothing(tmp_path: Path) -> None:
    tally = storm(tmp_path, kills=12, seed=20261116)
    assert tally.kills >= 12
    assert tally.sessions >= 1
