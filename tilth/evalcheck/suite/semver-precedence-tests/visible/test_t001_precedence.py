from itertools import combinations
from pathlib import Path

import pytest

from versions import VersionError, compare

RISING = [
    "0.9.0",
    "0.10.0",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "2.0.0-0",
]


# AC-1, AC-2
@pytest.mark.parametrize(("low", "high"), list(combinations(RISING, 2)))
def test_versions_rise(low, high):
    assert compare(low, high) == -1
    assert compare(high, low) == 1


# AC-2
@pytest.mark.parametrize("text", ["1.0.0", "1.0.0+build", "1.0.0+1.2"])
def test_the_build_does_not_count(text):
    assert compare(text, "1.0.0") == 0


# AC-1
def test_what_is_no_version_is_refused():
    with pytest.raises(VersionError):
        compare("1.0", "1.0.0")


# AC-3
def test_there_are_tests():
    path = Path(__file__).parent / "test_precedence.py"
    assert "def test_" in path.read_text(encoding="utf-8")
