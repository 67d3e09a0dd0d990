"""`tilth fleet`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tilth.cli.options import AsJson


def fleet(
    units: Annotated[Path, typer.Argument(metavar="UNITS", help="A units.toml: PRDs to run.")],
    engine: Annotated[
        str, typer.Option("--engine", metavar="local|dask", help="Where the units run.")
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler; else one is made."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Units at once; else half the cores."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Run many PRDs, one session each, here or on a cluster.

    A unit that has a session goes on with it. Keys come from the environment of whoever does the
    work. The exit code is as for `tilth run`, over all units.

    Example: tilth fleet units.toml --jobs 4
    """
    from tilth.fleet.run import FleetOptions, engine_named
    from tilth.show.fleet import fleet as run

    options = FleetOptions(engine=engine_named(engine), scheduler=scheduler, jobs=jobs)
    return run(units, options, as_json=as_json)
