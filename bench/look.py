"""Time a look: `tilth info` over many sessions against reading the same files with plain json."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.quiet import quiet

SESSIONS = 200
TASKS = 8
LOG_BYTES = 64 * 1024
READ = ("checkpoint.json", "prd.json")


def info_ratio(sessions: int = SESSIONS, rounds: int = 9) -> float:
    """Give how much longer `tilth info` takes than json.loads of what it reads, by medians."""
    from tilth.show.info import info

    with tempfile.TemporaryDirectory(prefix="tilth-bench-") as place:
        home = Path(place)
        make_sessions(home / "sessions", sessions)
        environ = {"HOME": place, "TILTH_HOME": place}
        ours, plain = [], []
        for _ in range(rounds):
            plain.append(_seconds(lambda: _read_plainly(home / "sessions")))
            with quiet():
                ours.append(_seconds(lambda: info(None, as_json=False, environ=environ)))
    return statistics.median(ours) / statistics.median(plain)


def make_sessions(place: Path, count: int) -> None:
    """Write the files of sessions as a run would leave them."""
    for number in range(count):
        name = f"20261116-{number // 3600:02d}{number // 60 % 60:02d}{number % 60:02d}-{number:06x}"
        directory = place / name
        directory.mkdir(parents=True)
        for file, content in (("checkpoint.json", _checkpoint(name)), ("prd.json", _prd())):
            (directory / file).write_text(json.dumps(content, indent=2), encoding="utf-8")
        # Without a log it would be told as broken, which takes another way.
        (directory / "events.jsonl").write_text(f"{{}}{' ' * LOG_BYTES}\n", encoding="utf-8")
        (directory / "lock").write_text("1\n", encoding="utf-8")


def _checkpoint(name: str) -> dict[str, Any]:
    usage = {"input_tokens": 90_000, "output_tokens": 12_000, "cache_read_tokens": 700_000}
    spend = {"usage": usage, "calls": 60, "cost_usd": 1.25, "unpriced_calls": 0}
    return {
        "schema_version": 1,
        "session": name,
        # Every fourth was killed: its lock is looked at too.
        "status": "running" if name.endswith(("0", "4", "8", "c")) else "done",
        "source": "/home/user/code/words",
        "branch": f"session/{name}",
        "base_commit": "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d",
        "created": "2026-11-16T22:15:30.000Z",
        "updated": "2026-11-16T23:15:30.000Z",
        "usage": {"worker": spend, "evaluator": spend},
    }


def _prd() -> dict[str, Any]:
    tasks = [
        {
            "id": f"T-{number:03d}",
            "title": f"Add the part {number} of slugs",
            "description": "Words are joined by dashes, accents are folded, case is lowered. " * 4,
            "acceptance_criteria": ["slugify('') gives ''", "slugify('É a') gives 'e-a'"] * 2,
            "depends_on": [],
            "status": "done" if number < TASKS else "failed",
            "rescue_count": 1,
            "score": 91,
            "quality_flag": None,
            "commit": "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d",
            "summary": "slugify() folds accents and joins words with dashes.",
        }
        for number in range(1, TASKS + 1)
    ]
    return {"version": 1, "feature": "slugs for every title", "tasks": tasks}


def _read_plainly(place: Path) -> None:
    for directory in sorted(place.iterdir()):
        for file in READ:
            json.loads((directory / file).read_bytes())


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
