"""The tools' sections of a configuration file that others share: told apart, and put back.

`pyproject.toml`, `setup.cfg` and `tox.ini` hold the project's own facts beside the sections of
pytest, ruff and coverage. Those sections are compared and taken from the base; the rest stays as
the worker wrote it. Pure: texts in, texts out. Comments do not survive a mend; it is only read by
tools, in an export.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from typing import Any

from tilth.base.foreign_text import read_ini, read_toml

_TOML_TOOLS = ("pytest", "ruff", "coverage")
_INI_TOOLS = ("pytest", "tool:pytest", "coverage:")


def mended(name: str, base: bytes | None, found: bytes | None) -> bytes | None:
    """Give `found` with the tools' sections of `base`; None when they do not differ.

    A missing file counts as an empty one. Raises BadText when `found` cannot be read.
    """
    if name.endswith(".toml"):
        return _mended_toml(base, found)
    return _mended_ini(base, found)


def _mended_toml(base: bytes | None, found: bytes | None) -> bytes | None:
    wanted, document = _tools(read_toml(base or b"")), read_toml(found or b"")
    if _tools(document) == wanted:
        return None
    tool = document.get("tool")
    rest = tool if isinstance(tool, dict) else {}
    kept = {name: table for name, table in rest.items() if name not in _TOML_TOOLS}
    document["tool"] = {**kept, **wanted}
    lines = (f"{_toml(key)} = {_toml(value)}\n" for key, value in document.items())
    return "".join(lines).encode()


def _tools(document: Mapping[str, Any]) -> dict[str, Any]:
    tool = document.get("tool")
    if not isinstance(tool, dict):
        return {}
    return {name: tool[name] for name in _TOML_TOOLS if name in tool}


def _toml(value: Any) -> str:
    """Write a value on one line, tables inline, as every reader of TOML takes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    return str(value.isoformat())


def _mended_ini(base: bytes | None, found: bytes | None) -> bytes | None:
    wanted, document = read_ini(base or b""), read_ini(found or b"")
    ours = {name: dict(wanted[name]) for name in wanted.sections() if name.startswith(_INI_TOOLS)}
    theirs = {
        name: dict(document[name]) for name in document.sections() if name.startswith(_INI_TOOLS)
    }
    if ours == theirs:
        return None
    for name in theirs:
        document.remove_section(name)
    for name, options in ours.items():
        document[name] = options
    out = io.StringIO()
    document.write(out)
    return out.getvalue().encode()
