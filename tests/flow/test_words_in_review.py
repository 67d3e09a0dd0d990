"""A person accepts what is under review: it lands, and the review is dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, git, reject, solve, submit, task
from support.light_gate import light_site
from support.messages_api import error
from support.replays import play, say_of, standings
from support.words import Endpoint, command, during, played, words_in


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return light_site(tmp_path)


@pytest.fixture
def endpoint(site: Site) -> Any:
    one = Endpoint(site)
    with one.server:
        yield one


def proven(site: Site) -> None:
    code, text = say_of(site)
    assert code == 0, text
    assert set(standings(play(site)).values()) == {"equal"}


def landed_for_a_person(run: Run) -> None:
    commit = run.tasks["T-001"]["commit"]
    trailers = git(run.site.repo, "log", "-1", "--format=%(trailers)", commit)
    assert "Tilth-Verdict: person" in trailers
    mine = [event for event in run.events if event["task_id"] == "T-001"]
    (done,) = (event["payload"] for event in mine if event["type"] == "task_done")
    assert done["verdict"] == "person"
    assert not words_in(run.session)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_accept_during_the_review_lands_the_tree_and_drops_the_review(
    site: Site, endpoint: Endpoint, jobs: str
) -> None:
    def accept_it() -> None:
        done = command(site, "accept", "latest", "T-001", "--note", "It is what I want.")
        assert done.returncode == 0, done.stderr

    endpoint.script = played(
        worker=[solve(1), submit(1), solve(2), submit(2)],
        evaluator=[during(reject(score=30), accept_it), accept()],
    )
    plan = [task(1), task(2, depends_on=["T-001"])]
    run = endpoint.run(site.bundle(1, 2, tasks=plan), TILTH_JOBS=jobs)
    assert run.code == 0
    assert run.ledger(1) == []
    assert run.subjects[-2:] == ["T-001: Add feature 1", "T-002: Add feature 2"]
    assert run.tasks["T-001"]["rescue_count"] == 0
    (word,) = run.of("operator_word")
    assert (word["verb"], word["refused"]) == ("accept", None)
    landed_for_a_person(run)
    proven(site)


def under_review_at_rest(site: Site, endpoint: Endpoint, **settings: str) -> Run:
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[error(400, "no")])
    run = endpoint.run(site.bundle(1, 2), **settings)
    assert run.code == 5
    assert run.tasks["T-001"]["status"] == "pending_eval"
    return run


def test_an_accept_of_what_rests_under_review_lands_at_once(site: Site, endpoint: Endpoint) -> None:
    run = under_review_at_rest(site, endpoint)
    done = command(site, "accept", "latest", "T-001")
    assert done.returncode == 0, done.stderr
    assert run.tasks["T-001"]["status"] == "done"
    assert run.subjects[-1] == "T-001: Add feature 1"
    assert [each["phase"] for each in run.of("validator_run")].count("case") == 1
    endpoint.script = played(worker=[solve(2), submit(2)], evaluator=[accept()])
    again = endpoint.resume()
    assert again.code == 0
    landed_for_a_person(again)
    proven(site)


def test_with_several_jobs_an_accept_waits_for_the_others_and_lands_in_its_turn(
    site: Site, endpoint: Endpoint
) -> None:
    run = under_review_at_rest(site, endpoint)
    endpoint.script = played(worker=[], evaluator=[])
    # From here on it is worked on by two; the other task is under way when it is accepted.
    assert endpoint.resume(TILTH_JOBS="2").code == 5
    assert run.tasks["T-002"]["status"] == "in_progress"
    done = command(site, "accept", "latest", "T-001")
    assert done.returncode == 0, done.stderr
    assert "it lands as soon as" in done.stderr
    assert run.tasks["T-001"]["status"] == "pending_eval"
    endpoint.script = played(worker=[solve(2), submit(2)], evaluator=[accept()])
    again = endpoint.resume(TILTH_JOBS="2")
    assert again.code == 0
    assert again.subjects[-2:] == ["T-001: Add feature 1", "T-002: Add feature 2"]
    landed_for_a_person(again)
    proven(site)


def test_what_is_in_progress_is_not_accepted(site: Site, endpoint: Endpoint) -> None:
    endpoint.script = played(worker=[solve(1)])
    run = endpoint.run(site.bundle(1))
    before = (run.session / "events.jsonl").read_bytes()
    done = command(site, "accept", "latest", "T-001")
    assert done.returncode == 2
    assert "only a task that is done, failed or under review can be accepted" in done.stderr
    assert (run.session / "events.jsonl").read_bytes() == before
