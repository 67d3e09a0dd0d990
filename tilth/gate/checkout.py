"""What a checkout holds that was not tested: git writes it otherwise than it is stored.

The gate proves the bytes that are stored. These are notes for the evaluator and the person, and
refuse nothing. Pure but for the asking that is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from tilth.base.errors import WorkspaceError
from tilth.base.hidden_characters import escaped_line
from tilth.gate.diff_lines import added_lines
from tilth.gate.tampering import shortened

_KEYWORD = re.compile(r"\$Id[:$]")
_NOT_TESTED = "what was tested is not what a checkout holds"
_TOO_MUCH = (
    ".gitattributes: there is too much in these files to be read, so which files git rewrites at "
    "checkout is not known"
)

Attributes = Callable[[Iterable[str]], Mapping[str, Mapping[str, str]]]


def checkout_notes(diff: str, paths: Collection[str], attributes: Attributes) -> tuple[str, ...]:
    """Name the added lines with a keyword, and those of the paths, that git writes otherwise."""
    added = added_lines(diff) if _KEYWORD.search(diff) else ()
    lines = [line for line in added if _KEYWORD.search(line.text)]
    try:
        held = attributes({*paths, *(line.path for line in lines)})
    except WorkspaceError:
        return (_TOO_MUCH,)
    keywords = [
        f"{line.path}:{line.number}: holds $Id$, which git replaces at checkout (ident): "
        f"{_NOT_TESTED}: {line.text.strip()[:120]}"
        for line in lines
        if held.get(line.path, {}).get("ident") == "set"
    ]
    files = [
        f"{path}: git rewrites it at checkout ({', '.join(why)}): {_NOT_TESTED}"
        for path in paths
        if (why := _rewritten_by(held.get(path, {})))
    ]
    return tuple(map(escaped_line, (*shortened(keywords), *shortened(files))))


def _rewritten_by(held: Mapping[str, str]) -> list[str]:
    found = {
        name: held[name] for name in ("filter", "working-tree-encoding", "eol") if name in held
    }
    if found.get("eol") != "crlf" or held.get("text") == "unset":
        found.pop("eol", None)
    plain = ("unset", "utf-8", "utf8")
    return [f"{name}={value[:40]}" for name, value in found.items() if value.lower() not in plain]
