"""The overlay of an export: the harness's own files, laid over a frozen tree before it is proven.

The plan of it is made from two trees and the pristine seed tests; laying it out writes below the
export alone, whatever links the tree holds. It never touches the worktree.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from tilth.base.errors import BadText
from tilth.base.plain_file import read_plain
from tilth.base.values import Value
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.config_sections import TOOLS, differ, mended
from tilth.gate.steering import (
    MODULE_SUFFIXES,
    SECTIONS,
    TESTS,
    WHOLE,
    fits_one,
    is_beside_tests,
    makes_package_of_tests,
    steers,
    stems,
)
from tilth.gate.tampering import Tampering, TamperKind
from tilth.git.changes import Change
from tilth.git.command import unshown
from tilth.sandbox.removal import remove_tree

DID = {"A": "added", "M": "changed", "D": "deleted", "T": "changed"}
_COPY = "the base's copy"
_STOOD_ON = "tests stand on it"


class Overlay(Value):
    """Say what to write into an export and what to take out; `found` says why.

    `support` are the base's copies of changed files that tests stand on, for the seed tests.
    """

    places: Mapping[str, bytes] = {}
    removes: tuple[str, ...] = ()
    support: Mapping[str, bytes] = {}
    found: tuple[Tampering, ...] = ()

    @property
    def tampered(self) -> tuple[str, ...]:
        """Name the files that were put right for every validator."""
        return tuple(each.path for each in self.found if each.kind is not TamperKind.SUPPORT)

    @property
    def broken(self) -> tuple[str, ...]:
        """Give what fails a case before anything is run."""
        return tuple(each.fault for each in self.found if each.fault)


class Seeds(Value):
    """Hold the pristine seed tests: of this task, of the done ones, and what stays out."""

    own: Mapping[str, bytes]
    done: Mapping[str, bytes]
    open_prefixes: tuple[str, ...]
    all_prefixes: tuple[str, ...]

    @property
    def run(self) -> dict[str, bytes]:
        return {**self.own, **self.done}

    def is_open(self, path: str) -> bool:
        """Tell whether a path is a seed test of a task that is still open."""
        return _is_seed(path, self.open_prefixes)

    def is_any(self, path: str) -> bool:
        """Tell whether a path is a seed test of any task of the plan."""
        return _is_seed(path, self.all_prefixes)


def gather_seeds(directory: Path, task: Task, plan: Plan) -> Seeds:
    """Read the session's own copies of the seed tests."""
    done = [other for other in plan.with_status(Status.DONE) if other.id != task.id]
    waiting = [other for other in plan.tasks if other.id != task.id and other not in done]
    return Seeds(
        own=_copies(directory, [task]),
        done=_copies(directory, done),
        open_prefixes=tuple(other.test_prefix for other in waiting),
        all_prefixes=tuple(other.test_prefix for other in plan.tasks),
    )


@dataclass
class Trees:
    """Hold how one tree became another; `shadows` are new modules with what they hide."""

    base_files: Collection[str]
    tree_files: Collection[str]
    changes: Sequence[Change]
    read_base: Callable[[str], bytes | None]
    read_tree: Callable[[str], bytes | None]
    shadows: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def base_directories(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[0] for path in self.base_files)

    def read(self, change: Change) -> tuple[bytes | None, bytes | None]:
        """Read a changed file before and after."""
        return (
            self.read_base(change.path) if change.status != "A" else None,
            self.read_tree(change.path) if change.status != "D" else None,
        )

    def is_link(self, change: Change) -> bool:
        """Tell whether a changed file is none that can be read: a link, or a module of git's."""
        return change.status != "D" and self.read_tree(change.path) is None

    def read_steering(self, path: str, allowed: Iterable[str]) -> bytes | None:
        """Read a file that steers the gate: of the base, or of the tree where the task may."""
        permitted = fits_one(path, allowed)
        if path not in (self.tree_files if permitted else self.base_files):
            return None
        return self.read_tree(path) if permitted else self.read_base(path)


def plan_overlay(
    trees: Trees, seeds: Seeds, allowed: Iterable[str] = (), known: Container[str] = ()
) -> Overlay:
    """Decide what an export needs so that only the harness's copies steer the gate.

    `known` are files that tests of the base stand on, wherever they are.
    """
    globs = tuple(allowed)
    found = []
    for change in trees.changes:
        if change.path in seeds.run or seeds.is_any(change.path) or _hides(change, seeds):
            ruling = _of_seeds(change, trees, seeds)
        elif fits_one(change.path, globs):
            continue
        else:
            ruling = _of_gate(change, trees, change.path in known)
        found += [ruling] if ruling else []
    places, support = dict(seeds.run), dict[str, bytes]()
    for each in found:
        if each.copy_used is not None:
            (support if each.kind is TamperKind.SUPPORT else places)[each.path] = each.copy_used
    gone = {each.path for each in found if each.kind is not TamperKind.SUPPORT} - places.keys()
    removes = [path for path in sorted(trees.tree_files) if path in gone or seeds.is_open(path)]
    return Overlay(places=places, removes=tuple(removes), support=support, found=tuple(found))


