"""What ruff holds a project to: its own configuration, or what is plainly broken if it has none.

Reads the configuration that stands in a checkout, and never runs ruff.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from tilth.base.errors import BadText
from tilth.base.foreign_text import LARGEST_CONFIG, read_toml
from tilth.base.plain_file import read_plain

# Syntax errors, comparisons and formats that cannot be meant, undefined names.
PLAINLY_BROKEN = ("E9", "F63", "F7", "F82")
PLAIN_FILE = "ruff.toml"
# No syntax is broken only because the project did not say which Python it is for.
_NEWEST = "py314"
PLAIN_CONFIG = f"""\
target-version = "{_NEWEST}"
lint.select = {list(PLAINLY_BROKEN)}
""".encode()


def options_for(root: Path, path: str) -> list[str]:
    """Give the options that make ruff judge one file as the gate will.

    A project without a ruff configuration is held to what is plainly broken.
    """
    if any(own_table(root / parent) is not None for parent in PurePosixPath(path).parents):
        return looking_everywhere(root)
    plain = ["--isolated", f"--select={','.join(PLAINLY_BROKEN)}"]
    return [*plain, f"--target-version={_NEWEST}", "--config=exclude=[]"]


def looking_everywhere(root: Path) -> list[str]:
    """Have ruff look at `dist`, `site-packages` and the like too, which it passes over unasked."""
    return [] if "exclude" in (own_table(root) or {}) else ["--config=exclude=[]"]


def own_table(root: Path) -> dict[str, Any] | None:
    """Read the ruff configuration of a directory; None when it has none."""
    for name in (PLAIN_FILE, f".{PLAIN_FILE}"):
        if (root / name).exists():
            return _toml(root / name)
    file = root / "pyproject.toml"
    if file.is_symlink() or not file.is_file():
        return None
    tool = _toml(file).get("tool")
    table = tool.get("ruff") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _toml(file: Path) -> dict[str, Any]:
    try:
        return read_toml(read_plain(file, LARGEST_CONFIG))
    except (OSError, BadText):
        # ruff shall say itself what is wrong with it.
        return {"tool": {"ruff": {}}}
