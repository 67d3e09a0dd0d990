"""The search tools: glob for file names, grep for lines, inside one worktree."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import islice

from pydantic import Field

from tilth.base.errors import ToolError
from tilth.base.generated import SEARCH_SKIPS
from tilth.base.values import Value
from tilth.sandbox.confinement import Command, Finished, run
from tilth.task.tool_outcome import ToolOutcome
from tilth.tools import scan
from tilth.tools.paths import Enclosure, encoded, shown

MAX_FILES = 500
MAX_MATCHES = 200
GREP_TIMEOUT_S = 20.0

_KEEP_BYTES = 64 * 1024
_MAX_PATTERN_CHARS = 2000

GLOB = (
    "Find files by name below `path` or the root, e.g. `src/**/*.py`; `*`, `?` and `[abc]` stay "
    f"within one name. Gives at most {MAX_FILES} sorted paths. Version control, caches, virtual "
    "environments and node_modules are left out."
)
GREP = (
    "Search the lines of text files with a Python regular expression. Gives at most "
    f"{MAX_MATCHES} matches, `path:line: text`. Leaves out what `glob` does."
)


class GlobArguments(Value):
    """Give a file name pattern and where to start."""

    pattern: str
    path: str | None = None


class GrepArguments(Value):
    """Give a regular expression and where to look for it."""

    pattern: str
    path: str | None = Field(None, description="Directory or file.")
    glob: str | None = Field(None, description="Only such files.")


@dataclass(frozen=True)
class SearchTools:
    """Find files and lines in one worktree."""

    enclosure: Enclosure
    timeout_s: float = GREP_TIMEOUT_S

    def glob(self, arguments: GlobArguments) -> ToolOutcome:
        parts = self.enclosure.parts(arguments.path or ".")
        is_wanted = scan.matcher(_checked_glob(arguments.pattern))
        if not self.enclosure.is_folder(parts):
            raise ToolError(f"{shown('/'.join(parts))} is a file: give the directory to start in")
        with self.enclosure.folder(parts) as folder:
            budget = scan.Budget(SEARCH_SKIPS)
            files = scan.walk(folder, budget)
            # a walk comes in the order of the paths
            found = (file.parts for file in files if is_wanted(file.parts))
            lines = [scan.printable("/".join((*parts, *path))) for path in islice(found, MAX_FILES)]
            more = sum(1 for _ in found)
        if more:
            lines.append(f"[{more} more files omitted: narrow the pattern]")
        if not lines:
            lines.append(f"no file matches {shown(arguments.pattern)}")
        if budget.is_spent:
            lines.append(scan.CUT)
        return ToolOutcome(content="\n".join(lines))

    def grep(self, arguments: GrepArguments) -> ToolOutcome:
        request = self._request(arguments)
        # Tilth's own code on plain data, below the same root: it needs no wall, but an end.
        command = Command(
            argv=(
                sys.executable,
                "-I",
                "-S",
                "-B",
                "-W",
                "ignore",
                scan.__file__,
                request.to_json(),
            ),
            cwd=self.enclosure.root,
            env={"LANG": "C.UTF-8"},
            timeout_s=self.timeout_s,
        )
        finished = run(command, keep_bytes=_KEEP_BYTES)
        return ToolOutcome(content=self._told(finished, arguments.pattern))

    def _request(self, arguments: GrepArguments) -> scan.Request:
        _check_pattern(arguments.pattern)
        parts = self.enclosure.parts(arguments.path or ".")
        is_folder = self.enclosure.is_folder(parts)
        return scan.Request(
            root=str(self.enclosure.root),
            parts=parts if is_folder else parts[:-1],
            only=None if is_folder else parts[-1],
            pattern=arguments.pattern,
            glob=None if arguments.glob is None else _checked_glob(arguments.glob),
            limit=MAX_MATCHES,
            skipped=tuple(SEARCH_SKIPS),
        )

    def _told(self, finished: Finished, pattern: str) -> str:
        output = finished.output.removesuffix("\n")
        if finished.timed_out:
            why = f"the search was stopped after {self.timeout_s:g} s: simplify or narrow it"
            if not output:
                raise ToolError(why)
            return f"{output}\n[{why}]"
        if finished.exit_code == scan.BAD_PATTERN:
            raise ToolError(output)
        if finished.exit_code == scan.NO_MEMORY:
            why = "the search needs too much memory: simplify the pattern"
            if not output:
                raise ToolError(why)
            return f"{output}\n[{why}]"
        if finished.exit_code != 0:
            raise ToolError(f"the search failed: {output.rpartition(chr(10))[2]}")
        return output or f"no line matches {shown(pattern)}"


def _check_pattern(pattern: str) -> None:
    encoded(pattern, "the pattern")
    if not 0 < len(pattern) <= _MAX_PATTERN_CHARS:
        raise ToolError(f"the pattern must have 1 to {_MAX_PATTERN_CHARS} characters")


def _checked_glob(pattern: str) -> str:
    """Refuse what could only be meant to leave the worktree."""
    _check_pattern(pattern)
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ToolError(f"{shown(pattern)} leaves the worktree: use a pattern relative to its root")
    return pattern
