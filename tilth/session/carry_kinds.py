"""Which of the files that git ignores are carried: decided on names and on how a file begins.

A repository is not trusted to hand its user's files to a model. So only what tools generate is
taken by itself, and a secret never, whoever names it. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_toml
from tilth.base.values import Value
from tilth.gate.steering import fits_one

PACKAGING_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_GENERATED = re.compile(r".*(?:\.(?:so|pyd|dylib|mo)|_pb2(?:_grpc)?\.pyi?)")
# It tells no more than which version of the project stands here, whoever names it.
_VERSION_FILE = re.compile(r"[\w.-]*(?:version|about)[\w.-]*", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"\.env(?:rc|\..*)?|.*\.env|.*\.(?:db|sqlite3?|pem|key|crt|cer|der|p12|pfx|jks|keystore|kdbx)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc|pgpass|htpasswd)|credentials.*",
    re.IGNORECASE,
)
_SECRET_BEGIN = re.compile(rb"SQLite format 3\0|\s*-----BEGIN |PuTTY-User-Key-File")
_CACHES = frozenset({"__pycache__", "node_modules", ".git"})
# What stands in a directory that a tool keeps for itself: a cache, a virtual environment.
_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
_COMPILED_CODE = (".pyc", ".pyo")
_WORDS = re.compile(r"[^\s=,'\"]+")


class Wish(Value):
    """Say which ignored files are wanted: the generated kinds, and what fits a glob."""

    generated: bool = True
    globs: tuple[str, ...] = ()
    # Names that the packaging configuration gives to files.
    named: frozenset[str] = frozenset()
    # What setup made: all of it, as the repository's own commands had nothing of the user's.
    everything: bool = False


def chosen(ignored: Iterable[str], tracked: frozenset[str], wish: Wish) -> tuple[str, ...]:
    """Choose the files to carry: never of a cache or a virtual environment, and no secret."""
    paths = tuple(ignored)
    kept = _tool_directories(paths)
    directories = frozenset(path.rpartition("/")[0] for path in tracked)
    return tuple(
        path
        for path in paths
        if not is_secret(path) and not _is_kept_by_a_tool(path, kept)
        if wish.everything or _is_wanted(path, directories, wish)
    )


def is_secret(path: str, begin: bytes = b"") -> bool:
    """Tell whether a file is never handed on, by its name or by how it begins."""
    parts = PurePosixPath(path).parts
    by_name = any(_SECRET_NAME.fullmatch(part) for part in parts)
    return by_name or _SECRET_BEGIN.match(begin) is not None


def _is_wanted(path: str, directories: frozenset[str], wish: Wish) -> bool:
    if fits_one(path, wish.globs):
        return True
    if not wish.generated or not _stands_in_the_project(path, directories):
        return False
    name = path.rpartition("/")[2]
    if _GENERATED.fullmatch(name):
        return True
    return _VERSION_FILE.fullmatch(name) is not None and any(
        path == named or path.endswith(f"/{named}") for named in wish.named
    )


def _stands_in_the_project(path: str, directories: frozenset[str]) -> bool:
    """Tell whether a file stands beside tracked ones or below them, the root's not counted."""
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    own = parents[0].removeprefix(".") if parents[0] == "." else parents[0]
    return own in directories or any(parent in directories for parent in parents[:-1])


def _tool_directories(paths: Iterable[str]) -> frozenset[str]:
    split = (path.rpartition("/") for path in paths)
    return frozenset(folder for folder, _, name in split if name in _MARKS)


def _is_kept_by_a_tool(path: str, kept: frozenset[str]) -> bool:
    parents = PurePosixPath(path).parents
    return (
        path.endswith(_COMPILED_CODE)
        or not _CACHES.isdisjoint(PurePosixPath(path).parts)
        or any(str(parent) in kept for parent in parents)
    )


def named_files(files: Mapping[str, bytes]) -> frozenset[str]:
    """Give every text in the packaging configuration that could be the name of a file."""
    found = (text for name, content in files.items() for text in _texts(name, content))
    return frozenset(text.removeprefix("./") for text in found if _could_be_a_path(text))


def _could_be_a_path(text: str) -> bool:
    return 0 < len(text) <= 200 and "\n" not in text and ".." not in text


def _texts(name: str, content: bytes) -> Iterator[str]:
    try:
        if name.endswith(".toml"):
            yield from _strings(read_toml(content))
        elif name.endswith(".py"):
            tree = ast.parse(content)
            yield from (
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            )
        else:
            yield from _WORDS.findall(content.decode("utf-8", "replace"))
    except (BadText, SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
