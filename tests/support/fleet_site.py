"""A site for fleets: one repository, a small PRD for each unit, and one endpoint for all of them.

The worker and the evaluator keep no count: they look at the conversation they are sent, so that a
unit that was killed and resumed any number of times ends like an undisturbed one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.flow_site import Site, accept, git, read_lines, submit, task, write
from support.light_gate import LIGHT
from support.messages_api import MessagesServer, Reply, Request, say

WORK = "def add{n}(x):\n    return x + {n}\n"


def number_of(request: Request) -> int | None:
    """Give the unit whose worker asks; None for everybody else."""
    if request.role != "worker":
        return None
    opening = request.body["messages"][0]["content"][0]["text"]
    return int(opening.split("# Your task: T-")[1][:3])


def answer(request: Request) -> Reply:
    """Do a unit's one task in two steps, and accept it."""
    if request.role == "ping":
        return say("pong")
    number = number_of(request)
    if number is None:
        return accept(score=90)
    done = sum(message["role"] == "user" for message in request.body["messages"][1:])
    return submit(number) if done else write(f"feature{number}.py", WORK.format(n=number))


@dataclass
class FleetSite:
    """Hold the repository, the units and where their sessions are kept."""

    root: Path
    count: int
    script: Callable[[Request], Reply] = answer
    site: Site = field(init=False)
    server: MessagesServer = field(init=False)

    def __post_init__(self) -> None:
        self.site = Site.make(self.root, {"pyproject.toml": LIGHT})
        self.server = MessagesServer(self.script)
        tables = [self._unit(number) for number in range(1, self.count + 1)]
        self.units.write_text("\n".join(tables), encoding="utf-8")

    def _unit(self, number: int) -> str:
        bundle = self.root / "plans" / str(number)
        bundle.mkdir(parents=True)
        (bundle / "prd.json").write_text(json.dumps([task(number)]), encoding="utf-8")
        return f'[[unit]]\nname = "unit-{number}"\nbundle = "plans/{number}"\nrepo = "repo"\n'

    @property
    def units(self) -> Path:
        return self.root / "units.toml"

    @property
    def sessions(self) -> Path:
        return self.site.sessions

    def environ(self, **settings: str) -> dict[str, str]:
        return self.site.environ(self.server.url, **settings)

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-P", "-m", "tilth", "fleet", str(self.units), *options]

    def run(
        self, *options: str, patience_s: float = 200, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        return subprocess.run(
            self.command(*options),
            env=self.environ(**settings),
            capture_output=True,
            text=True,
            check=False,
            timeout=patience_s,
        )

    def register(self) -> Mapping[str, dict[str, Any]]:
        path = self.sessions / "fleet.json"
        return json.loads(path.read_text("utf-8"))["units"] if path.exists() else {}

    def session(self, number: int) -> Path:
        return self.sessions / self.register()[f"unit-{number}"]["session"]

    def holder(self, number: int) -> int | None:
        """Give the process that works on a unit, by the lock it holds."""
        with suppress(KeyError, OSError, ValueError):
            return int((self.session(number) / "lock").read_text().split()[0])
        return None

    def check_done(self, number: int) -> None:
        """Hold a unit against what it must be in the end: one session, one commit, one record."""
        session = self.session(number)
        events = read_lines(session / "events.jsonl")
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        done = [event for event in events if event["type"] == "task_done"]
        assert len(done) == 1
        branch = f"session/{session.name}"
        subjects = git(self.site.repo, "log", "--format=%s", f"main..{branch}").splitlines()
        assert subjects == [f"T-{number:03d}: Add feature {number}"]
        text = git(self.site.repo, "show", f"{branch}:feature{number}.py")
        assert text + "\n" == WORK.format(n=number)

    def check_all(self) -> None:
        """Hold every unit against it, and see that there is no session but theirs."""
        for number in range(1, self.count + 1):
            self.check_done(number)
        made = {path.name for path in self.sessions.iterdir() if path.name[:2] == "20"}
        assert made == {entry["session"] for entry in self.register().values()}


def parent_of(pid: int) -> int:
    """Give the parent of a process."""
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    return int(stat.rpartition(")")[2].split()[1])


def is_alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (OSError, ProcessLookupError):
        return False
