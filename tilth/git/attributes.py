"""What the attribute files of a tree say of its files, as git itself reads them.

Asked on an index of our own: nothing is checked out, and no filter or driver that they name is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tilth.base.errors import WorkspaceError
from tilth.git.command import scratch, shown
from tilth.git.source import SourceRepo
from tilth.git.trees import tree_entries

# A pattern of a worker's can keep git busy for ever, and its values are as long as it likes.
_SECONDS = 10
_MOST_BYTES = 8 * 1024 * 1024
_FILE = b".gitattributes"
_ASKED = ("filter", "ident", "working-tree-encoding", "eol", "text")


def attributes(
    source: SourceRepo, tree: str, paths: Iterable[str]
) -> Mapping[str, Mapping[str, str]]:
    """Give what is set for files of a tree; WorkspaceError where git cannot say it in time."""
    wanted = set(paths)
    if not wanted:
        return {}
    with scratch(source.git_dir, source.head, convert=True) as lent:
        git = lent.git(lent.root)
        entries = tree_entries(git, tree)
        if not any(path == _FILE or path.endswith(b"/" + _FILE) for path in entries):
            return {}
        git.run("read-tree", tree)
        asked = b"".join(path + b"\0" for path in entries if shown(path) in wanted)
        command = ("check-attr", "--cached", "--stdin", "-z", *_ASKED)
        said = git.head(*command, stdin=asked, most=_MOST_BYTES, seconds=_SECONDS)
    if said.size > _MOST_BYTES:
        raise WorkspaceError("git check-attr says more than is read of it")
    found: dict[str, dict[str, str]] = {}
    fields = iter(shown(said.out).split("\0")[:-1])
    for path, name, value in zip(fields, fields, fields, strict=True):
        if value != "unspecified":
            found.setdefault(path, {})[name] = value
    return found
