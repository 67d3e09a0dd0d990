"""A person's verdict between lanes changes what begins and lands next, and a replay knows it."""

from __future__ import annotations

import json
from pathlib import Path

from support.flow_site import accept, reject, submit, write
from support.lane_stage import LaneStage, Script, plain_tasks
from support.messages_api import Answer, Reply, Request, call
from support.replays import play, standings
from support.waiting import wait_for

from tilth.base.clock import SystemClock
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.verdict import Decision
from tilth.session.inbox import Inbox

LOUDER = "Say it louder."


def look(number: int) -> Answer:
    return call("bash", command=f"echo {number}")


def case(number: int) -> Answer:
    covered = [{"criterion": "1", "addressed_by": f"part{number}.txt"}]
    return submit(number, ac_coverage=covered)


def steps(number: int, text: str, looks: int = 0) -> list[Answer]:
    return [write(f"part{number}.txt", text), *map(look, range(looks)), case(number)]


# What others waited for takes longest: played again without pauses, they would be there before it.
STEPS = {1: steps(1, "one\n"), 2: steps(2, "two\n", 6), 3: steps(3, "3\n"), 4: steps(4, "4\n")}
SECOND_ROUND = steps(1, "ONE\n", 6)


class Person(Script):
    """Speak while two wait for it: accept what has failed, and send back what is done."""

    stage: LaneStage

    def __call__(self, request: Request) -> Reply:
        opening = request.body["messages"][0]["content"][0]["text"]
        self.steps = {**STEPS, 1: SECOND_ROUND} if LOUDER in opening else STEPS
        return super().__call__(request)

    def watch(self, number: int, role: str) -> None:
        """Have the first wait for the second, and the third for the first's second round."""
        if (number, role) == (1, "evaluator") and self.status(2) != "done":
            wait_for(lambda: self.status(2) == "failed", "the second to fail")
            self.say(Decision.ACCEPT, "T-002", "It will do.")
            wait_for(lambda: self.status(2) == "done", "the second to land")
        elif (number, role) == (3, "evaluator"):
            wait_for(lambda: self.status(1) == "done", "the first to land")
            self.say(Decision.REJECT, "T-001", LOUDER)
            wait_for(lambda: self.status(1) == "done, round 2", "its second round")

    def say(self, decision: Decision, task: str, text: str) -> None:
        word = OperatorWord(
            id=f"{decision}-{task}", verb=Verb(decision), task=task, text=text, decision=decision
        )
        Inbox(self.stage.site.session()).put(word, SystemClock())

    def status(self, number: int) -> str:
        plan = json.loads((self.stage.site.session() / "prd.json").read_text("utf-8"))
        task = plan["tasks"][number - 1]
        return task["status"] + (f", round {task['round']}" if task["round"] > 1 else "")


def judge(number: int, opening: str) -> Reply:
    return reject() if number == 2 else accept(score=90)


def test_a_verdict_given_between_lanes_is_heard_at_its_place_when_played_again(
    tmp_path: Path,
) -> None:
    person = Person(STEPS, judge)
    tasks = plain_tasks(1, 2, 3, 4, T4=["T-002"])
    person.stage = LaneStage(tmp_path, person, tasks, TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1")
    person.before = person.watch
    run = person.stage.run(3)
    assert run.code == 0
    said = [subject.partition(" Add")[0] for subject in run.subjects]
    assert said == ["T-002:", "T-001:", "T-001:", "T-003:", "T-004:"]
    played = play(run.site)
    assert standings(played) == dict.fromkeys(("T-001", "T-002", "T-003", "T-004"), "equal")
