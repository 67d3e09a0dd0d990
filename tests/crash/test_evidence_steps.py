"""One session killed at every new step of the evidence, and resumed each time from its record."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

from support.crash_stage import Stage, die_after
from support.evidence_story import LIGHT_FILES, WHOLE
from support.evidence_story import answer as story
from support.flow_site import accept, git, read_lines
from support.messages_api import Reply, Request
from support.replays import play, say_of, standings

# The event after which a process dies, by its type and its number among those of its type. What
# stands in the log by then is not done again; what was begun after it is.
DEATHS = [
    ("validator_run", 1),
    ("mutants", 1),
    ("evaluator_answer", 1),
    ("evaluator_tool", 1),
    ("evaluator_tool", 2),
    ("evaluator_answer", 3),
    ("probe_run", 1),
    ("evaluator_verdict", 1),
    ("probe_run", 2),
    ("probe_failed", 1),
    ("evaluator_verdict", 2),
    ("probe_run", 3),
    ("mutants", 2),
    ("evaluator_answer", 4),
    ("evaluator_tool", 3),
    ("evaluator_answer", 5),
]
ONCE = {"evaluator_tool": 3, "probe_run": 3, "probe_failed": 1, "mutants": 2, "evaluator_answer": 5}


def answer(request: Request) -> Reply:
    """Play the story, with a last verdict that is asked for what it lacks."""
    first = len(request.body["messages"]) == 1
    if request.role == "evaluator" and first and "x >= LIMIT" in json.dumps(request.body):
        return accept(resolved=[], score=95)
    return story(request)


def kind_of(event: dict[str, Any]) -> str:
    if event["type"] == "model_call" and event["payload"]["role"] == "evaluator":
        return "evaluator_answer"
    return str(event["type"])


def test_a_session_killed_at_every_step_of_the_evidence_runs_nothing_again_that_is_recorded(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, 1, answer, LIGHT_FILES, TILTH_MUTATION_SECONDS="60")
    with stage.server:
        for kind, nth in DEATHS:
            hook = die_after(lambda: stage.log, kind_of, kind, nth)
            assert stage.go_on(hook) == -signal.SIGKILL, f"{kind} {nth} was not reached"
        assert stage.go_on() == 0
    stage.check()
    branch = f"session/{stage.site.session().name}"
    assert git(stage.site.repo, "show", f"{branch}:feature1.py") == WHOLE.strip()
    events = read_lines(stage.log)
    told = Counter(kind_of(event) for event in events)
    assert {kind: told[kind] for kind in ONCE} == ONCE
    requests = told["model_call"] + told["evaluator_answer"]
    assert f"{requests}/{requests} requests identical" in say_of(stage.site)[1]
    assert standings(play(stage.site)) == {"T-001": "equal"}
