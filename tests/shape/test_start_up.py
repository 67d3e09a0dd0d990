"""Start-up stays light: the command's entry imports nothing heavy before a command asks for it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"anthropic", "distributed", "git", "opentelemetry", "prompt_toolkit", "starlette"}
PROBE = """
import importlib, json, sys
found = {}
for name in sys.argv[1:]:
    importlib.import_module(name)
    found[name] = sorted(sys.modules)
print(json.dumps(found))
"""


def heavy_after(*modules: str) -> dict[str, set[str]]:
    """Import modules one after another in a process of their own; give the heavy packages that are
    there after each, if any."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROBE, *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = {name: HEAVY & set(loaded) for name, loaded in json.loads(done.stdout).items()}
    assert set(found) == set(modules)
    return {name: heavy for name, heavy in found.items() if heavy}


def entry_modules() -> list[str]:
    """Give what `python -m tilth` imports, inside its functions too."""
    tree = ast.walk(ast.parse((ROOT / "tilth" / "__main__.py").read_text("utf-8")))
    named = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
    return [name for name in named if name.startswith("tilth.")]


def test_the_entry_the_settings_looking_and_a_fleet_here_import_nothing_heavy() -> None:
    entry = entry_modules()
    assert entry
    looking = ("tilth.cli.info", "tilth.show.info", "tilth.show.report_page")
    fleet = ("tilth.cli.fleet", "tilth.show.fleet")
    # Each comes on top of those before it: where none is heavy after the last, none ever was.
    assert heavy_after("tilth.config.settings", "tilth.__main__", *entry, *looking, *fleet) == {}


def test_a_heavy_import_is_found() -> None:
    assert heavy_after("json", "prompt_toolkit", "tilth") == {
        "prompt_toolkit": {"prompt_toolkit"},
        "tilth": {"prompt_toolkit"},
    }
