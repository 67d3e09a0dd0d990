"""Plans made by a seeded generator, with models that answer by what they are shown.

A task writes a file of its own and, if it is a meddler, its own word into a file that others change
too. It may break the gate once, be rejected once, or fail for good. Everything a model says follows
from its conversation alone, so whatever the timing, the same plan has the same answers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from support.flow_site import KEY, Site, git, task
from support.lane_stage import INTERRUPTED, task_number
from tilth.base.clock import SystemClock
from tilth.config.secrets import Mask
from tilth.config.settings import load
from tilth.contract.outcomes import StopReason
from tilth.git.source import open_source
from tilth.log.state import SessionState, fold
from tilth.model.messages import Conversation, OnRetry, Role, Turn, Usage
from tilth.session.bundle import read_bundle
from tilth.session.frontend import Frontend
from tilth.session.models import Models
from tilth.session.parts import Parts, open_parts, read_facts
from tilth.session.run import run_session
from tilth.session.session import Session
from tilth.session.start import create
from tilth.task.ending import Ending

# The gate is one quick command: a tree in which `BROKEN` stands anywhere is red, and so is one in
# which two that must not meet have both written.
PROJECT = """
[tool.tilth]
defaults = false

[tool.tilth.validators.sound]
command = "./sound"
"""
SOUND = """#!/bin/sh
! grep -rqs BROKEN part*.txt shared.txt || exit 1
test "$(cat meets*.txt 2>/dev/null | wc -l)" -le 1 || test -e settled.txt
"""
SHARED = "".join(f"line {number}\n" for number in range(1, 31))


@dataclass(frozen=True)
class Ways:
    """Say how one task goes about its work."""

    number: int
    depends_on: tuple[int, ...] = ()
    line: int | None = None
    meets: bool = False
    breaks: bool = False
    rejected: bool = False
    fails: bool = False


@dataclass(frozen=True)
class MadePlan:
    """Hold a plan, how its tasks go about it, and what happens to one that fails."""

    seed: int
    tasks: tuple[Ways, ...]
    on_exhausted: str

    @property
    def halts(self) -> bool:
        """Tell whether a failure stops the run."""
        declares = any(ways.depends_on for ways in self.tasks)
        return self.on_exhausted != "skip" and not (self.on_exhausted == "auto" and declares)

    def prd(self) -> list[dict[str, Any]]:
        return [
            task(ways.number, depends_on=[f"T-{each:03d}" for each in ways.depends_on])
            for ways in self.tasks
        ]


def make_plan(seed: int, most: int = 12) -> MadePlan:
    """Make the plan of a seed; the same one every time."""
    chance = random.Random(seed)
    numbers = list(range(1, chance.randint(3, most) + 1))
    # In file order a task may depend on a later one: the graph follows an order of its own.
    order = numbers[:]
    chance.shuffle(order)
    tasks = {}
    for place, number in enumerate(order):
        earlier = order[:place]
        wanted = chance.sample(earlier, min(len(earlier), chance.choice((0, 0, 1, 1, 2))))
        tasks[number] = Ways(
            number,
            tuple(sorted(wanted)),
            line=chance.randint(1, 8) if chance.random() < 0.5 else None,
            meets=chance.random() < 0.15,
            breaks=chance.random() < 0.2,
            rejected=chance.random() < 0.25,
            fails=chance.random() < 0.1,
        )
    policy = chance.choice(("auto", "skip", "halt", "accept"))
    return MadePlan(seed, tuple(tasks[number] for number in numbers), policy)


class PlanModel:
    """Be worker or evaluator of a made plan; `before` is called before every answer."""

    endpoint = "scripted"
    name = "scripted-model"

    def __init__(self, plan: MadePlan, role: Role, before: Callable[[int, Role], None]) -> None:
        self._ways = {ways.number: ways for ways in plan.tasks}
        self._role = role
        self._before = before

    def respond(self, conversation: Conversation, on_retry: OnRetry) -> Turn:
        messages = conversation.messages
        opening = messages[0]["content"][0]["text"]
        number = task_number(opening)
        self._before(number, self._role)
        ways, serial = self._ways[number], sum(m["role"] == "assistant" for m in messages)
        if self._role is Role.EVALUATOR:
            calls = [_verdict(ways, opening)]
        else:
            calls = _work(ways, [m for m in messages[1:] if m["role"] == "user"])
        blocks = [
            {"type": "tool_use", "id": f"c{number}-{serial}-{at}", "name": name, "input": given}
            for at, (name, given) in enumerate(calls)
        ] or [{"type": "text", "text": "I do not know how to go on."}]
        return Turn(
            content=tuple(blocks),
            stop_reason="tool_use" if calls else "end_turn",
            usage=Usage(input_tokens=1, output_tokens=1),
            model=self.name,
            latency_ms=1,
            cost_usd=0.0,
        )


_Call = tuple[str, dict[str, Any]]


def _verdict(ways: Ways, opening: str) -> _Call:
    mended = f"mended {ways.number}" in opening
    verdict: dict[str, Any] = {"verdict": "accept", "rejection_category": None, "score": 90}
    if ways.rejected and not mended:
        verdict = {
            "verdict": "reject",
            "rejection_category": "half_finished",
            "next_step": "Mend it.",
            "score": 40,
        }
    return "submit_verdict", {**verdict, "concern": "As it is.", "evidence": ["part"]}


def _work(ways: Ways, said: list[dict[str, Any]]) -> list[_Call]:
    """Take the next step, told by the last result; what was interrupted is done again."""
    said = [message for message in said if INTERRUPTED not in json.dumps(message)]
    texts = [json.dumps(block) for message in said for block in message["content"]]
    if not texts:
        return _write(ways, mended=False)
    last = texts[-1]
    if "cannot land" in last:
        return [("bash", {"command": _RESOLVE})]
    if ways.fails:
        return []
    if "FAILED" in last or "Mend it" in last:
        return _write(ways, mended=True)
    return _submit(ways)


# A kill in the middle of `sed` leaves its temporary file behind; whoever goes on clears it away.
_CLEAR = "rm -f sed??????; "
# Both sides of every conflict stay, and what must not meet is settled.
_RESOLVE = (
    f"{_CLEAR}sed -i -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' shared.txt; "
    'test "$(cat meets*.txt 2>/dev/null | wc -l)" -le 1 || echo settled > settled.txt'
)


def _write(ways: Ways, *, mended: bool) -> list[_Call]:
    name, broken = f"part{ways.number}.txt", ways.breaks and not mended
    text = f"part {ways.number}\n"
    text += "BROKEN\n" if broken else ""
    text += f"mended {ways.number}\n" if mended else ""
    calls: list[_Call] = [("write_file", {"path": name, "content": text})]
    if ways.line is not None:
        change = f"s/^line {ways.line}$/line {ways.line} by {ways.number}/"
        edit = f"{_CLEAR}sed -i '{change}' shared.txt"
        calls.append(("bash", {"command": edit}))
    if ways.meets:
        calls.append(("write_file", {"path": f"meets{ways.number}.txt", "content": "here\n"}))
    return calls


def _submit(ways: Ways) -> list[_Call]:
    covered = [{"criterion": "1", "addressed_by": f"part{ways.number}.txt"}]
    return [("submit_case", {"summary": f"Part {ways.number}.", "ac_coverage": covered})]


class PlanSite:
    """One repository on which a made plan is run, any number of times."""

    def __init__(self, root: Path, plan: MadePlan) -> None:
        self.plan = plan
        files = {"pyproject.toml": PROJECT, "shared.txt": SHARED, "sound": SOUND}
        self.site = Site.make(root, files)
        git(self.site.repo, "update-index", "--chmod=+x", "sound")
        who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
        git(self.site.repo, *who, "commit", "--quiet", "--message=sound")
        git(self.site.repo, "checkout", "--quiet", "--", "sound")
        self.target = self.site.bundle(tasks=plan.prd())

    def run(self, jobs: int, before: Callable[[int, Role], None] = lambda n, r: None) -> Outcome:
        """Run the plan in a session of its own."""
        with self._parts(jobs, before) as parts:
            session = create(parts, read_bundle(self.target / "prd.json"))
            ending = run_session(parts, session, SessionState())
        return self.outcome(session.id, ending)

    def go_on(
        self, name: str, jobs: int, before: Callable[[int, Role], None] = lambda n, r: None
    ) -> Outcome:
        """Resume a session of the plan."""
        with self._parts(jobs, before) as parts:
            folder = parts.settings.sessions_dir
            session = Session.open_locked(folder, name, clock=SystemClock(), mask=Mask())
            memory = fold(session.events(), conversations=True)
            resumed = memory.start is not None
            ending = run_session(parts, session, memory, resumed=resumed)
        return self.outcome(name, ending)

    def _parts(
        self, jobs: int, before: Callable[[int, Role], None]
    ) -> AbstractContextManager[Parts]:
        environ = self.site.environ(
            "http://127.0.0.1:1",
            TILTH_JOBS=str(jobs),
            TILTH_ON_EXHAUSTED=self.plan.on_exhausted,
            TILTH_WORKER_MODEL=PlanModel.name,
            TILTH_API_KEY=KEY,
        )
        source = open_source(self.site.repo)
        facts = read_facts(source, source.head)

        def models(parts: Parts) -> AbstractContextManager[Models]:
            worker = PlanModel(self.plan, Role.WORKER, before)
            evaluator = PlanModel(self.plan, Role.EVALUATOR, before)
            return nullcontext(Models(worker, lambda task: evaluator))

        settings = load({}, environ).under(facts)
        opened = open_parts(settings, source, facts, Frontend())
        return _With(opened, models)

    def outcome(self, name: str, ending: Ending | None = None) -> Outcome:
        """Say what a session came to."""
        branch = f"session/{name}"
        log = git(self.site.repo, "log", "--reverse", "--format=%T%x00%B%x01", f"main..{branch}")
        commits = tuple(
            re.sub(r"\d{8}-\d{6}-[0-9a-f]{6}", "SESSION", entry.strip())
            for entry in log.split("\x01")
            if entry.strip()
        )
        directory = self.site.sessions / name
        plan = json.loads((directory / "prd.json").read_text(encoding="utf-8"))
        statuses = {entry["id"]: entry["status"] for entry in plan["tasks"]}
        detail = str(ending.detail) if ending else ""
        faulty = ending is not None and ending.reason is StopReason.ERROR
        return Outcome(name, commits, statuses, detail, self.plan.halts, faulty)


class _With(AbstractContextManager[Parts]):
    def __init__(self, opened: AbstractContextManager[Parts], models: Any) -> None:
        self._opened = opened
        self._models = models

    def __enter__(self) -> Parts:
        return replace(self._opened.__enter__(), open_models=self._models)

    def __exit__(self, *about: Any) -> None:
        self._opened.__exit__(*about)


@dataclass(frozen=True)
class Outcome:
    """Hold what a session came to: every commit's tree and message, and the tasks' ends."""

    name: str
    commits: tuple[str, ...]
    statuses: dict[str, str]
    detail: str
    halts: bool
    # Stopped by an error: it has not come to its end.
    faulty: bool = False

    @property
    def ended(self) -> tuple[str, ...]:
        """Name what is done and what has failed.

        Where a failure halts the run, what had begun behind it is a matter of timing.
        """
        final = ("done",) if self.halts else ("done", "failed")
        return tuple(f"{k} {v}" for k, v in sorted(self.statuses.items()) if v in final)
