"""A stage for crashes: one endpoint that always answers by what it is shown, and runs that die.

The worker and evaluator here keep no count of their own. They look at the conversation they are
sent, so that a run that was killed and resumed any number of times ends like an undisturbed one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anthropic  # before any fork: a child need not import it again
import genai_prices

from support.commands import resume, start
from support.flow_site import Site, accept, git, read_lines, reject, submit, write
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request, call
from tilth.base import failpoint
from tilth.base.errors import TilthError

PRELOADED = (anthropic, genai_prices)
INTERRUPTED = "This call was interrupted"
FIRST = "def add{n}(x):\n    return x + {n}\n"
MENDED = '"""Adds {n}."""\n\n\n' + FIRST


def steps(number: int) -> list[Answer]:
    """What the worker does on a task, one answer after another."""
    return [
        call("bash", command=f"echo look {number} >> seen.txt; ls"),
        write(f"feature{number}.py", FIRST.format(n=number)) + call("bash", command="cat seen.txt"),
        submit(number),
        write(f"feature{number}.py", MENDED.format(n=number)),
        submit(number),
    ]


def answer(request: Request) -> Reply:
    """Answer by what is shown."""
    messages = request.body["messages"]
    opening = messages[0]["content"][0]["text"]
    if request.role == "evaluator":
        return accept(score=90) if '"""Adds' in opening else reject(score=40)
    number = int(opening.split("# Your task: T-")[1][:3])
    plan = steps(number)
    return plan[min(_taken(messages), len(plan) - 1)]


def _taken(messages: list[dict[str, Any]]) -> int:
    """Count the steps whose results came back whole; an interrupted one is taken again."""
    taken = 0
    for message in messages[1:]:
        if message["role"] == "user" and INTERRUPTED not in json.dumps(message):
            taken += 1
    return taken


class Stage:
    """One repository, one endpoint, and as many processes as it takes."""

    def __init__(
        self,
        root: Path,
        tasks: int = 2,
        script: Callable[[Request], Reply] = answer,
        files: Mapping[str, str] | None = None,
        **settings: str,
    ) -> None:
        given = files or {"pyproject.toml": LIGHT, ".gitignore": "seen.txt\n"}
        self.site = Site.make(root, given)
        self.site.settings.update(settings)
        self.numbers = tuple(range(1, tasks + 1))
        self.target = self.site.bundle(*self.numbers)
        self.server = MessagesServer(script)

    def running(self) -> Callable[[], int]:
        """Give the body of a first start."""
        environ = self.site.environ(self.server.url)
        return lambda: start(self.target, self.site.repo, {}, new=True, environ=environ)

    def has_session(self) -> bool:
        return bool(self._sessions())

    def begin(
        self, hook: Callable[[str], None] | None = None, *, life_s: float | None = None
    ) -> int:
        """Run in a process of its own; gives its exit code, or minus the signal that ended it."""
        return _apart(self.running(), hook, life_s)

    def go_on(
        self, hook: Callable[[str], None] | None = None, *, life_s: float | None = None
    ) -> int:
        """Resume in a process of its own; a session that never appeared is begun."""
        if not self._sessions():
            return self.begin(hook, life_s=life_s)
        environ = self.site.environ(self.server.url)
        name = self.site.session().name
        return _apart(lambda: resume(name, {}, fresh=False, environ=environ), hook, life_s)

    def _sessions(self) -> list[Path]:
        if not self.site.sessions.exists():
            return []
        return [path for path in self.site.sessions.iterdir() if path.name[0] != "."]

    @property
    def log(self) -> Path:
        return self.site.session() / "events.jsonl"

    def tree(self) -> str:
        """Give the tree the session's branch ends in."""
        return git(self.site.repo, "rev-parse", f"session/{self.site.session().name}^{{tree}}")

    def subjects(self) -> list[str]:
        branch = f"session/{self.site.session().name}"
        return git(self.site.repo, "log", "--format=%s", f"main..{branch}").splitlines()

    def acknowledged(self) -> list[bytes]:
        """Give the whole lines of the log as they stand."""
        if not self._sessions() or not self.log.exists():
            return []
        return [
            line for line in self.log.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"
        ]

    def check(self, tree: str | None = None) -> None:
        """Hold the session against what every session must be in the end."""
        # A torn last line is tolerated until something is appended.
        events = [json.loads(line) for line in self.acknowledged()]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        wanted = [f"T-{n:03d}: Add feature {n}" for n in reversed(self.numbers)]
        assert [subject for subject in self.subjects() if subject.startswith("T-")] == wanted
        assert not [subject for subject in self.subjects() if subject.startswith("FAILED")]
        plan = json.loads((self.site.session() / "prd.json").read_text(encoding="utf-8"))
        assert {entry["status"] for entry in plan["tasks"]} == {"done"}
        for number in self.numbers:
            self._check_task(number, events)
        if tree is not None:
            assert self.tree() == tree

    def _check_task(self, number: int, events: list[dict[str, Any]]) -> None:
        mine = [event for event in events if event["task_id"] == f"T-{number:03d}"]
        assert sum(event["type"] == "task_done" for event in mine) == 1
        ledger = read_lines(self.site.session() / "ledger" / f"T-{number:03d}.jsonl")
        ruled = [event["payload"] for event in mine if event["type"] == "evaluator_verdict"]
        assert [entry["concern"] for entry in ledger] == [entry["concern"] for entry in ruled]
        assert ledger[-1]["verdict"] == "accept"
        progress = (self.site.session() / "progress.txt").read_text(encoding="utf-8")
        assert progress.count(f"T-{number:03d} done") == 1


def _apart(
    body: Callable[[], int], hook: Callable[[str], None] | None, life_s: float | None
) -> int:
    """Run a body in a forked process, killed with all its children when its life is over.

    A fork, because what is imported already need not be imported again.
    """
    pid = fork(body, hook)
    if life_s is not None:
        _kill_after(pid, life_s)
    return reap(pid)


def fork(body: Callable[[], int], hook: Callable[[str], None] | None = None) -> int:
    """Start a body in a process of its own and give its pid."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            os.setsid()
            if hook is not None:
                failpoint.arm(hook)
            with (
                open(os.devnull, "w", encoding="utf-8") as nowhere,
                contextlib.redirect_stderr(nowhere),
            ):
                code = int(body())
        except TilthError as error:
            os.write(2, f"{error}\n".encode())
            code = 2
        finally:
            # Whatever happened, the test that was forked must not go on in here.
            if code == 99:
                os.write(2, traceback.format_exc().encode())
            os._exit(code)
    return pid


def reap(pid: int) -> int:
    """Wait for a process; gives its exit code, or minus the signal that ended it."""
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _kill_after(pid: int, life_s: float) -> None:
    deadline = time.monotonic() + life_s
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def die_at(name: str, nth: int) -> Callable[[str], None]:
    """Make a hook that kills its process at the nth arrival at a place."""
    left = [nth]

    def hook(reached: str) -> None:
        if reached == name:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


def die_after(
    log: Callable[[], Path], kind_of: Callable[[dict[str, Any]], str], kind: str, nth: int
) -> Callable[[str], None]:
    """Make a hook that kills its process once the nth event of a kind stands in the log."""

    def hook(reached: str) -> None:
        if reached != "after appending to events.jsonl":
            return
        kinds = [kind_of(event) for event in read_lines(log())]
        if kinds[-1] == kind and kinds.count(kind) == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def record_places(path: Path) -> Callable[[str], None]:
    """Make a hook that writes down every place that is reached."""

    def hook(reached: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(reached + "\n")

    return hook
