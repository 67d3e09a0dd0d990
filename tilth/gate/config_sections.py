"""The tools' sections of a configuration file that others share: told apart, and put back.

`pyproject.toml`, `setup.cfg` and `tox.ini` hold the project's own facts beside the sections of
pytest, ruff and coverage. Those sections are compared and taken from the base, as they are written;
the rest stays as the worker wrote it. Pure: texts in, texts out.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_ini, read_toml

TOOLS = re.compile(r"((tool[.:])?pytest|tool\.(ruff|coverage)|coverage:.*)(\..*)?")
_HEADER = re.compile(r"^[ \t]*\[+([^\[\],\n]+)\]+[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_OTHERWISE = "its sections for the tools are not tables of their own: write each below its [header]"


def mended(name: str, base: bytes | None, found: bytes | None) -> bytes | None:
    """Give `found` with the tools' sections of `base`; None when they do not differ.

    A missing file counts as an empty one. Raises BadText when `found` cannot be read, or its
    sections cannot be told apart.
    """
    wanted, there = _sections(name, base), _sections(name, found)
    ours = _of(wanted, TOOLS)
    if ours == _of(there, TOOLS):
        return None
    made = "\n".join([*_blocks(found, ours=False), *_blocks(base, ours=True)]).encode()
    if repr(_sections(name, made)) != repr(_of(there, TOOLS, ours=False) | ours):
        raise BadText(_OTHERWISE)
    return made


def differ(name: str, base: bytes | None, found: bytes | None, which: re.Pattern[str]) -> bool:
    """Tell whether sections differ; those of what cannot be read differ from all others."""
    try:
        return _of(_sections(name, base), which) != _of(_sections(name, found), which)
    except BadText:
        return True


def _sections(name: str, content: bytes | None) -> dict[str, Any]:
    """Give the sections of a file; those below `tool` as `tool.ruff`."""
    if not name.endswith(".toml"):
        ini = read_ini(content or b"")
        return {each: dict(ini[each]) for each in ini.sections()}
    document = read_toml(content or b"")
    tool = document.pop("tool", {})
    below = tool if isinstance(tool, dict) else {"": tool}
    return document | {f"tool.{each}": table for each, table in below.items()}


def _of(sections: dict[str, Any], which: re.Pattern[str], *, ours: bool = True) -> dict[str, Any]:
    return {name: held for name, held in sections.items() if bool(which.fullmatch(name)) is ours}


def _blocks(content: bytes | None, *, ours: bool) -> list[str]:
    """Give the parts of a file that are the tools' sections, or the others, with their headers."""
    text = (content or b"").decode("utf-8-sig")
    found = _HEADER.finditer(text)
    starts = {0: "", **{head.start(): re.sub(r"[\s\"']", "", head[1]) for head in found}}
    parts = pairwise([*starts, len(text)])
    return [text[at:end] for at, end in parts if bool(TOOLS.fullmatch(starts[at])) is ours]
