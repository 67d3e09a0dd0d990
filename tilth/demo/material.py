"""The material: read from the package and laid out on disk. It never plays anything."""

from __future__ import annotations

from pathlib import Path

from tilth.base.errors import UserError
from tilth.git.command import write_file
from tilth.git.fresh import make_repo
from tilth.git.source import SourceRepo

_HERE = Path(__file__).parent
_SUFFIX = ".txt"
_BORN = "2026-01-05T09:00:00+00:00"

RECORDING = _HERE / "events.jsonl"
# The plan, the tests and the recording of ten tasks that are worked on at the same time.
LANES = _HERE / "lanes"


def recording_path(*, lanes: bool = False) -> Path:
    """Give the recorded session's log."""
    path = LANES / "events.jsonl" if lanes else RECORDING
    if not path.is_file():
        raise UserError(f"{path} is missing from Tilth's own installation; install Tilth again")
    return path


def lay_out_project(root: Path) -> SourceRepo:
    """Make the project's repository; its one commit has the same id everywhere."""
    return make_repo(root, _files("project"), "An invoice and its lines", "Demo", _BORN)


def lay_out_bundle(root: Path, folder: str = "bundle") -> Path:
    """Write the PRD with its seed tests and give its directory."""
    for path, content in _files(folder).items():
        write_file(root / path, content)
    return root


def _files(folder: str) -> dict[str, bytes]:
    top = _HERE / folder
    found = {
        str(path.relative_to(top)).removesuffix(_SUFFIX): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.suffix in (_SUFFIX, ".json")
    }
    if not found:
        raise UserError(f"{top} is missing from Tilth's own installation; install Tilth again")
    return found
