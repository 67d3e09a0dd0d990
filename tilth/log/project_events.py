"""Events about the project a session works on, as the gate and the worker are given it."""

from __future__ import annotations

from typing import ClassVar, Literal

from tilth.base.values import Value
from tilth.log.envelope import Payload


class CarriedFile(Value):
    """Name a file that git ignores and that the session carries."""

    path: str
    bytes: int
    sha256: str


class Carried(Payload):
    """Tell what worktrees and exports are given beside the files of a tree.

    `sha256` is the hash of all of it, `too_much` what would have been more than the limit.
    """

    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = ("too_much",)
    type: Literal["carried"] = "carried"
    files: tuple[CarriedFile, ...]
    sha256: str
    too_much: tuple[str, ...] = ()
