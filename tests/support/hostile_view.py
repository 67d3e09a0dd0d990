"""A session full of hostile texts: every field the viewer shows holds what would act elsewhere.

Thirty tasks carry one text each in their names; the first one carries all of them in everything
else, down to file names and lines of its diff. Each text calls `hit()` if it ever runs.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from support.flow_site import Site
from support.long_session import START, Happening, line_of, session_start

SESSION = "20261116-221530-badbad"
TEXTS = (
    "<script>hit()</script>",
    "</script><script>hit()</script>",
    "<img src=x onerror=hit()>",
    "<svg onload=hit()>",
    "<svg><script>hit()</script></svg>",
    "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
    "<iframe src=javascript:parent.hit()>",
    "<a href=javascript:hit()>click</a>",
    "javascript:hit()",
    "<body onload=hit()>",
    "<details open ontoggle=hit()>",
    "<video><source onerror=hit()></video>",
    "<math><mtext></mtext><script>hit()</script></math>",
    "<style>@import url(javascript:hit())</style>",
    "<link rel=stylesheet href=//example.org/x.css>",
    "<meta http-equiv=refresh content='0;url=//example.org'>",
    "<base href=//example.org/>",
    "<form action=//example.org><button autofocus onfocus=hit()>",
    "<object data=javascript:hit()></object>",
    "<embed src=javascript:hit()>",
    '"><script>hit()</script>',
    "'-hit()-'",
    "${hit()}",
    "{{constructor.constructor('hit()')()}}",
    "<!--<script>hit()//-->",
    "]]><script>hit()</script>",
    "<template><script>hit()</script></template>",
    "&lt;script&gt;hit()&lt;/script&gt;",
    "\\u003cscript\\u003ehit()\\u003c/script\\u003e",
    "<input autofocus onfocus=hit() value='__proto__'>",
)
ALL = "\n".join(TEXTS)


def hostile_session(root: Path) -> Path:
    """Lay out the repository and the session; gives Tilth's home."""
    site = Site.make(root / "site")
    base, commit = _commit(site.repo)
    directory = root / "home" / "sessions" / SESSION
    (directory / "ledger").mkdir(parents=True)
    with (directory / "events.jsonl").open("w", encoding="utf-8") as log:
        for seq, happening in enumerate(_story(site.repo, base, commit), start=1):
            log.write(line_of(seq, happening, SESSION) + "\n")
    (directory / "prd.json").write_text(json.dumps(_plan(commit)), encoding="utf-8")
    (directory / "checkpoint.json").write_text(json.dumps(_checkpoint(site.repo, base)), "utf-8")
    asked = {"ts": "2026-11-16T22:15:30.000Z", "request": "R-001", "kind": "blocked"}
    question = {**asked, "task_id": "T-002", "text": ALL}
    (directory / "operator-requests.jsonl").write_text(json.dumps(question) + "\n", "utf-8")
    (directory / "lock").touch()
    return root / "home"


def _commit(repo: Path) -> tuple[str, str]:
    """Commit files whose names and lines are hostile."""
    base = _git(repo, "rev-parse", "HEAD")
    (repo / "hostile.txt").write_text(ALL + "\n", encoding="utf-8")
    for text in TEXTS:
        if "/" not in text:
            (repo / text).write_text("a line\n", encoding="utf-8")
    _git(repo, "add", "--all")
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
    _git(repo, *who, "commit", "--quiet", "--message=hostile")
    commit = _git(repo, "rev-parse", "HEAD")
    _git(repo, "reset", "--quiet", "--hard", base)
    return base, commit


def _git(repo: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", *args], cwd=repo, env=os.environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _plan(commit: str) -> dict[str, Any]:
    def task(number: int, text: str) -> dict[str, Any]:
        first = number == 1
        status = {1: "done", 2: "failed"}.get(number, "pending")
        return {
            "id": f"T-{number:03d}",
            "title": text,
            "description": ALL,
            "acceptance_criteria": list(TEXTS),
            "status": status,
            "commit": commit if first else None,
        }

    tasks = [task(number, text) for number, text in enumerate(TEXTS, start=1)]
    return {"version": 1, "feature": TEXTS[0], "tasks": tasks}


def _checkpoint(repo: Path, base: str) -> dict[str, Any]:
    when = START.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "session": SESSION,
        "status": "waiting",
        "source": str(repo),
        "branch": f"session/{TEXTS[2]}",
        "base_commit": base,
        "created": when,
        "updated": when,
    }


