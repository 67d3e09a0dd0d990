"""The tutorial, typed as it stands: every file it shows written, every command it shows run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.doc_pages import DOCS, KEY, ROOT, Block, blocks
from support.messages_api import Answer, MessagesServer, Request, call
from support.warm_start import warm_tilth

PAGE = DOCS / "tutorial.md"
BY_MONTH = '''

def by_month(expenses):
    """Give what each month came to, in order of time."""
    totals = {}
    for expense in sorted(expenses, key=lambda expense: expense.day):
        month = f"{expense.day:%Y-%m}"
        totals[month] = totals.get(month, 0) + expense.cents
    return totals
'''
OVER_BUDGET = '''

def over_budget(expenses, limit_cents):
    """Name the months that spent more than a limit, oldest first."""
    return [month for month, cents in by_month(expenses).items() if cents > limit_cents]
'''
BEFORE_LAST = "\n\ndef _expense(line):"
ADDED = {"T-001": BY_MONTH, "T-002": OVER_BUDGET}


def answer(request: Request) -> Answer:
    """Be a good worker, and an evaluator that likes it."""
    if request.role == "evaluator":
        return call("submit_verdict", concern="Small and right.", evidence=[], verdict="accept")
    first = request.body["messages"][0]["content"][0]["text"]
    task = next(name for name in ADDED if f"# Your task: {name}" in first)
    if len(request.body["messages"]) == 1:
        new = ADDED[task].rstrip("\n") + "\n" + BEFORE_LAST
        return call("edit_file", path="expenses/ledger.py", old_string=BEFORE_LAST, new_string=new)
    coverage = [{"criterion": n, "addressed_by": "expenses/ledger.py"} for n in ("1", "2")]
    return call("submit_case", summary="Added it.", ac_coverage=coverage)


def ping_or(request: Request) -> Answer:
    return answer(request) if request.tools else Answer(stop_reason="end_turn")


def typed(shown: list[Block]) -> str:
    """Give one script of all that a reader types, up to the second word to a model."""
    lines, runs = ["set -e"], 0
    for block in shown:
        if block.kind != "sh":
            continue
        runs += block.mark == KEY
        if block.mark == KEY and runs > 1:
            continue
        lines += [line for line in block.text.splitlines() if line]
    return "\n".join(lines)


def write_files(shown: list[Block], home: Path) -> list[str]:
    for block in shown:
        if block.file:
            path = home / block.file.removeprefix("~/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
    return [block.file for block in shown if block.file]


def test_the_tutorial_works_as_it_is_written(tmp_path: Path) -> None:
    shown = blocks(PAGE)
    assert len(write_files(shown, tmp_path)) == 4
    with MessagesServer(ping_or) as server:
        environ = {
            "HOME": str(tmp_path),
            "PATH": f"{warm_tilth().parent}:{os.environ['PATH']}",
            "TILTH_BASE_URL": server.url,
            "TILTH_MUTATION_SECONDS": "0",
            "GIT_AUTHOR_NAME": "Reader",
            "GIT_AUTHOR_EMAIL": "reader@example.org",
            "GIT_COMMITTER_NAME": "Reader",
            "GIT_COMMITTER_EMAIL": "reader@example.org",
        }
        done = subprocess.run(
            ["bash", "-c", typed(shown)],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ready: every test is red for the right reason" in done.stdout
    assert "all tasks are done" in done.stdout
    said = [line.partition(" ")[2] for line in done.stdout.splitlines()[-4:]]
    assert said[:2] == ["T-002: Name the months over budget", "T-001: Total by month"]
    assert said[-1] == "A ledger of expenses"
