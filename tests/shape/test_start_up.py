"""Start-up stays light: the command's entry imports nothing heavy before a command asks for it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"anthropic", "distributed", "git", "opentelemetry", "prompt_toolkit", "starlette"}
PROBE = "import importlib, json, sys; [importlib.import_module(n) for n in sys.argv[1:]]"


def heavy_after(*modules: str) -> set[str]:
    """Import modules in a process of their own; give the heavy packages that came along."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", f"{PROBE}; print(json.dumps(list(sys.modules)))", *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return HEAVY & set(json.loads(done.stdout))


def entry_modules() -> list[str]:
    """Give what `python -m tilth` imports, inside its functions too."""
    tree = ast.walk(ast.parse((ROOT / "tilth" / "__main__.py").read_text("utf-8")))
    named = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
    return [name for name in named if name.startswith("tilth.")]


def test_the_entry_imports_nothing_heavy() -> None:
    modules = entry_modules()
    assert modules
    assert heavy_after("tilth.__main__", *modules) == set()


def test_the_settings_import_nothing_heavy() -> None:
    assert heavy_after("tilth.config.settings") == set()


def test_looking_at_sessions_and_running_a_fleet_here_import_nothing_heavy() -> None:
    assert heavy_after("tilth.cli.info", "tilth.show.info", "tilth.show.report_page") == set()
    assert heavy_after("tilth.cli.fleet", "tilth.show.fleet") == set()


def test_a_heavy_import_is_found() -> None:
    assert "anthropic" in heavy_after("anthropic")