def _story(repo: Path, base: str, commit: str) -> list[Happening]:
    task = "T-001"
    start = session_start(len(TEXTS)) | {
        "source": str(repo),
        "worker_model": TEXTS[1],
        "evaluator_model": TEXTS[2],
        "feature": TEXTS[0],
    }
    made = {"commit": commit, "tree": commit, "parent": base, "kind": "done", "ref": TEXTS[3]}
    done = {"commit": commit, "score": 50, "iterations": 1, "evaluated": True}
    return [
        ("session_start", None, None, start),
        ("context_reset", task, None, {"agent": ALL, "base": base, "reason": ALL}),
        ("prompt_assembled", task, None, _prompt()),
        ("model_call", task, 1, _answer()),
        ("tool_call", task, 1, {**_call(), "arguments": dict.fromkeys(TEXTS, ALL)}),
        ("tool_result", task, 1, {**_call(), "content": ALL, "is_error": True}),
        ("hook_run", task, 1, {"hook": ALL, "subject": ALL, "exit_code": 1, "output": ALL}),
        ("pre_tool_block", task, 1, {"call_id": "c", "name": ALL, "rule": ALL, "reason": ALL}),
        ("nudge", task, 1, {"conversation": "c", "text": ALL, "in_a_row": 1}),
        ("case_parse_error", task, 1, {"call_id": "c", "error": ALL, "raw": {ALL: ALL}}),
        ("case_submitted", task, 1, _case(commit)),
        ("validator_run", task, 1, _run(commit)),
        ("seed_tampered", task, 1, {"files": list(TEXTS), "notes": list(TEXTS)}),
        ("mutants", task, 1, _mutants(commit)),
        ("probe_run", task, 1, _probe(commit)),
        ("evaluator_tool", task, 1, {**_call(), "arguments": ALL, "tree": commit, **_said()}),
        ("evaluator_verdict", task, 1, _verdict(commit)),
        ("commit", task, 1, {**made, "subject": ALL}),
        ("task_done", task, 1, done),
        ("operator_request", "T-002", 1, {"request": "R-001", "kind": "blocked", "text": ALL}),
        ("task_failed", "T-002", 1, {"reason": "blocked", "detail": ALL, "iterations": 1}),
        (TEXTS[0], task, 1, dict.fromkeys(TEXTS, ALL)),
        ("stop", None, None, {"reason": "blocked", "exit_code": 6, "detail": ALL}),
    ]


def _call() -> dict[str, Any]:
    return {"conversation": "c", "call_id": "c", "name": TEXTS[0]}


def _said() -> dict[str, Any]:
    return {"content": ALL, "is_error": False}


def _mutants(tree: str) -> dict[str, Any]:
    return {"tree": tree, "tried": 30, "killed": 0, "not_run": 0, "survived": list(TEXTS)}


def _probe(tree: str) -> dict[str, Any]:
    said = {"phase": "verdict", "concern": TEXTS[0], "probe": ALL, "outcome": "failed"}
    return {**said, "tree": tree, "output": ALL, "duration_ms": 1}


def _prompt() -> dict[str, Any]:
    tool = {"name": TEXTS[0], "description": ALL, "input_schema": {}}
    head = {"model": TEXTS[1], "system": ALL, "tools": [tool]}
    first = {"role": "user", "content": [{"type": "text", "text": ALL}]}
    about = {"conversation": ALL, "role": "worker", "endpoint": TEXTS[4]}
    return {**about, "head": head, "messages": [first]}


def _answer() -> dict[str, Any]:
    blocks = [
        {"type": "thinking", "thinking": ALL, "signature": TEXTS[0]},
        {"type": "text", "text": ALL},
        {"type": "tool_use", "id": "c", "name": TEXTS[0], "input": {"command": ALL}},
        {"type": TEXTS[0], "data": ALL},
    ]
    return {
        "conversation": ALL,
        "role": "worker",
        "request_sha256": TEXTS[0],
        "content": blocks,
        "stop_reason": TEXTS[0],
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "model": TEXTS[1],
        "latency_ms": 1,
        "cost_usd": None,
    }


def _case(tree: str) -> dict[str, Any]:
    covered = [{"criterion": text, "addressed_by": text, "evidence": text} for text in TEXTS]
    case = {"summary": ALL, "ac_coverage": covered, "work_arounds": list(TEXTS)}
    case |= {"uncertainties": list(TEXTS)}
    return {"call_id": "c", "case": case, "tree": tree, "diff_sha256": "0" * 64}


def _run(tree: str) -> dict[str, Any]:
    said = {"name": TEXTS[0], "phase": "case", "passed": False, "exit_code": 1, "output": ALL}
    return {**said, "duration_ms": 1, "tree": tree}


def _verdict(tree: str) -> dict[str, Any]:
    return {
        "call_id": "c",
        "ts": "2026-11-16T22:15:30.000Z",
        "task_id": "T-001",
        "iter": 1,
        "verdict": "reject",
        "rejection_category": "acceptance_gap",
        "concern": ALL,
        "evidence": list(TEXTS),
        "next_step": ALL,
        "score": 50,
        "resolved": list(TEXTS),
        "source": "evaluator",
        "model": TEXTS[1],
        "tree": tree,
        "diff_sha256": "0" * 64,
        "validators": {},
    }
