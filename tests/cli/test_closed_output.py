"""Output that cannot be written: one clear line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_no_internal_error(
    tmp_path: Path, redirection: str
) -> None:
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m tilth config {redirection}', sys.executable],
        env={"PATH": os.environ["PATH"], "TILTH_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
