"""A project whose gate asks for next to nothing: for tests that are not about what a gate finds.

Two of three parts of what a run costs are ruff and pytest. A test of how tasks end, of what is said
to a session or of a model's odd answers needs a gate that passes, not what it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.flow_site import Site

LIGHT = """
[tool.tilth]
defaults = false

[tool.tilth.validators.parses]
command = "git --version"
"""
_LIGHT_FILES = {"pyproject.toml": LIGHT}

# Marks the tests of a file whose `site`, otherwise a light one, has ruff and pytest run.
whole_gate = pytest.mark.parametrize("site", [{}], indirect=True, ids=["whole gate"])


def light_site(root: Path, request: pytest.FixtureRequest | None = None) -> Site:
    """Make a site with a light gate, or with the whole one where the test is marked so."""
    files: Mapping[str, str] = getattr(request, "param", _LIGHT_FILES)
    return Site.make(root, files)
