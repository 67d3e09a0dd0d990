"""A project whose gate asks for next to nothing: for tests that are not about what a gate finds.

Two of three parts of what a run costs are ruff and pytest. A test of how tasks end, of what is said
to a session or of a model's odd answers needs a gate that passes, not what it runs.
"""

from __future__ import annotations

LIGHT = """
[tool.tilth]
defaults = false

[tool.tilth.validators.parses]
command = "git --version"
"""
