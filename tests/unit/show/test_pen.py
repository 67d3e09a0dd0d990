"""A stream that may go away: what it could not write is forgotten, and fails nobody later."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilth.show.pen import Pen


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_could_not_be_written_does_not_fail_at_the_end() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        Pen(full).write("lost")
        full.flush()
