"""The toolbox: which tools there are, and how a call becomes an outcome.

Whatever a model calls, and however wrongly, it gets an answer; nothing it does raises past here.
The control tools of the loop are not worktree tools and are not known here.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tilth.base.errors import DiskError, ToolError
from tilth.base.safe_text import shortened
from tilth.contract.tool_arguments import in_words
from tilth.model.messages import ToolCall, ToolSpec
from tilth.sandbox.confinement import Access, Confinement, Unconfined
from tilth.task.tool_outcome import Blocked, ToolOutcome
from tilth.tools import bash, files, guard, search
from tilth.tools.lint import Linter
from tilth.tools.paths import Enclosure, shown

_MAX_PROBLEMS = 5
_MOST_ECHOED = 100
_READERS = frozenset({"read_file", "glob", "grep"})

A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True)
class Tool:
    """Tie a tool's description to what it does with a model's arguments."""

    spec: ToolSpec
    act: Callable[[Any], ToolOutcome]


class Toolbox:
    """Run the tools of one worktree."""

    def __init__(
        self,
        *,
        root: Path,
        confinement: Confinement,
        access: Access,
        env: Mapping[str, str],
        bash_timeout_s: float,
        ruff: Path | None = None,
        grep_timeout_s: float = search.GREP_TIMEOUT_S,
    ) -> None:
        linter = None if ruff is None else Linter(ruff, root, confinement, access, env)
        shell = bash.BashTool(root, confinement, access, env, bash_timeout_s)
        enclosure = Enclosure(root, access.readable)
        file = files.FileTools(enclosure, linter)
        find = search.SearchTools(enclosure, grep_timeout_s)
        self._keep(
            (
                _tool("bash", bash.BASH, bash.BashArguments, shell.run),
                _tool("read_file", files.READ_FILE, files.ReadArguments, file.read),
                _tool("write_file", files.WRITE_FILE, files.WriteArguments, file.write),
                _tool("edit_file", files.EDIT_FILE, files.EditArguments, file.edit),
                _tool("glob", search.GLOB, search.GlobArguments, find.glob),
                _tool("grep", search.GREP, search.GrepArguments, find.grep),
            )
        )

    @classmethod
    def for_reading(cls, root: Path) -> Toolbox:
        """Make a toolbox that can look at files and change nothing."""
        toolbox = cls(
            root=root, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=1
        )
        toolbox._keep(tuple(tool for tool in toolbox._tools.values() if tool.spec.name in _READERS))
        return toolbox

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def blocked(self, call: ToolCall) -> Blocked | None:
        """Say why a call is plainly a mistake and must not run, or None."""
        if call.name != "bash" or not isinstance(call.arguments, dict):
            return None
        command = call.arguments.get("command")
        return guard.check(command) if isinstance(command, str) else None

    def run(self, call: ToolCall) -> ToolOutcome:
        """Do one call; whatever the model did wrong comes back as an outcome, not as an error."""
        try:
            return self._tool(call.name).act(call.arguments)
        except ToolError as error:
            return _failed(str(error))
        except DiskError:
            raise
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskError(f"{call.name} could not write: {error.strerror}") from error
            return _failed(f"{call.name} failed: {error.strerror or error}")
        # The tool boundary: a fault in one tool must not end a night's work.
        except Exception as error:  # noqa: BLE001
            return _failed(f"{call.name} failed unexpectedly: {type(error).__name__}: {error}")

    def _keep(self, tools: tuple[Tool, ...]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolError(f"there is no tool {_echo(name)}: use one of {', '.join(self._tools)}")
        return self._tools[name]


def _tool(name: str, description: str, model: type[A], act: Callable[[A], ToolOutcome]) -> Tool:
    def read_and_act(arguments: Any) -> ToolOutcome:
        return act(_read(name, model, arguments))

    return Tool(spec=ToolSpec.of(name, description, model), act=read_and_act)


def _read(name: str, model: type[A], arguments: Any) -> A:
    if not isinstance(arguments, dict):
        kind = "null" if arguments is None else type(arguments).__name__
        raise ToolError(f"{name}: the arguments must be a JSON object, got {kind}")
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        raise ToolError(f"{name}: {_problems(error)}") from error


def _problems(error: ValidationError) -> str:
    """Put everything that was wrong with the arguments on one line."""
    problems = [
        f"{_echo('.'.join(map(str, problem['loc'])) or 'arguments')}: {in_words(problem)}"
        for problem in error.errors(include_url=False, include_input=False)
    ]
    more = len(problems) - _MAX_PROBLEMS
    return "; ".join(problems[:_MAX_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def _echo(name: str) -> str:
    """Give a name of a model's for one line; of a long one its beginning."""
    return shown(shortened(name, _MOST_ECHOED))


def _failed(reason: str) -> ToolOutcome:
    # A name from the file system may hold bytes that are no text; what a model is sent must be.
    text = reason.encode("utf-8", "backslashreplace").decode()
    return ToolOutcome(content=text, is_error=True)
