"""The recording: what the starts of a session were, in logs of today and of the first version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.event_samples import SAMPLES

from tilth.replay.recording import Recording

IN_WORDS = "the worktree was lost and is rebuilt from the branch; uncommitted work is gone"


RESUME = {"last_stop": None, "retried": [], "pending": [], "unwound_commit": None}


def log(path: Path, *resumes: dict[str, Any]) -> Path:
    """Write a log of one start and some resumes; in each a task is begun."""
    start, begun = (SAMPLES[kind].to_data() for kind in ("session_start", "context_reset"))
    lines = [("session_start", start)]
    for payload in resumes:
        lines += [("context_reset", begun), ("session_resume", {**RESUME, **payload})]
    lines.append(("context_reset", begun))
    text = "".join(
        json.dumps({"seq": seq, "ts": "", "type": kind, "task_id": "T-001", "payload": payload})
        + "\n"
        for seq, (kind, payload) in enumerate(lines, start=1)
    )
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("resumed", "lost"),
    [
        ({"worktree_lost": True, "notes": []}, True),
        ({"worktree_lost": False, "notes": []}, False),
        ({"notes": [IN_WORDS]}, True),
        ({"notes": ["its conversation had not begun"]}, False),
        ({}, False),
    ],
)
def test_a_lost_worktree_is_known_from_its_value_or_from_old_words(
    tmp_path: Path, resumed: dict[str, Any], lost: bool
) -> None:
    starts = Recording(log(tmp_path / "events.jsonl", resumed)).starts
    assert [start.worktree_lost for start in starts] == [False, lost]


def test_a_worktree_lost_before_any_task_began_counts_for_the_next_start(tmp_path: Path) -> None:
    path = log(tmp_path / "events.jsonl", {"worktree_lost": True})
    lines = path.read_text("utf-8").splitlines()
    extra = json.loads(lines[2]) | {"payload": RESUME}
    numbered = [json.loads(line) for line in [*lines[:3], json.dumps(extra), *lines[3:]]]
    text = "".join(json.dumps({**line, "seq": n}) + "\n" for n, line in enumerate(numbered, 1))
    path.write_text(text, encoding="utf-8")
    assert [start.worktree_lost for start in Recording(path).starts] == [False, True]
