"""The prover: what seed tests run with where there is no session yet, or never will be.

A project whose setup makes things is set up first, at a worktree that goes away again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path, PurePosixPath

from tilth.base.clock import SystemClock
from tilth.gate.export import lay_beside
from tilth.git.ignored import are_ignored
from tilth.git.lane_workspace import LaneWorkspace
from tilth.git.workspace import Workspace
from tilth.interview.proof import PROOF_TIMEOUT_S, Prover, unheard
from tilth.log.events import Carried
from tilth.sandbox.confinement import Unconfined
from tilth.sandbox.policy import Policy
from tilth.session.carry import CARRIED, gather, gather_made, record_of, wish_of
from tilth.session.parts import Parts
from tilth.session.project_setup import set_up


@dataclass(frozen=True)
class Ground:
    """Hold on what tests are tried: the trees, what is carried, and what commands may see."""

    parts: Parts
    trees: Workspace
    base: str
    carried: Path
    places: Policy

    @property
    def carries(self) -> Carried:
        return record_of(self.carried)


@contextmanager
def open_ground(parts: Parts, base: str) -> Iterator[Ground]:
    """Bring a commit to where its tests can run as a session's gate will run them."""
    source, scratch = parts.source, parts.scratch
    carried, setup = scratch / CARRIED, scratch / "setup"
    wish = wish_of(parts.settings, parts.facts, source, base)
    trees = LaneWorkspace(source, scratch / "workspace", "check", SystemClock())
    if not parts.facts.setup:
        gather(source, base, wish, carried)
        yield Ground(parts, trees, base, carried, parts.places(None, setup, saying=True))
        return
    try:
        trees.stand_at(base)
        gather(source, base, wish, scratch / "before-setup")
        lay_beside(scratch / "before-setup", trees.path)
        set_up(parts, setup, trees, lambda ran: None)
        gather_made(source, base, wish, trees.path, carried)
        made = [setup / "venv"]
        if isinstance(parts.confinement, Unconfined):
            made.append(trees.path / ".venv")
        yield Ground(parts, trees, base, carried, parts.places(trees, setup, *made, saying=True))
    finally:
        trees.remove()


def make_prover(
    ground: Ground, at: Callable[[str], None] = unheard, timeout_s: float = PROOF_TIMEOUT_S
) -> Prover:
    """Give what tries tests out on a commit, confined as the gate is."""
    parts, trees = ground.parts, ground.trees
    runtime = parts.runtime(trees, ground.places, ground.carried, parts.source.root, trees.path)
    most_s = min(timeout_s, parts.settings.validator_timeout_seconds)
    advise = cache(partial(advice, ground))
    return Prover(runtime, trees, ground.base, most_s, at, advise)


def advice(ground: Ground, module: str) -> str | None:
    """Say what to do about a module of the project that is missing, if git ignores it."""
    source = ground.parts.source
    stem = PurePosixPath(*module.split("."))
    paths = [str(PurePosixPath(top, f"{stem}.py")) for top in ("", "src")]
    for path in sorted(are_ignored(source, ground.base, paths)):
        if (source.root / path).is_file():
            return (
                f"{module} is missing: git ignores {path}, which stands in your checkout; "
                f"`--carry {path}` hands it on to worker and gate"
            )
        if _has_folder(ground, path):
            return (
                f"{module} is missing: git ignores {path}, and it is nowhere: make it in your "
                "checkout as a build of the project does (`pip install -e .`), or have the "
                "project's `setup` make it"
            )
    return None


def _has_folder(ground: Ground, path: str) -> bool:
    folder = path.rpartition("/")[0]
    return any(name.startswith(f"{folder}/") for name in ground.trees.files(ground.base))
