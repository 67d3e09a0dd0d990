"""Python files that hold hooks of pytest: which they are, told from the syntax tree.

Where such a file is loaded as a plugin (`-p`, `pytest_plugins`), what it holds steers the gate like
a conftest.py. Whether one is loaded is not known here, nor whether its hooks are honest. Pure.
"""

from __future__ import annotations

import ast

from tilth.base.quiet import parse_quietly

HOOK_NAME = "pytest_"
_MOST_BYTES = 2_000_000
# Set in a conftest.py or a test; a name for modules, not a hook.
_PLUGINS = "pytest_plugins"


def holds_hooks(path: str, *contents: bytes | None) -> bool:
    """Tell whether a file holds a hook in any of its texts, under its name or by its mark."""
    return path.endswith(".py") and any(_holds(content) for content in contents if content)


def _holds(content: bytes) -> bool:
    if HOOK_NAME.encode() not in content or len(content) > _MOST_BYTES:
        return False
    try:
        tree = parse_quietly(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # it holds nothing that could be loaded
    return any(_is_hook(name) for node in ast.walk(tree) for name in _names(node))


def _is_hook(name: object) -> bool:
    return isinstance(name, str) and name.startswith(HOOK_NAME) and name != _PLUGINS


def _names(node: ast.AST) -> list[object]:
    """Give the names a node defines, those it takes from elsewhere and those a mark says."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name for alias in aliases]
        case ast.keyword(arg="specname", value=ast.Constant(value=name)):
            return [name]
    return []