def _hides(change: Change, seeds: Seeds) -> bool:
    """Tell whether a module is imported in the place of a seed test."""
    names = {PurePosixPath(path).stem for path in seeds.run} & stems(change.path)
    return bool(names) and change.status != "D" and change.path.endswith(MODULE_SUFFIXES)


def _of_seeds(change: Change, trees: Trees, seeds: Seeds) -> Tampering | None:
    path, copy, did = change.path, seeds.run.get(change.path), DID[change.status]
    if copy is not None and trees.read(change)[1] == copy:
        return None
    if copy is not None:
        said = f"the seed test was {did}; the pristine copy was run"
    elif seeds.is_open(path):
        said = f"a seed test of a task still open was {did}; it was left out"
    elif _hides(change, seeds):
        said = "it hides a seed test; it was left out"
    else:
        return None
    is_new = change.status == "A" and copy is None
    return Tampering(path=path, did=said, kind=TamperKind.SEED, is_new=is_new, copy_used=copy)


def role_of(change: Change, trees: Trees, *, known: bool = False) -> str | None:
    """Say what a changed file is to the gate, if anything; `known` is one that tests stand on."""
    path, way = change.path, steers(change.path)
    if path in trees.shadows:
        return trees.shadows[path]
    if way == WHOLE:
        return way
    if way and (trees.is_link(change) or differ(path, *trees.read(change), TOOLS)):
        return way
    if change.status == "A":
        makes = makes_package_of_tests(path, trees.base_directories)
        return "it makes a package of a directory of tests" if makes else None
    return _STOOD_ON if known or is_beside_tests(path) else None


def _of_gate(change: Change, trees: Trees, known: bool) -> Tampering | None:
    """Say what is done about a change that the task may not make."""
    path, role, fault = change.path, role_of(change, trees, known=known), ""
    if role is None:
        return None
    kind = TamperKind.SUPPORT if role == _STOOD_ON else TamperKind.STEERING
    copy, after = trees.read(change)
    if path in trees.shadows:
        kind, copy, fault = TamperKind.SHADOW, None, f"{path}: {role}; give it another name"
    elif role == SECTIONS:
        try:
            if trees.is_link(change):
                raise BadText("it leads out of the repository")
            copy = mended(path, copy, after)
        except BadText as error:
            role, fault = f"it cannot be read ({error})", f"{path} cannot be read: {error}"
    if kind is TamperKind.SUPPORT:
        used = f"acceptance tests saw {'it as it is' if copy is None else _COPY}"
    else:
        used = "it was left out" if copy is None else f"{_COPY} was used"
    return Tampering(
        path=path,
        did=f"{role} and it was {DID[change.status]}; {used}",
        kind=kind,
        is_new=change.status == "A",
        copy_used=copy,
        fault="" if "/" in path and kind is not TamperKind.SHADOW else fault,
    )


def lay_out(overlay: Overlay, export: Path) -> None:
    """Write an overlay into an export."""
    for path in overlay.removes:
        # A name that is not UTF-8 is known to us by its escaped form.
        for name in {path, os.fsdecode(unshown(path))}:
            _clear(export / name)
    for path, content in overlay.places.items():
        place(export, path, content)


def place(export: Path, path: str, content: bytes) -> None:
    """Write one file below the export; a link or file in the way is replaced, never followed."""
    where = export
    for part in PurePosixPath(path).parent.parts:
        where = where / part
        if where.is_symlink() or (where.exists() and not where.is_dir()):
            _clear(where)
        where.mkdir(exist_ok=True)
    _clear(export / path)
    (export / path).write_bytes(content)


def _copies(directory: Path, tasks: Iterable[Task]) -> dict[str, bytes]:
    names = sorted(entry.name for entry in directory.iterdir()) if directory.is_dir() else []
    return {
        f"{TESTS}/{name}": read_plain(directory / name)
        for task in tasks
        for name in names
        if task.owns_test(name)
    }


def _is_seed(path: str, prefixes: tuple[str, ...]) -> bool:
    place, _, name = path.rpartition("/")
    return place == TESTS and name.startswith(prefixes)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
