"""The project's setup: its own commands, run at a worktree of a session or at one for a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tilth.base.safe_text import inert
from tilth.git.workspace import Workspace
from tilth.log.events import HookRan
from tilth.sandbox.confinement import environment
from tilth.session.parts import Parts
from tilth.session.session import Session
from tilth.session.setup import Setup, is_prepared
from tilth.session.store import make_private
from tilth.task.bench import RunContext


def run_setup(
    parts: Parts,
    context: RunContext,
    session: Session,
    workspace: Workspace,
    *,
    again: bool = False,
) -> None:
    """Run the project's setup commands, unless the log says that it was done."""
    commands = parts.facts.setup
    if not commands:
        return
    if not again and is_prepared(context.words.state.setups, commands):
        return
    set_up(parts, session.directory / "setup", workspace, context.emit)


def set_up(
    parts: Parts, setup: Path, workspace: Workspace, emit: Callable[[HookRan], object]
) -> None:
    """Run the project's setup commands at a worktree; what they make besides is in `setup`."""
    commands = parts.facts.setup
    places = parts.places(workspace, setup, setup / "venv")
    places = replace(places, network=places.network or parts.setup_network)
    reach = "with" if places.network else "without"
    for line in commands:
        asked = f"setup, as the repository's {parts.facts.file} asks"
        parts.frontend.tell(f"{asked}, {reach} network: {inert(line)}")
    for folder in (places.setup, places.setup_home, places.venv):
        make_private(folder)
    # Nothing of a virtual environment is for git to see, whoever makes it.
    (places.venv / ".gitignore").write_text("*\n", encoding="utf-8")
    Setup(
        commands=commands,
        root=workspace.path,
        confinement=parts.confinement,
        access=places.for_setup(),
        env=environment(
            parts.command_environ, home=places.setup_home, path_first=places.python.parent
        ),
    ).run(emit, parts.mask)
