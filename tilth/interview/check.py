"""`tilth check`: the proof of a seed for a PRD that was written by hand."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import UserError
from tilth.base.safe_text import inert, one_line
from tilth.base.values import jsonable
from tilth.config.settings import load
from tilth.contract.outcomes import ExitCode
from tilth.contract.prd import Plan, Status
from tilth.git.source import open_source
from tilth.git.workspace import Workspace
from tilth.interview.plan_graph import PlanGraph, graph_lines, graph_of
from tilth.interview.proof import SeedProof, TaskProof, prove
from tilth.interview.prover import make_prover
from tilth.session.bundle import PRD_NAME, find_prd, read_bundle
from tilth.session.frontend import Frontend
from tilth.session.parts import open_parts, read_facts
from tilth.session.second_night import taken_problem
from tilth.session.start import committed_tests, repo_for
from tilth.show import figures
from tilth.show.progress_line import progress_line

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
    tests = _texts({**committed_tests(source, bundle), **bundle.tests})
    with (
        progress_line("reading the tests", environ) as line,
        open_parts(settings.under(facts), source, facts, Frontend(tell=line.tell)) as parts,
    ):
        # Only trees are read by it; the branch it names is never made.
        trees = Workspace(source, parts.scratch / "workspace", "check", SystemClock())
        proof = prove(make_prover(parts, trees, source.head, line.at), bundle.plan, tests)
        if (taken := taken_problem(source, bundle)) is not None:
            proof = proof.model_copy(update={"of_the_plan": (taken,)})
    write = _document if as_json else _page
    sys.stdout.write(write(proof, bundle.plan, graph_of(bundle.plan, tests), source.head))
    return ExitCode.DONE if proof.holds else ExitCode.TASK_FAILED


def _texts(tests: Mapping[str, bytes]) -> dict[str, str]:
    # Bytes that are no UTF-8 stay wrong, and the proof says so.
    return {name: content.decode("utf-8", "surrogateescape") for name, content in tests.items()}


def _document(proof: SeedProof, plan: Plan, graph: PlanGraph, base: str) -> str:
    content = {
        "ok": proof.holds,
        "base": base,
        "feature": plan.feature,
        "done": [task.id for task in plan.with_status(Status.DONE)],
        "tasks": [jsonable(task) for task in proof.tasks],
        "problems": list(proof.problems),
        "graph": jsonable(graph),
    }
    return json.dumps(content, ensure_ascii=True, indent=2) + "\n"


def _page(proof: SeedProof, plan: Plan, graph: PlanGraph, base: str) -> str:
    rows = [_HEADINGS, *(_row(task) for task in proof.tasks)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    done = plan.with_status(Status.DONE)
    if done:
        lines.append(f"already done, not proven: {', '.join(task.id for task in done)}")
    lines += graph_lines(graph)
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
