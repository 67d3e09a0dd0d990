"""What the docs name is what the code has."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from tilth.cli.app import app
from tilth.events import EVENT_TYPES
from tilth.outcomes import ExitCode, FailReason

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def commands() -> dict[str, str]:
    group = typer.main.get_command(app)
    context = group.context_class(group)
    return {name: group.get_command(context, name).help for name in group.list_commands(context)}


def test_every_event_stands_in_the_table_once() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", text("sessions.md").split("## Events")[1], re.MULTILINE)
    assert sorted(rows) == sorted(EVENT_TYPES)


def test_every_exit_code_is_explained() -> None:
    rows = re.findall(r"^\| (\d+) \| ", text("how-it-works.md"), re.MULTILINE)
    assert sorted(map(int, rows)) == sorted(ExitCode)


def test_every_way_to_fail_is_explained() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", text("how-it-works.md"), re.MULTILINE)
    assert sorted(rows) == sorted(FailReason)


def test_every_command_has_help_with_an_example() -> None:
    assert commands()
    for name, said in commands().items():
        assert f"Example: tilth {name}" in said, name


def test_every_link_in_the_docs_leads_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "AGENTS.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
