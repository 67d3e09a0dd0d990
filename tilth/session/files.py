"""The files of one session, written whole or appended to, and only while its run may write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tilth.base.errors import CorruptSession
from tilth.base.plain_file import read_plain
from tilth.base.values import Value, describe_faults
from tilth.session.fence import Guard
from tilth.session.store import (
    PRIVATE_DIR,
    Journal,
    read_lines,
    replace_bytes,
    replace_json,
    write_new,
)

ValueT = TypeVar("ValueT", bound=Value)


class Files:
    """Write below one directory, each time inside the guard."""

    def __init__(self, directory: Path, guard: Guard) -> None:
        self._directory = directory
        self._guard = guard

    def replace(self, name: str, content: bytes) -> None:
        """Replace a file atomically."""
        with self._guard():
            replace_bytes(self._directory / name, content)

    def replace_json(self, name: str, value: Any) -> None:
        """Replace a JSON file atomically."""
        with self._guard():
            replace_json(self._directory / name, value)

    def append(self, name: str | Path, line: str) -> None:
        """Append one line and have it on disk."""
        with self._guard():
            journal = Journal(self._directory / name)
            try:
                journal.append(line, sync=True)
            finally:
                journal.close()


def read_tests(folder: Path) -> dict[str, bytes]:
    """Read a session's pristine acceptance tests, by their names."""
    try:
        return {path.name: read_plain(path) for path in folder.iterdir()}
    except OSError as error:
        where = error.filename or folder
        raise CorruptSession(f"{where}: cannot be read: {error.strerror}") from None


def stage(directory: Path, checkpoint: Any, plan: Any, seed_tests: Mapping[str, bytes]) -> None:
    """Fill the directory of a session that is not yet in its place."""
    for name in ("ledger", "seed-tests"):
        (directory / name).mkdir(mode=PRIVATE_DIR)
    write_new(directory / "seed-tests", seed_tests)
    replace_json(directory / "checkpoint.json", checkpoint)
    if plan is not None:
        replace_json(directory / "prd.json", plan)
    write_new(directory, {"events.jsonl": b"", "progress.txt": b""})


def entries(model: type[ValueT], path: Path) -> Iterator[ValueT]:
    """Read the lines of a file, each as one value."""
    for at, line in enumerate(read_lines(path), start=1):
        yield validated(model, line, f"{path}: line {at}")


def validated(model: type[ValueT], content: Any, where: str) -> ValueT:
    """Read a value, or name the place that does not hold one."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise CorruptSession(f"{where}: {describe_faults(error)}") from None
