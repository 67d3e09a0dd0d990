"""The window: how many tokens a model takes in at once, where its endpoint tells.

Servers tell it in different places under different names. Nothing is asked of the model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_json

# How large it was when the model was trained (`n_ctx_train`) is not how large it is here.
_NAMES = (
    "n_ctx",
    "loaded_context_length",
    "max_input_tokens",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
_LEAST, _MOST = 256, 10**9
_DEPTH = 3


def window_of(model: str, document: Callable[[str], bytes | None]) -> int | None:
    """Ask for the documents in which servers tell it, until one does."""
    for path in (f"/v1/models/{quote(model, safe='')}", "/v1/models", "/props"):
        found = told_window(document(path), model)
        if found is not None:
            return found
    return None


def told_window(body: bytes | None, model: str) -> int | None:
    """Read it from one document: of this model, or of the only one there is."""
    try:
        content = read_json(body or b"null")
    except BadText:
        return None
    if not isinstance(content, dict):
        return None
    listed = content.get("data")
    if isinstance(listed, list):
        entries = [entry for entry in listed if isinstance(entry, dict)]
        named = [entry for entry in entries if entry.get("id") == model]
        content = (named or [entries[0] if len(entries) == 1 else {}])[0]
    sizes = dict(_sizes(content, _DEPTH))
    return next((sizes[name] for name in _NAMES if name in sizes), None)


def _sizes(content: dict[str, Any], depth: int) -> Iterator[tuple[str, int]]:
    """Give every size in it; what stands further out comes last and so counts."""
    if depth > 1:
        for value in content.values():
            if isinstance(value, dict):
                yield from _sizes(value, depth - 1)
    for name in _NAMES:
        size = content.get(name)
        if isinstance(size, int) and _LEAST <= size <= _MOST:
            yield name, size
