"""What the docs name is what the code has."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from tilth.cli.app import app
from tilth.contract.outcomes import ExitCode, FailReason
from tilth.log.events import EVENT_TYPES

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


def test_the_glossary_stays_short() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ", text("glossary.md"), re.MULTILINE)[1:]
    assert len(rows) == len(set(rows))
    assert 0 < len(rows) <= 25


def test_the_architecture_names_files_and_functions_that_stand() -> None:
    page = text("architecture.md")
    files = set(re.findall(r"\b(?:[a-z_]+/)+[a-z_]+\.py\b", page))
    assert files
    for name in files:
        assert (ROOT / name).exists() or (ROOT / "tilth" / name).exists(), name
    functions = set(re.findall(r"\b((?:task|session)/[a-z_]+)\.(?!py\b)([a-z_]+)\b", page))
    assert functions
    for module, name in functions:
        assert f"def {name}(" in (ROOT / "tilth" / f"{module}.py").read_text("utf-8"), (
            module,
            name,
        )
