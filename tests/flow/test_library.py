"""Tilth as a library: the documented example runs as it stands, and says nothing on its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.flow_site import Site, accept, solve, submit
from support.messages_api import MessagesServer, by_role

from tilth.base.errors import UserError
from tilth.contract.outcomes import ExitCode, StopReason
from tilth.log.events import Event
from tilth.session.frontend import Frontend
from tilth.session.resume import resume
from tilth.session.session import SessionStatus
from tilth.session.start import start

PAGE = Path(__file__).parents[2] / "docs" / "library.md"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site.make(tmp_path)
    made.bundle(1)
    return made


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    script = by_role(worker=[solve(1), submit(1)], evaluator=[accept()])
    with MessagesServer(script) as one:
        yield one


class Stopper:
    """Wish for a stop at the first event of a type."""

    def __init__(self, frontend: list[Frontend], at: str) -> None:
        self._frontend, self._at = frontend, at

    def take(self, event: Event) -> None:
        if event.type == self._at:
            self._frontend[0].interrupt.wish()


def test_the_example_in_the_docs_runs_as_it_stands(
    site: Site,
    server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(site.root)
    for name, value in site.environ(server.url).items():
        if name != "PATH":
            monkeypatch.setenv(name, value)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"__name__": "example"})
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0] == "1 session_start"
    assert lines[-2].startswith("DONE session/")
    assert lines[-1].startswith("T-001 done ")


def test_a_program_stops_a_run_and_goes_on_with_it(site: Site, server: MessagesServer) -> None:
    handed: list[Frontend] = []
    handed.append(Frontend(sinks=(Stopper(handed, "tool_result"),)))
    environ = site.environ(server.url)
    stopped = start(site.root / "bundle", site.repo, environ=dict(environ), frontend=handed[0])
    assert (stopped.exit_code, stopped.reason) == (ExitCode.INTERRUPTED, StopReason.INTERRUPTED)
    assert stopped.status is SessionStatus.STOPPED
    done = resume(stopped.session, environ=dict(environ))
    assert (done.exit_code, done.session) == (ExitCode.DONE, stopped.session)
    assert [task.status for task in done.tasks] == ["done"]
    again = resume(stopped.session, environ=dict(environ))
    assert (again.exit_code, again.reason) == (ExitCode.DONE, None)


def test_a_question_without_anybody_to_ask_is_an_error_that_names_the_choices(
    site: Site, server: MessagesServer
) -> None:
    handed: list[Frontend] = []
    handed.append(Frontend(sinks=(Stopper(handed, "session_start"),)))
    environ, bundle = site.environ(server.url), site.root / "bundle"
    first = start(bundle, site.repo, environ=dict(environ), frontend=handed[0])
    with pytest.raises(UserError, match=f"tilth resume {first.session}`, or start afresh"):
        start(bundle, site.repo, environ=dict(environ))
    picks = Frontend(pick=lambda question, choices: 0)
    taken = start(bundle, site.repo, environ=dict(environ), frontend=picks)
    assert (taken.session, taken.exit_code) == (first.session, ExitCode.DONE)
