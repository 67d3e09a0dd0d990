"""Time a start: `tilth --help` against what it cannot do without."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(*argv: str) -> float:
    """Time one process from start to end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *argv], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def help_ratio(rounds: int = 9) -> float:
    """Give how much longer `tilth --help` takes than importing typer, taken in pairs."""
    pairs = [
        (seconds("-m", "tilth", "--help"), seconds("-c", "import typer")) for _ in range(rounds)
    ]
    return statistics.median(ours / bare for ours, bare in pairs)
