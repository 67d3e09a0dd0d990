"""Tilth as a user has it: its wheel, built from this checkout, installed into an empty environment.

No index is asked: the wheel is installed without its dependencies, and a `.pth` lends those of the
environment the tests run in. Tilth itself is the wheel's alone, for a `.pth` in a directory that is
lent does not count, and so the editable install there does not either. What runs in the sandbox is
copied: there the environment that lends may be hidden.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NEEDED_INSIDE = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def build(target: str, into: Path) -> Path:
    """Build the wheel or the sdist of this checkout, as `make dist` does."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (made,) = into.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return made


def _copy(name: str, into: Path) -> None:
    """Copy an installed distribution, its modules alone."""
    found = distribution(name)
    for file in found.files or ():
        if ".." not in file.parts and file.suffix != ".pyc":
            place = into / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found.locate_file(file), place)


@dataclass(frozen=True)
class Installed:
    """Hold an environment with Tilth in it, and a home that is new."""

    root: Path
    wheel: Path

    @classmethod
    def make(cls, root: Path) -> Installed:
        made = cls(root, build("wheel", root / "dist"))
        venv.create(made.bin.parent, with_pip=False)
        pip = [sys.executable, "-m", "pip", "--python", str(made.python), "install", "--quiet"]
        offline = ["--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check"]
        subprocess.run([*pip, *offline, str(made.wheel)], cwd=root, check=True)
        (made.packages / "lent.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        for name in _NEEDED_INSIDE:
            _copy(name, made.packages)
        # As an installer does: a gate writes none, and would compile them at each of its starts.
        compileall.compile_dir(made.packages, quiet=1)
        made.home.mkdir()
        return made

    @property
    def bin(self) -> Path:
        return self.root / "venv" / "bin"

    @property
    def python(self) -> Path:
        return self.bin / "python"

    @property
    def packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.root / "venv" / "lib" / version / "site-packages"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def environ(self, **more: str) -> dict[str, str]:
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.home), **more}

    def run(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, outside any checkout."""
        return subprocess.run(
            [str(self.bin / argv[0]), *argv[1:]],
            cwd=self.root,
            env=self.environ(**more),
            capture_output=True,
            text=True,
            check=False,
        )
