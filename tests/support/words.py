"""What a person says to a session, by the commands, as from a second terminal."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.commands import resume, start
from support.flow_site import Run, Site
from support.light_gate import LIGHT
from support.messages_api import MessagesServer, Reply, Request, error
from support.warm_start import warm_tilth

UNREACHED = "http://127.0.0.1:1"
Saying = Callable[[], Any]


class Endpoint:
    """One endpoint for a run and its resumes."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.script: Any = None
        self.server = MessagesServer(lambda request: self.script(request))

    def run(self, target: Path, **settings: str) -> Run:
        environ = self.site.environ(self.server.url, **settings)
        code = start(target, self.site.repo, {}, new=True, environ=environ)
        return Run(self.site, code, tuple(self.server.requests))

    def resume(self, **settings: str) -> Run:
        environ = self.site.environ(self.server.url, **settings)
        code = resume(None, {}, fresh=False, environ=environ)
        return Run(self.site, code, tuple(self.server.requests))


class Killed(BaseException):
    """Come in the place of a kill: nothing below catches it."""


@contextmanager
def light_endpoint(root: Path) -> Iterator[Endpoint]:
    """Open an endpoint for a project whose gate asks for next to nothing."""
    one = Endpoint(Site.make(root, {"pyproject.toml": LIGHT}))
    with one.server:
        yield one


def command(site: Site, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run `tilth` as a process of its own."""
    done = subprocess.run(
        [str(warm_tilth()), *args],
        env={**os.environ, **site.environ(UNREACHED)},
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )
    text = (done.stdout.decode(), done.stderr.decode())
    return subprocess.CompletedProcess(done.args, done.returncode, *text)


def during(reply: Reply, *sayings: Saying) -> Callable[[Request], Reply]:
    """Answer a request once something was said meanwhile."""

    def answer(request: Request) -> Reply:
        for saying in sayings:
            saying()
        return reply

    return answer


def played(**scripts: list[Any]) -> Callable[[Request], Reply]:
    """Answer by role and in turn; an entry may be a function of the request."""
    left = {role: iter(script) for role, script in scripts.items()}

    def answer(request: Request) -> Reply:
        # Whatever goes wrong here is a refusal: without an answer the run would try for long.
        try:
            reply = next(left[request.role], None) or error(400, "the script is at its end")
            return reply(request) if callable(reply) else reply
        except AssertionError as fault:
            return error(400, f"what was to be said failed: {fault}")

    return answer


def stopping(site: Site, into: list[subprocess.CompletedProcess[str]]) -> Saying:
    """Say `tilth stop` beside the run, and go on as soon as the word lies in the inbox."""

    def say() -> None:
        def run() -> None:
            into.append(command(site, "stop"))

        threading.Thread(target=run, daemon=True).start()
        wait_for(lambda: any(words_in(site.session())))

    return say


def words_in(session: Path) -> list[Path]:
    return sorted((session / "inbox").glob("[!.]*.json"))


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
