"""A stage for lanes: a worker and an evaluator that answer by what they are shown, never by when.

Each task has its steps. Which one comes next is told by the conversation alone, so that any number
of tasks can be worked on at the same time, in any order, and a killed run ends like a calm one.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.commands import resume, start
from support.flow_site import Run, Site, accept, git, task
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request
from tilth.base.clock import Clock

INTERRUPTED = "This call was interrupted"
Judge = Callable[[int, str], Reply]


def judge_all_well(number: int, message: str) -> Reply:
    return accept(score=90)


@dataclass
class Script:
    """Answer by what is shown; `before` is called with task and role before every answer."""

    steps: Mapping[int, Sequence[Answer]]
    judge: Judge = judge_all_well
    before: Callable[[int, str], None] = lambda number, role: None
    asked: list[tuple[int, str]] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        messages = request.body["messages"]
        opening = messages[0]["content"][0]["text"]
        number = task_number(opening)
        self.before(number, request.role)
        self.asked.append((number, request.role))
        if request.role == "evaluator":
            return self.judge(number, opening)
        steps = self.steps[number]
        return steps[min(taken(messages), len(steps) - 1)]


def task_number(opening: str) -> int:
    """Tell which task a conversation is about."""
    found = re.search(r"# Your task: T-(\d+)|\bT-(\d+)\b", opening)
    assert found is not None, opening[:300]
    return int(found.group(1) or found.group(2))


def taken(messages: list[dict[str, Any]]) -> int:
    """Count the steps whose results came back; an interrupted one is taken again."""
    return sum(
        message["role"] == "user" and INTERRUPTED not in json.dumps(message)
        for message in messages[1:]
    )


class LaneStage:
    """One repository, one endpoint and a plan whose tasks can be worked on at the same time."""

    def __init__(
        self,
        root: Path,
        script: Script,
        tasks: Sequence[dict[str, Any]],
        files: Mapping[str, str] | None = None,
        tests: Mapping[str, str] | None = None,
        **settings: str,
    ) -> None:
        self.script = script
        self._server: MessagesServer | None = None
        self.site = Site.make(root, files or {"pyproject.toml": LIGHT})
        self.site.settings.update(settings)
        self.target = self.site.bundle(tasks=list(tasks))
        for name, text in (tests or {}).items():
            (self.target / "tests" / name).write_text(text, encoding="utf-8")

    @contextmanager
    def served(self) -> Iterator[MessagesServer]:
        """Keep one endpoint for a run and its resumes; within another, it is that one."""
        if self._server is not None:
            yield self._server
            return
        with MessagesServer(lambda request: self.script(request), at_once=True) as server:
            self._server = server
            try:
                yield server
            finally:
                self._server = None

    def run(self, jobs: int, *, clock: Clock | None = None, **settings: str) -> Run:
        """Run the plan to its end with so many jobs."""
        with self.served() as server:
            how = {"environ": self.site.environ(server.url, TILTH_JOBS=str(jobs), **settings)}
            code = start(self.target, self.site.repo, {}, new=True, clock=clock, **how)
        return Run(self.site, code, tuple(server.requests))

    def resume(
        self, jobs: int, *, fresh: bool = False, clock: Clock | None = None, **settings: str
    ) -> Run:
        """Resume the latest session with so many jobs."""
        name = self.site.session().name
        with self.served() as server:
            environ = self.site.environ(server.url, TILTH_JOBS=str(jobs), **settings)
            code = resume(name, {}, fresh=fresh, environ=environ, clock=clock)
        return Run(self.site, code, tuple(server.requests))

    def status(self, task_id: str) -> str:
        """Say how a task of the latest session stands."""
        plan = json.loads((self.site.session() / "prd.json").read_text("utf-8"))
        return next(task["status"] for task in plan["tasks"] if task["id"] == task_id)


def landed(run: Run) -> list[tuple[str, str]]:
    """Give every commit of a session's branch: its tree, and its message but for the session."""
    log = git(run.site.repo, "log", "--reverse", "--format=%T%x00%B%x01", f"main..{run.branch}")
    commits = [entry.strip().split("\0") for entry in log.split("\x01") if entry.strip()]
    return [(tree, message.replace(run.session.name, "SESSION")) for tree, message in commits]


def plain_tasks(*numbers: int, **depends: list[str]) -> list[dict[str, Any]]:
    """Give tasks; `T2=["T-001"]` has the second depend on the first."""
    return [task(n, depends_on=depends.get(f"T{n}", [])) for n in numbers]


class Meeting:
    """Have several wait for each other, so that they are under way at the same time."""

    def __init__(self, *names: object) -> None:
        self._barrier = threading.Barrier(len(names))
        self._names = set(names)

    def come(self, name: object) -> None:
        """Wait for the others, once; a test that waits for nobody ends by itself."""
        if name in self._names:
            self._names.discard(name)
            self._barrier.wait(timeout=120)
