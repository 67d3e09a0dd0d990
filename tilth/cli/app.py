"""The program: its name, its version and its commands.

A command is a module of this package with a function of the same name that gives its exit code,
imported when it is called or its help is asked for. A new one is a file and a word in GROUPS.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, MutableMapping
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

GROUPS = {
    "Work": ("prep-feature", "check", "run", "resume", "fleet", "take", "reset"),
    "Look": ("report", "info", "show", "events", "visualize"),
    "Steer": ("tell", "stop", "answer", "accept", "reject", "drop"),
    "Prove": ("replay", "eval-check", "rejudge", "demo"),
    "Set up": ("init", "config", "doctor"),
}
# A blank number is the default's; a blank text is refused, or means none, where it is read.
_MAY_BE_BLANK = ("N", "TEXT", "[TASK] TEXT")


def function_of(name: str) -> Callable[..., int]:
    """Give the function of a command."""
    plain = name.replace("-", "_")
    function: Callable[..., int] = getattr(import_module(f"tilth.cli.{plain}"), plain)
    return function


class Command(typer.core.TyperCommand):
    """Refuse a name that was given and is blank: it is not one that was left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at what was typed before it becomes a path or a default."""
        typed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        parameters: list[Any] = list(self.get_params(ctx))
        for parameter in parameters:
            if parameter.metavar not in _MAY_BE_BLANK and _is_blank(typed.get(parameter.name)):
                raise typer.BadParameter("it is blank; name one, or leave it out", ctx, parameter)
        return super().parse_args(ctx, args)


def _is_blank(value: Any) -> bool:
    return any(isinstance(part, str) and not part.strip() for part in _parts(value))


def _parts(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class _Commands(MutableMapping[str, Any]):
    """Know every command's name, and build a command when it is wanted."""

    def __init__(self) -> None:
        self._names = [name for names in GROUPS.values() for name in names]

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        from tilth.cli.edge import guarded

        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name=name, cls=Command)(guarded(function_of(name)))
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __setitem__(self, name: str, command: Any) -> None:
        raise TypeError(f"{name}: a command is a module of tilth.cli, named in GROUPS")

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{name}: a command is a module of tilth.cli, named in GROUPS")


class Program(typer.core.TyperGroup):
    """Find commands by their modules, and list them by what they are for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one line a command; only their first lines are needed, so none is built."""
        widest = max(map(len, self.commands))
        for group, names in GROUPS.items():
            rows = [(name.ljust(widest), summary_of(name)) for name in names]
            with formatter.section(group):
                formatter.write_dl(rows)


def summary_of(name: str) -> str:
    """Give the first line of a command's help."""
    return (inspect.getdoc(function_of(name)) or "").partition("\n")[0]


def _version(wanted: bool) -> None:
    if wanted:
        from tilth import __version__

        typer.echo(f"tilth {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="tilth",
    cls=Program,
    help="Run a coding agent unattended and leave work a senior engineer would merge.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """Hold the options that come before a command; without one, say where things stand."""
    if context.invoked_subcommand is None:
        from tilth.cli.edge import guarded
        from tilth.cli.home import home

        guarded(home)()
