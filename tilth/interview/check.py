"""`tilth check`: the proof of a seed for a PRD that was written by hand."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path

from tilth.base.errors import UserError
from tilth.base.safe_text import inert, one_line
from tilth.base.values import jsonable
from tilth.config.settings import load
from tilth.contract.outcomes import ExitCode
from tilth.contract.prd import Plan, Status
from tilth.git.source import open_source
from tilth.interview.plan_graph import PlanGraph, graph_lines, graph_of
from tilth.interview.preflight import Flight, fly, texts_of
from tilth.interview.proof import SeedProof, TaskProof
from tilth.interview.prover import make_prover, open_ground
from tilth.session.bundle import PRD_NAME, find_prd, read_bundle
from tilth.session.frontend import Frontend
from tilth.session.parts import open_parts, read_facts
from tilth.session.second_night import taken_problem
from tilth.session.start import committed_tests, repo_for
from tilth.show import figures
from tilth.show.progress_line import progress_line
from tilth.show.project_lines import carried_line

_TITLE_CHARS = 40
_HEADINGS = ("task", "title", "tests", "collects", "red on base", "criteria")


def check(
    target: Path,
    repo: Path | None,
    flags: Mapping[str, object],
    *,
    as_json: bool = False,
    environ: MutableMapping[str, str] = os.environ,
) -> int:
    """Prove a PRD on the repository's last commit and show how each task stands."""
    settings = load(flags, environ)
    prd = find_prd(target)
    if prd is None:
        raise UserError(f"no {PRD_NAME} in {target.resolve()}; name one or its directory")
    bundle = read_bundle(prd)
    source = open_source(repo_for(repo, prd))
    facts = read_facts(source, source.head)
    tests = texts_of({**committed_tests(source, bundle), **bundle.tests})
    with (
        progress_line("reading the tests", environ) as line,
        open_parts(settings.under(facts), source, facts, Frontend(tell=line.tell)) as parts,
        open_ground(parts, source.head) as ground,
    ):
        flight = fly(parts, bundle.plan, tests, make_prover(ground, line.at), ground)
    if (taken := taken_problem(source, bundle)) is not None:
        proof = flight.proof.model_copy(update={"of_the_plan": (taken,)})
        flight = replace(flight, proof=proof)
    proof, write = flight.proof, _document if as_json else _page
    sys.stdout.write(write(flight, bundle.plan, graph_of(bundle.plan, tests), source.head))
    return ExitCode.DONE if proof.holds else ExitCode.TASK_FAILED


def _document(flight: Flight, plan: Plan, graph: PlanGraph, base: str) -> str:
    proof = flight.proof
    content = {
        "ok": proof.holds,
        "base": base,
        "feature": plan.feature,
        "done": [task.id for task in plan.with_status(Status.DONE)],
        "tasks": [jsonable(task) for task in proof.tasks],
        "problems": list(proof.problems),
        "graph": jsonable(graph),
        "carried": [file.path for file in flight.carries.files],
        "notes": list(flight.notes),
    }
    return json.dumps(content, ensure_ascii=True, indent=2) + "\n"


def _page(flight: Flight, plan: Plan, graph: PlanGraph, base: str) -> str:
    proof = flight.proof
    rows = [_HEADINGS, *(_row(task) for task in proof.tasks)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    done = plan.with_status(Status.DONE)
    if done:
        lines.append(f"already done, not proven: {', '.join(task.id for task in done)}")
    lines += graph_lines(graph)
    paths = tuple(file.path for file in flight.carries.files)
    if paths:
        size = sum(file.bytes for file in flight.carries.files)
        lines.append(inert(f"carries {carried_line(paths, size)}"))
    lines += [inert(line) for line in flight.notes]
    if proof.problems:
        lines += ["", *(f"- {inert(line)}" for line in proof.problems), ""]
    lines.append(_verdict(proof, base))
    return "\n".join(lines) + "\n"


def _row(task: TaskProof) -> tuple[str, ...]:
    title = one_line(task.title, _TITLE_CHARS)
    return (
        task.id,
        title,
        str(task.tests) if task.files else "none",
        _yes(task.collects),
        _yes(task.red),
        f"{task.covered}/{task.criteria}",
    )


def _yes(value: bool) -> str:
    return "yes" if value else "NO"


def _verdict(proof: SeedProof, base: str) -> str:
    if not proof.problems:
        return f"ready: every test is red for the right reason on {base[:7]}"
    return f"not ready: {figures.counted(len(proof.problems), 'problem')} on {base[:7]}"
