"""The worker's hands: the tools that read, change and run things in one worktree."""

from tilth.task.tool_outcome import Blocked, HookRun, ToolOutcome
from tilth.tools.lint import find_ruff, require_ruff
from tilth.tools.registry import Toolbox

__all__ = ["Blocked", "HookRun", "ToolOutcome", "Toolbox", "find_ruff", "require_ruff"]
