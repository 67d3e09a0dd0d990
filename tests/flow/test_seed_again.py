"""An interview that was cut off at any point goes on, and one that failed can be removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.flow_site import Site, git, task
from support.interviews import (
    Person,
    Sitting,
    go_on_at,
    read,
    review,
    sit,
    sit_at,
    without_review,
    write_seed,
)
from support.messages_api import MessagesServer, by_role, error, say

from tilth.show.reset import reset


def cut_back(sitting: Sitting, keep: Callable[[dict[str, Any]], bool]) -> None:
    """Leave the session as a crash would have: a shorter log, and a checkpoint from before."""
    log, checkpoint = sitting.session / "events.jsonl", sitting.session / "checkpoint.json"
    kept = [event for event in sitting.events if keep(event)]
    log.write_text("".join(json.dumps(event) + "\n" for event in kept), encoding="utf-8")
    state = {**sitting.checkpoint, "status": "interviewing"}
    checkpoint.write_text(json.dumps(state), encoding="utf-8")


def test_an_interview_goes_on_after_the_endpoint_failed(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    script = [read("README.md"), error(403, "over quota", "permission_error"), write_seed(1)]
    with MessagesServer(by_role(seeder=script)) as server:
        assert sit_at(server, site).code == 5
        again = go_on_at(server, site, Person())
    assert again.code == 0
    # The call that failed and the one that took its place are the same request.
    assert server.requests[1].body == server.requests[2].body
    assert again.of("session_resume")[0]["last_stop"] == "provider_failure"


def test_a_seed_that_was_written_but_not_recorded_is_written_again(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[write_seed(1)])) as server:
        first = sit_at(server, site)
        cut_back(first, lambda event: event["type"] in ("prompt_assembled", "model_call"))
        again = go_on_at(server, site, Person())
    assert again.code == 0
    assert len(server.requests) == 1
    assert again.subjects == ["seed: 1 task(s), 1 test(s)"]
    assert again.checkpoint["status"] == "prepared"
    assert again.of("seed_committed")[0]["commit"] == git(site.repo, "rev-parse", again.branch)


def test_a_session_that_is_recorded_as_prepared_needs_no_model(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(by_role(seeder=[write_seed(1)])) as server:
        cut_back(sit_at(server, site), lambda event: True)
        again = go_on_at(server, site, Person())
    assert again.code == 0
    assert len(server.requests) == 1
    assert again.checkpoint["status"] == "prepared"


def test_a_review_that_was_held_is_not_held_again(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    mended = write_seed(1, prd_entries=[task(1, title="Add one")])
    script = by_role(seeder=[write_seed(1), mended], evaluator=[review("The test wants more.")])
    with MessagesServer(script) as server:
        first = sit_at(server, site, options=without_review(review=True))
        heard = [event["seq"] for event in first.events if event["type"] == "model_call"][1]
        cut_back(first, lambda event: event["seq"] <= heard)
        again = go_on_at(server, site, Person(), review=True)
    # The script's last answer was given in the first sitting, so the second one ends here.
    assert again.code == 5
    assert len(again.asked("evaluator")) == 1
    assert "The test wants more." in again.results[0]


def test_a_failed_interview_can_be_removed(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sitting = sit(site, [say("Well.")] * 4)
    name = sitting.session.name
    assert sitting.checkpoint["status"] == "failed"
    assert reset(name, yes=True, dry_run=False, everything=False, environ=site.environ("")) == 0
    assert list(site.sessions.iterdir()) == []
