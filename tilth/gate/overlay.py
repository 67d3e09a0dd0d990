"""The overlay of an export: the harness's own files, laid over a frozen tree before it is proven.

The plan of it is made from two trees and the pristine seed tests; laying it out writes below the
export alone, whatever links the tree holds. It never touches the worktree.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path, PurePosixPath

from tilth.base.errors import BadText
from tilth.base.plain_file import read_plain
from tilth.base.values import Value
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.config_sections import mended
from tilth.gate.steering import (
    MODULE_SUFFIXES,
    TESTS,
    Steers,
    is_beside_tests,
    is_test_file,
    makes_package_of_tests,
    may_change,
    steers,
    stem,
)
from tilth.gate.tampering import Tampering, TamperKind
from tilth.git.changes import Change
from tilth.git.command import unshown
from tilth.sandbox.removal import remove_tree

_DID = {"A": "was added", "M": "was changed", "D": "was deleted", "T": "was changed"}


class Overlay(Value):
    """Say what to write into an export and what to take out, and why.

    `support` are the base's copies of changed files that tests stand on, for the acceptance tests
    alone, and `weakened` says which those were.
    """

    places: Mapping[str, bytes] = {}
    removes: tuple[str, ...] = ()
    tampered: tuple[Tampering, ...] = ()
    support: Mapping[str, bytes] = {}
    weakened: tuple[Tampering, ...] = ()
    broken: tuple[str, ...] = ()


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


class Trees:
    """Hold what the plan of an overlay needs to know about base and tree."""

    def __init__(
        self,
        base_files: Iterable[str],
        tree_files: Iterable[str],
        changes: Iterable[Change],
        read_base: Callable[[str], bytes | None],
        read_tree: Callable[[str], bytes | None],
        shadows: Mapping[str, str] | None = None,
    ) -> None:
        self.base_files = frozenset(base_files)
        self.tree_files = frozenset(tree_files)
        self.base_directories = frozenset(path.rpartition("/")[0] for path in self.base_files)
        self.shadows = dict(shadows or {})
        self.changes = tuple(changes)
        self.read_base = read_base
        self.read_tree = read_tree

    def read_steering(self, path: str, allowed: Iterable[str]) -> bytes | None:
        """Read a file that steers the gate: of the base, or of the tree where the task may."""
        permitted = may_change(path, allowed)
        present = self.tree_files if permitted else self.base_files
        if path not in present:
            return None
        return self.read_tree(path) if permitted else self.read_base(path)


def plan_overlay(
    trees: Trees, seeds: Seeds, allowed: Iterable[str] = (), known: Container[str] = ()
) -> Overlay:
    """Decide what an export needs so that only the harness's copies steer the gate.

    `known` are files that tests of the base stand on, wherever they are.
    """
    places: dict[str, bytes] = dict(seeds.run)
    removes = [path for path in sorted(trees.tree_files) if seeds.is_open(path)]
    tampered: list[Tampering] = []
    broken: list[str] = []
    globs = tuple(allowed)
    for change in trees.changes:
        kind, did = TamperKind.SEED, _seed_tampering(change, seeds, trees)
        if did is None and not may_change(change.path, globs):
            kind = TamperKind.SHADOW if change.path in trees.shadows else TamperKind.STEERING
            did = _steering_tampering(change, trees, places, broken)
        if did is None:
            continue
        is_new = change.status == "A" and change.path not in seeds.run
        tampered.append(Tampering(path=change.path, did=did, kind=kind, is_new=is_new))
        if change.status != "D" and change.path not in places:
            removes.append(change.path)
    support, weakened = _support(trees, seeds, globs, places, known)
    return Overlay(
        places=places,
        removes=tuple(removes),
        tampered=tuple(tampered),
        support=support,
        weakened=weakened,
        broken=tuple(broken),
    )


def _support(
    trees: Trees,
    seeds: Seeds,
    globs: tuple[str, ...],
    places: Mapping[str, bytes],
    known: Container[str],
) -> tuple[dict[str, bytes], tuple[Tampering, ...]]:
    """Find the base's files that tests stand on and that were changed; name what is no test."""
    support: dict[str, bytes] = {}
    named = []
    for change in trees.changes:
        path = change.path
        if change.status == "A" or path in places or seeds.is_any(path) or may_change(path, globs):
            continue
        if path not in known and not is_beside_tests(path):
            continue
        content = trees.read_base(path)
        saw = "it as it is"
        if content is not None:
            support[path], saw = content, "the base's copy"
        if not is_test_file(path):
            did = f"tests stand on it and it {_DID[change.status]}; acceptance tests saw {saw}"
            named.append(Tampering(path=path, did=did, kind=TamperKind.SUPPORT))
    return support, tuple(named)


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


