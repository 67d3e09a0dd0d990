"""The contents of objects: asked for together, and small ones once.

What steers a gate, seed tests and settings are read again and again in a run. Only names in full
are kept, and only the newest few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tilth.base.errors import WorkspaceError
from tilth.git.kept import Kept

ASKED = ("cat-file", "--batch")
LARGEST_KEPT = 32 * 1024
_kept: Kept[bytes] = Kept(most=128)


def read(store: Path, ids: Sequence[str], ask: Callable[[bytes], bytes]) -> list[bytes]:
    """Give the contents of the named objects, in order; `ask` puts names to git."""
    found = {name: content for name in ids if (content := _kept.get(store, name)) is not None}
    new = [name for name in dict.fromkeys(ids) if name not in found]
    if new:
        for name, content in zip(
            new, _split(ask("\n".join([*new, ""]).encode()), new), strict=True
        ):
            found[name] = content
            if len(content) <= LARGEST_KEPT:
                _kept.put(content, store, name)
    return [found[name] for name in ids]


def _split(out: bytes, names: Sequence[str]) -> Iterator[bytes]:
    at = 0
    for name in names:
        end = out.index(b"\n", at)
        header = out[at:end].split(b" ")
        if len(header) != 3:
            raise WorkspaceError(f"git cat-file failed: object {name} is missing")
        at = end + 1 + int(header[2]) + 1
        yield out[end + 1 : at - 1]
