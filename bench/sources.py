"""Real projects: their source distributions, fetched by pip when a measurement asks for them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
from pathlib import Path


def fetch(name: str, into: Path) -> Path:
    """Unpack a project's newest source distribution and give its directory."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "-d", str(into), name], check=True, capture_output=True)
    [archive] = into.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(into / "source", filter="data")
    [source] = (into / "source").iterdir()
    return source


def install(source: Path, home: Path, *needs: str) -> Path:
    """Install a project and what its tests need into a new environment; give its interpreter."""
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "-e", str(source), *needs], check=True, capture_output=True)
    return python