def _seed_tampering(change: Change, seeds: Seeds, trees: Trees) -> str | None:
    pristine = seeds.run.get(change.path)
    if pristine is not None:
        if change.status != "D" and trees.read_tree(change.path) == pristine:
            return None
        return f"the seed test {_DID[change.status]}; the pristine copy was run"
    if seeds.is_open(change.path):
        return f"a seed test of a task still open {_DID[change.status]}; it was left out"
    if change.status == "D" or not change.path.endswith(MODULE_SUFFIXES):
        return None
    stems = {PurePosixPath(path).stem for path in seeds.run}
    if not stems.isdisjoint(map(stem, PurePosixPath(change.path).parts)):
        return "it hides a seed test; it was left out"
    return None


def _steering_tampering(
    change: Change, trees: Trees, places: dict[str, bytes], broken: list[str]
) -> str | None:
    hides = trees.shadows.get(change.path)
    if hides is not None:
        broken.append(f"{change.path}: {hides}; give it another name")
        return f"{hides}; it was left out"
    match steers(change.path):
        case Steers.WHOLE:
            return _whole_file(change, trees, places)
        case Steers.SECTIONS:
            return _shared_file(change, trees, places, broken)
    if change.status == "A" and makes_package_of_tests(change.path, trees.base_directories):
        return "it makes a package of a directory of tests; it was left out"
    return None


def _whole_file(change: Change, trees: Trees, places: dict[str, bytes]) -> str:
    content = trees.read_base(change.path) if change.status != "A" else None
    if content is None:
        return f"it steers the gate and {_DID[change.status]}; it was left out"
    places[change.path] = content
    return f"it steers the gate and {_DID[change.status]}; the base's copy was used"


def _shared_file(
    change: Change, trees: Trees, places: dict[str, bytes], broken: list[str]
) -> str | None:
    name = PurePosixPath(change.path).name
    base = trees.read_base(change.path) if change.status != "A" else None
    found = trees.read_tree(change.path) if change.status != "D" else None
    try:
        if found is None and change.status != "D":
            raise BadText("it leads out of the repository")
        content = mended(name, base, found)
    except BadText as error:
        if base is not None:
            places[change.path] = base
        if "/" not in change.path:
            broken.append(f"{change.path} cannot be read: {error}")
        return f"it cannot be read ({error}); the base's copy was used"
    if content is None:
        return None
    places[change.path] = content
    return f"{Steers.SECTIONS} steer the gate and were changed; the base's were used"


def _copies(directory: Path, tasks: Iterable[Task]) -> dict[str, bytes]:
    names = sorted(entry.name for entry in directory.iterdir()) if directory.is_dir() else []
    return {
        f"{TESTS}/{name}": read_plain(directory / name)
        for task in tasks
        for name in names
        if task.owns_test(name)
    }


def _is_seed(path: str, prefixes: tuple[str, ...]) -> bool:
    parts = PurePosixPath(path).parts
    return len(parts) == 2 and parts[0] == TESTS and parts[1].startswith(prefixes)


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        remove_tree(path)
    elif os.path.lexists(path):
        path.unlink()
