"""`tilth config`: the settings in force and where each came from; keys are masked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilth.base.errors import UserError, WorkspaceError
from tilth.base.safe_text import one_line
from tilth.config.project import find_project
from tilth.config.settings import VARIABLES, Origin, Settings, Source, Variable, load
from tilth.contract.outcomes import ExitCode
from tilth.git import trees
from tilth.git.source import open_source
from tilth.session.measured import newest
from tilth.show.note import Tone
from tilth.show.notices import tell
from tilth.show.tables import Cell, Column, Page

_COLUMNS = (Column("setting", whole=True), Column("value", folded=True), Column("from", wide=60))


def config(
    *, repo: Path | None = None, as_json: bool, environ: Mapping[str, str] = os.environ
) -> int:
    """Print every setting with its value and its origin."""
    settings, warnings = _in_force(load({}, environ), repo)
    page = Page.out(environ)
    if as_json:
        page.json(
            {
                "env_file": str(settings.env_file),
                "env_file_exists": settings.env_file.is_file(),
                "settings": [_document(variable, settings) for variable in VARIABLES],
                "evaluator_check": _measured(settings),
                "warnings": warnings,
            }
        )
        return ExitCode.DONE
    page.table(_COLUMNS, [_row(variable, settings) for variable in VARIABLES])
    if settings.evaluator_model is not None and settings.evaluate:
        said = _measured(settings) or "never measured with these prompts; see `tilth eval-check`"
        page.line(f"evaluator {settings.evaluator_model}: {said}")
    if not settings.env_file.is_file():
        tell(f"there is no {one_line(str(settings.env_file))}; `tilth init` writes one")
    for warning in warnings:
        tell(f"warning: {one_line(warning, 400)}")
    return ExitCode.DONE


def _measured(settings: Settings) -> str | None:
    """Say how often the evaluator is known to be wrong."""
    known = newest(settings, settings.evaluator_model) if settings.evaluator_model else None
    return f"{known.figure}, {known.ts[:10]}" if known else None


def _in_force(settings: Settings, repo: Path | None) -> tuple[Settings, list[str]]:
    """Add what the project says, where the command is about one."""
    warnings = list(settings.unknown)
    if repo is None:
        here = Path.cwd()
        if not any((folder / ".git").exists() for folder in (here, *here.parents)):
            return settings, warnings
    try:
        source = open_source(repo or Path())
        facts = find_project(lambda name: trees.read(source, source.head, name))
    except (UserError, WorkspaceError) as error:
        if repo is not None:
            raise
        return settings, [*warnings, *str(error).splitlines()]
    return settings.under(facts), warnings


def _origin(variable: Variable, settings: Settings) -> Origin:
    default = Origin(source=Source.DEFAULT, variable=variable.name)
    return settings.origins.get(variable.name, default)


def _row(variable: Variable, settings: Settings) -> list[Cell]:
    origin = _origin(variable, settings)
    named = "" if origin.variable == variable.name else f" ({origin.variable})"
    own = origin.source is Source.DEFAULT
    return [
        Cell(variable.name),
        Cell(settings.shown(variable) or "-", Tone.QUIET if own else Tone.PLAIN),
        Cell(f"{origin.source}{named}", Tone.QUIET if own else Tone.GOOD),
    ]


def _document(variable: Variable, settings: Settings) -> dict[str, Any]:
    origin = _origin(variable, settings)
    return {
        "name": variable.name,
        "value": settings.shown(variable),
        "source": str(origin.source),
        "variable": origin.variable,
        "default": variable.default,
        "help": variable.help,
    }
