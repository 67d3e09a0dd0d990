"""A long session, and every one of its requests built again from its log alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, block, reject, solve, submit, write
from support.light_gate import light_site
from support.messages_api import call, error, say, think
from support.replays import Stage, copy, hash_of, play, rewrite, say_of, seqs, standings

from tilth.base.values import canonical
from tilth.log.conversations import Conversations
from tilth.log.events import ModelCall
from tilth.log.reader import read_events

LOOK = call("bash", command="seq 1 400")
LIST = call("bash", command="seq 2 400")
TOO_LONG = error(400, "prompt is too long: 210000 tokens > 200000", "invalid_request_error")
BUSY = error(529, "overloaded", "overloaded_error", retry_after="0")
WRONG = write("feature1.py", "def add1(x):\n    return 1\n")


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, Run]]:
    """Run a session with everything that can go into a request, over three starts."""
    stage = Stage(Site.make(tmp_path_factory.mktemp("long")))
    with stage.server:
        stage.run(
            stage.site.bundle(1, 2),
            worker=[
                BUSY,
                think("Where am I?") + LOOK + call("read_file", path="README.md"),
                say("Hm.  \ud83d\ude00"),
                call("bash", command="sudo rm -rf /"),
                (say("I write") + WRONG).but(stop_reason="max_tokens"),
                WRONG + call("submit_case", summary="Done"),
                submit(1),
            ],
        )
        stage.resume(
            worker=[
                block("The test is wrong.", evidence="it fails"),
                solve(1) + submit(1),
                *[call("bash", command=f"seq {n} 400") for n in range(8)],
                TOO_LONG,
                submit(1) + submit(1),
                LOOK,
            ],
            evaluator=[
                say("I cannot say."),
                BUSY,
                call("submit_verdict", verdict="ACCEPT"),
                reject(),
                say("Who knows."),
                reject("weak_test"),
            ],
        )
        run = stage.resume(worker=[submit(1), solve(2) + submit(2)], evaluator=[accept(), accept()])
        yield stage, run


def test_the_session_holds_what_it_should(long: tuple[Stage, Run]) -> None:
    _, run = long
    assert run.code == 0
    seen = set(run.types)
    wanted = "model_retry nudge pre_tool_block case_parse_error evaluator_parse_error"
    assert seen.issuperset(f"{wanted} context_trimmed blocker_raised session_resume".split())


def test_every_request_is_what_went_over_the_wire(long: tuple[Stage, Run]) -> None:
    stage, run = long
    sent = [hash_of(request) for request in stage.answered]
    assert [call["request_sha256"] for call in run.of("model_call")] == sent


def test_every_request_can_be_built_again_byte_for_byte(long: tuple[Stage, Run]) -> None:
    stage, run = long
    conversations, rebuilt = Conversations(), []
    for event in read_events(run.session / "events.jsonl"):
        thread = conversations.send(event)
        if isinstance(event.payload, ModelCall) and thread is not None:
            rebuilt.append(canonical(thread.conversation.request()))
            thread.hear(event.payload)
    bodies = [
        {k: v for k, v in request.body.items() if k != "stream"} for request in stage.answered
    ]
    assert rebuilt == [canonical(body) for body in bodies]


def test_a_replay_says_that_all_are_identical(long: tuple[Stage, Run]) -> None:
    stage, _ = long
    code, said = say_of(stage.site)
    count = len(stage.answered)
    assert code == 0
    assert f"{count}/{count} requests identical" in said


def test_played_again_each_task_ends_in_its_recorded_tree(long: tuple[Stage, Run]) -> None:
    stage, _ = long
    assert standings(play(stage.site)) == {"T-001": "equal", "T-002": "equal"}


def test_the_log_grows_with_the_work_and_not_with_its_square(tmp_path: Path) -> None:
    site = light_site(tmp_path)
    run = site.run(site.bundle(1), worker=[LOOK, LIST] * 12, TILTH_MAX_ITERATIONS_PER_TASK="24")
    sizes = [0]
    for event in run.events:
        if event["type"] == "model_call":
            sizes.append(0)
        sizes[-1] += len(json.dumps(event))
    turns = sizes[1:-1]
    assert len(turns) == 23
    assert sum(turns[12:]) < 1.1 * sum(turns[:12])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = light_site(tmp_path_factory.mktemp("small"))
    looks = call("bash", command="echo one") + call("bash", command="echo two")
    run = site.run(
        site.bundle(1),
        worker=[looks, solve(1) + submit(1), submit(1)],
        evaluator=[reject(), accept()],
    )
    assert run.code == 0
    return site


def change(kind: str, place: str, old: str, new: str) -> Any:
    """Give a change of one text in events of one kind."""

    def body(line: dict[str, Any]) -> None:
        if line["type"] == kind:
            text = json.dumps(line["payload"][place])
            line["payload"][place] = json.loads(text.replace(old, new, 1))

    return body


A_CHARACTER = change("tool_result", "content", "two\\n", "twO\\n")


def test_one_changed_character_of_a_result_is_found_and_named(small: Site, tmp_path: Path) -> None:
    site = copy(small, tmp_path)
    rewrite(site, A_CHARACTER)
    code, said = say_of(site)
    first, second = seqs(site, "tool_result")[:2]
    request = seqs(site, "model_call")[1]
    assert code == 1
    assert "3/5 requests identical" in said
    assert f"first difference: request 2 (worker, T-001, iteration 2, event {request})" in said
    assert f"event {second} tool_result (the result of bash): changed" in said
    assert "| twO" in said
    assert f"event {first}" not in said


def test_a_changed_result_is_shown_beside_what_the_tool_gives_now(
    small: Site, tmp_path: Path
) -> None:
    site = copy(small, tmp_path)
    rewrite(site, A_CHARACTER)
    changed = seqs(site, "tool_result")[1]
    played = play(site, frozenset({changed}))
    assert standings(played) == {"T-001": "equal"}
    [told] = played.changes
    assert told.seq == changed
    assert {"-twO", "+two"} <= set(told.lines)


def test_a_result_that_no_request_carried_is_checked_by_its_own_hash(tmp_path: Path) -> None:
    site = light_site(tmp_path)
    site.run(site.bundle(1), worker=[call("bash", command="echo one")])
    rewrite(site, change("tool_result", "content", "one", "two"))
    code, said = say_of(site)
    assert code == 1
    assert "first difference: an event" in said
    assert f"event {seqs(site, 'tool_result')[0]} tool_result" in said


@pytest.mark.parametrize(
    ("kind", "place", "old", "new"),
    [
        ("model_call", "content", "echo one", "echo two"),
        ("prompt_assembled", "messages", "T-001", "T-007"),
        ("prompt_assembled", "head", "16000", "16001"),
    ],
)
def test_a_change_elsewhere_is_laid_to_what_was_sent_since(
    small: Site, tmp_path: Path, kind: str, place: str, old: str, new: str
) -> None:
    site = copy(small, tmp_path)
    rewrite(site, change(kind, place, old, new))
    code, said = say_of(site)
    assert code == 1
    assert f"event {seqs(site, kind)[0]} {kind}" in said


def test_without_hashes_of_their_own_all_results_since_are_suspects(
    small: Site, tmp_path: Path
) -> None:
    site = copy(small, tmp_path)
    rewrite(site, A_CHARACTER)
    rewrite(site, lambda line: line["payload"].pop("sha256", None))
    _, said = say_of(site)
    assert "it was identical up to the request before; since then it was given:" in said
    given = [seqs(site, "model_call")[0], *seqs(site, "tool_result")[:2]]
    assert all(f"event {seq} " in said for seq in given)
