"""What the docs name is what the code has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from support import demo_cast
from support.doc_pages import anchors, pages

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


@pytest.mark.parametrize(
    "page",
    [*pages(), *sorted((ROOT / "examples").rglob("*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_link_in_the_docs_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s:]+)\)", page.read_text("utf-8")):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        # What is built of docs/ holds its pages alone.
        assert page.parent != DOCS or target.resolve().is_relative_to(DOCS), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_stands_in_the_navigation_once() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    named = list(in_navigation(settings["project"]["nav"]))
    missing = sorted({page.name for page in DOCS.glob("*.md")} - set(named))
    assert missing == [], f"add a line for each to `nav` in zensical.toml: {missing}"
    assert sorted(named) == sorted(set(named))
    assert [name for name in named if not (DOCS / name).exists()] == []


def in_navigation(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from in_navigation(target)


def test_the_readme_begins_with_what_it_is_a_picture_and_one_command() -> None:
    title, said, picture, command, *_ = (ROOT / "README.md").read_text("utf-8").split("\n\n")
    assert title == "# Tilth"
    assert said.startswith("Tilth runs a coding agent")
    assert picture.startswith("![")
    assert len(command.splitlines()) == 3


def test_the_demos_picture_is_made_from_its_recording() -> None:
    made = demo_cast.svg(demo_cast.scenes())
    assert demo_cast.PICTURE.read_text("utf-8") == made, "make it anew with `make pictures`"


def test_the_glossary_stays_short() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ", text("glossary.md"), re.MULTILINE)[1:]
    assert len(rows) == len(set(rows))
    assert 0 < len(rows) <= 30


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
