"""Proving: what seed tests run with before a session has a worktree, or without any session."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tilth.cli.workbench import Workshop
from tilth.confinement.reach import Premises, hidden_places, tool_places
from tilth.errors import UserError
from tilth.gate.bay import Ground
from tilth.interpreter import find_python
from tilth.sandbox import environment
from tilth.seed.proof import PROOF_TIMEOUT_S, Prover
from tilth.tools import find_ruff
from tilth.workspace import Workspace


def prover(shop: Workshop, trees: Workspace, base: str) -> Prover:
    """Give what tries tests out on a commit, behind the gate's own wall."""
    limit = min(PROOF_TIMEOUT_S, shop.settings.validator_timeout_seconds)
    return Prover(_ground(shop, trees), base, limit)


def _ground(shop: Workshop, trees: Workspace) -> Ground:
    settings, scratch = shop.settings, shop.scratch
    python = find_python(settings.python, shop.source.root)
    git, ruff = shutil.which("git"), find_ruff()
    if ruff is None:
        raise UserError("ruff is missing from Tilth's own installation; install Tilth again")
    premises = Premises(
        hidden=hidden_places(os.environ, settings.home, settings.sessions_dir, scratch),
        source=shop.source.root,
        git_dir=shop.source.git_dir,
        # Neither stands there: nothing has been set up for a seed that is not written yet.
        workspace=scratch / "workspace",
        setup=scratch / "setup",
        home=scratch / "home",
        python=python,
        programs=tool_places(ruff, Path(git) if git else None),
        network=settings.sandbox_network,
    )
    return Ground(
        trees=trees,
        confinement=shop.confinement,
        access=premises.gate(),
        env=environment(os.environ, home=premises.home, path_first=python.parent),
        python=python,
        ruff=ruff,
        scratch=scratch,
        stands_for=(shop.source.root.resolve(),),
    )
