"""A stage for replays: one endpoint for a run and its resumes, and what a replay says of them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from support.commands import resume, start
from support.flow_site import Run, Site, git, read_lines
from support.messages_api import Answer, MessagesServer, Reply, Request, error
from support.warm_start import with_warm_gate
from tilth.base.clock import SystemClock
from tilth.base.values import canonical
from tilth.config.secrets import Mask
from tilth.config.settings import load
from tilth.replay.play import Played, play_again
from tilth.replay.recording import Recording
from tilth.replay.run import replay
from tilth.session.session import Session

Script = Iterable[Reply]


class Stage:
    """Run and resume one site's session against scripts; the endpoint's address stays."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.answered: list[Request] = []
        self.server = MessagesServer(self._answer)
        self._play: dict[str, list[Reply]] = {}

    def _answer(self, request: Request) -> Reply:
        script = self._play.get(request.role)
        reply = script.pop(0) if script else error(400, "the script is at its end")
        if isinstance(reply, Answer):
            self.answered.append(request)
        return reply

    def run(
        self, target: Path, *, worker: Script = (), evaluator: Script = (), **settings: str
    ) -> Run:
        self.site.settings.update(settings)
        body = lambda env: start(target, self.site.repo, {}, new=True, environ=env)  # noqa: E731
        return self._go(body, worker, evaluator)

    def resume(
        self,
        *,
        worker: Script = (),
        evaluator: Script = (),
        fresh: bool = False,
        **settings: str,
    ) -> Run:
        self.site.settings.update(settings)
        body = lambda env: resume(None, {}, fresh=fresh, environ=env)  # noqa: E731
        return self._go(body, worker, evaluator)

    def _go(self, body: Callable[[dict[str, str]], int], worker: Script, evaluator: Script) -> Run:
        self._play = {"worker": list(worker), "evaluator": list(evaluator)}
        code = body(self.site.environ(self.server.url))
        left = {role: len(script) for role, script in self._play.items() if script}
        assert not left, f"answers nobody asked for: {left}"
        return Run(self.site, code, tuple(self.server.requests))


def hash_of(request: Request) -> str:
    """Hash what came over the wire, in canonical form."""
    body = {key: value for key, value in request.body.items() if key != "stream"}
    return hashlib.sha256(canonical(body).encode("utf-8", "surrogatepass")).hexdigest()


def say_of(site: Site, *, verify_only: bool = True, **settings: str) -> tuple[int, str]:
    """Replay a site's latest session by the command and give its exit code and its words."""
    environ = {"TILTH_HOME": str(site.root / "home"), **settings}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = replay("latest", verify_only=verify_only, environ=environ)
    return code, out.getvalue()


def play(site: Site, accused: frozenset[int] = frozenset()) -> Played:
    """Play a site's latest session again, unconfined, so that it needs no sandbox."""
    environ = {"TILTH_HOME": str(site.root / "home"), "TILTH_SANDBOX": "off"}
    settings = load({}, with_warm_gate(environ))
    session = Session.look(
        settings.sessions_dir, site.session().name, clock=SystemClock(), mask=Mask()
    )
    with contextlib.redirect_stderr(io.StringIO()):
        return play_again(session, Recording(session.log_path), settings, accused)


def standings(played: Played) -> dict[str, str]:
    return {task.task_id: str(task.match) for task in played.tasks}


def rewrite(site: Site, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the lines of a log as nobody should."""
    log = site.session() / "events.jsonl"
    lines = read_lines(log)
    for line in lines:
        change(line)
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    log.write_text(text, encoding="utf-8")


def copy(site: Site, root: Path) -> Site:
    """Give a copy of a site's sessions, to be spoiled; the repository stays the same one."""
    shutil.copytree(site.root / "home", root / "home", symlinks=True)
    return Site(root)


def seqs(site: Site, kind: str) -> list[int]:
    """Give the numbers of all events of one kind."""
    return [
        line["seq"] for line in read_lines(site.session() / "events.jsonl") if line["type"] == kind
    ]


def belongings(site: Site) -> dict[str, Any]:
    """Give everything a replay must leave as it was: the repository and the session."""
    files = [path for path in (site.root / "home").rglob("*") if path.is_file()]
    files += [path for path in (site.repo / ".git").rglob("*") if path.is_file()]
    return {
        "refs": git(site.repo, "for-each-ref"),
        "files": {str(path): path.read_bytes() for path in files},
    }
