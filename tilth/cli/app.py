"""The program: its name, its version and its groups of commands.

A group module holds names, arguments and help; what a command does is imported when it is called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tilth.cli import look, operate, prepare, proof, work

app = typer.Typer(
    name="tilth",
    help="Run a coding agent unattended and leave work a senior engineer would merge.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from tilth import __version__

        typer.echo(f"tilth {__version__}")
        raise typer.Exit


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
        look.stand()


for group in (work, prepare, look, proof, operate):
    group.register(app)
