"""The prover: what seed tests run with where there is no worktree yet, or never will be."""

from __future__ import annotations

from collections.abc import Callable

from tilth.git.workspace import Workspace
from tilth.interview.proof import PROOF_TIMEOUT_S, Prover, unheard
from tilth.session.parts import Parts


def make_prover(
    parts: Parts, trees: Workspace, base: str, at: Callable[[str], None] = unheard
) -> Prover:
    """Give what tries tests out on a commit, confined as the gate is."""
    scratch = parts.scratch
    # Neither stands there: nothing has been set up for a seed that is not written yet.
    places = parts.places(None, scratch / "setup", saying=True)
    runtime = parts.runtime(trees, places, parts.source.root)
    timeout_s = min(PROOF_TIMEOUT_S, parts.settings.validator_timeout_seconds)
    return Prover(runtime, trees, base, timeout_s, at)
