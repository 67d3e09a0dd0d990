"""A person speaks while several lanes write: no word and no verdict is recorded twice."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support.flow_site import submit, write
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.messages_api import Answer, call
from support.waiting import wait_for

from tilth.base import failpoint
from tilth.base.clock import SystemClock
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.session.inbox import Inbox


def steps(number: int) -> list[Answer]:
    path = f"part{number}.txt"
    case = submit(number, ac_coverage=[{"criterion": "1", "addressed_by": path}])
    return [write(path, f"part {number}\n"), call("bash", command=f"cat {path}"), case]


def test_a_word_that_comes_between_a_verdict_and_its_ledger_entry_leaves_one_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-002 hears a word while the verdict on T-001 stands in the log and not yet in its ledger."""
    meeting, judged = Meeting(1, 2), threading.Event()
    script = Script({number: steps(number) for number in (1, 2)})
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2))

    def before(number: int, role: str) -> None:
        meeting.come(number)
        if (number, role) == (2, "worker") and script.asked.count((2, "worker")) == 1:
            assert judged.wait(120)

    def between(reached: str) -> None:
        if reached != "before appending to T-001.jsonl" or judged.is_set():
            return
        word = OperatorWord(id="a", verb=Verb.TELL, task="T-002", text="Go.")
        Inbox(stage.site.session()).put(word, SystemClock())
        judged.set()
        # Time for the other lane to hear it; should it be slower, nothing is shown here.
        threading.Event().wait(1)

    script.before = before
    monkeypatch.setattr(failpoint, "_armed", [between])
    run = stage.run(2)
    assert judged.is_set()
    assert run.code == 0
    assert [len(run.ledger(number)) for number in (1, 2)] == [1, 1]
    assert [word["text"] for word in run.of("operator_word")] == ["Go."]


def test_a_stop_in_the_middle_of_a_landing_leaves_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script({number: steps(number) for number in (1, 2)})
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2, T2=["T-001"]))
    said = threading.Event()

    def between(reached: str) -> None:
        if reached == "before moving the branch" and not said.is_set():
            said.set()
            word = OperatorWord(id="stop", verb=Verb.STOP)
            Inbox(stage.site.session()).put(word, SystemClock())

    with stage.served():
        monkeypatch.setattr(failpoint, "_armed", [between])
        run = stage.run(2)
        assert (run.code, run.tasks["T-001"]["status"]) == (130, "done")
        assert [subject.partition(":")[0] for subject in run.subjects] == ["T-001"]
        again = stage.resume(3)
    assert again.code == 0
    assert [subject.partition(":")[0] for subject in again.subjects] == ["T-001", "T-002"]


def test_a_note_to_what_waits_to_land_is_refused_because_nobody_would_read_it(
    tmp_path: Path,
) -> None:
    script = Script({number: steps(number) for number in (1, 2)})
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2))

    def heard() -> bool:
        return '"operator_word"' in (stage.site.session() / "events.jsonl").read_text("utf-8")

    def before(number: int, role: str) -> None:
        if (number, role) == (1, "evaluator"):
            wait_for(lambda: stage.status("T-002") == "accepted", "the second to be accepted")
            word = OperatorWord(id="late", verb=Verb.TELL, task="T-002", text="Mind the zero.")
            Inbox(stage.site.session()).put(word, SystemClock())
            wait_for(heard, "the word to be taken up")

    script.before = before
    run = stage.run(2)
    assert run.code == 0
    (word,) = run.of("operator_word")
    assert "T-002 is accepted and waits to land, so nobody would read it" in word["refused"]
