"""Globs: what they stand for, and that none of them runs away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tilth.gate.steering import fits_one

ROOT = Path(__file__).parents[3]
CALLS = """\
from tilth.gate.steering import fits_one

deep = "/".join("a" * 60)
assert not fits_one("a" * 200, ("*a" * 30 + "b",))
assert not fits_one(deep, ("**/a/" * 30 + "b",))
assert not fits_one("a" * 200, ("**a" * 30 + "b",))
assert not fits_one("/".join("a" * 2000), ("**/*a*/" * 2000 + "b",))
"""


def test_no_pattern_takes_longer_than_its_path() -> None:
    # In a process of its own: what goes back and forth in a pattern would never end.
    subprocess.run([sys.executable, "-c", CALLS], cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("a*b*c", "axbxc", True),
        ("a*b*c", "a/b/c", False),
        ("a**c", "abc", True),
        ("a**c", "a/b/c", False),
        ("src/**", "src/a/b.py", True),
        ("src/**", "other/src/a.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/b/c/a.py", True),
        ("src/**/a.py", "src/ba.py", False),
        ("/a.py", "a.py", True),
        ("/a.py", "b/a.py", False),
        ("**/**/a.py", "a.py", True),
        ("**/*.py", "b/a.py", True),
        ("[a].py", "a.py", False),
        ("[a].py", "[a].py", True),
        ("?.py", "é.py", True),
        ("a?b", "a/b", False),
        ("*.py", "a\nb.py", True),
        ("***/a", "b/c/a", True),
        ("a", "", False),
        ("**", "", True),
    ],
)
def test_a_glob_of_a_plan_fits_whole_paths(glob: str, path: str, fits: bool) -> None:
    assert fits_one(path, (glob,)) is fits
