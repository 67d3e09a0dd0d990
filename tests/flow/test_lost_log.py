"""A log that is lost: whatever would write into it refuses, and nothing is begun anew over it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.commands import start
from support.flow_site import Run, accept, read_lines, solve, submit
from support.session_files import snapshot
from support.words import Endpoint, Killed, command, during, light_endpoint, played

from tilth.base import failpoint
from tilth.base.clock import SystemClock
from tilth.base.errors import CorruptSession
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.session.inbox import Inbox

WORD = '{"seq":1,"ts":"2026-11-16T22:15:30.000Z","type":"operator_word","payload":%s}\n'
NOTE = '{"id":"w","verb":"tell","task":"T-001","text":"Mind the zero."}'
LOSSES: dict[str, Callable[[Path], object]] = {
    "the file is missing": lambda log: log.unlink(),
    "the log is empty": lambda log: log.write_bytes(b""),
    "no whole line stands in the log": lambda log: log.write_bytes(log.read_bytes()[:50]),
    "the log does not tell how the session began": lambda log: log.write_text(WORD % NOTE),
}
EVERY_LOSS = pytest.mark.parametrize("said", LOSSES)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with light_endpoint(tmp_path) as one:
        yield one


def stopped(endpoint: Endpoint) -> Run:
    """Stop a run in the middle of its task."""

    def stop() -> None:
        word = OperatorWord(id="stop", verb=Verb.STOP)
        Inbox(endpoint.site.session()).put(word, SystemClock())

    endpoint.script = played(worker=[during(solve(1), stop)])
    return endpoint.run(endpoint.site.bundle(1))


def killed(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, step: str, after: str = "") -> Path:
    """Kill a first run at a step, once an event of a kind is on record; give its log."""

    def strike(reached: str) -> None:
        log = next(endpoint.site.sessions.glob("[!.]*/events.jsonl"), None)
        kinds = [event["type"] for event in read_lines(log)] if log else []
        if reached == step and (not after or after in kinds):
            raise Killed

    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    monkeypatch.setattr(failpoint, "_armed", [strike])
    with pytest.raises(Killed):
        endpoint.run(endpoint.site.bundle(1))
    monkeypatch.setattr(failpoint, "_armed", [])
    return endpoint.site.session() / "events.jsonl"


@EVERY_LOSS
def test_a_resume_refuses_to_begin_it_anew(endpoint: Endpoint, said: str) -> None:
    log = stopped(endpoint).session / "events.jsonl"
    LOSSES[said](log)
    left = log.read_bytes() if log.exists() else None
    with pytest.raises(CorruptSession, match=said) as told:
        endpoint.resume()
    assert str(log) in str(told.value)
    assert "put the file back" in str(told.value)
    assert (log.read_bytes() if log.exists() else None) == left


@EVERY_LOSS
@pytest.mark.parametrize(
    "words", [("tell", "latest", "Hey."), ("reject", "latest", "T-001", "No."), ("take", "latest")]
)
def test_a_command_that_would_write_refuses_and_leaves_nothing(
    endpoint: Endpoint, said: str, words: tuple[str, ...]
) -> None:
    session = stopped(endpoint).session
    LOSSES[said](session / "events.jsonl")
    (session / "lock").write_bytes(b"")
    before = {name: held[2] for name, held in snapshot(session).items() if name != "lock"}
    done = command(endpoint.site, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert {name: held[2] for name, held in snapshot(session).items() if name != "lock"} == before


def test_work_that_was_killed_in_its_first_start_is_not_begun_anew_either(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(endpoint, monkeypatch, "after appending to events.jsonl", "model_call").unlink()
    with pytest.raises(CorruptSession, match="the file is missing, although"):
        endpoint.resume()
    assert "is broken" in command(endpoint.site).stdout


@pytest.mark.parametrize("word", [False, True])
@pytest.mark.parametrize("step", ["after the session appeared", "after adding the worktree"])
def test_a_start_that_was_killed_before_its_first_event_has_lost_nothing(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, step: str, word: bool
) -> None:
    killed(endpoint, monkeypatch, step)
    if word:
        assert command(endpoint.site, "tell", "latest", "Mind the zero.").returncode == 0
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    assert endpoint.resume().code == 0


def test_a_start_that_ended_before_it_began_goes_on(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(reached: str) -> None:
        if reached == "after starting the branch":
            raise CorruptSession("it cannot begin")

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "_armed", [fail])
        run = endpoint.run(endpoint.site.bundle(1))
    assert [event["type"] for event in run.events] == ["stop"]
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    assert endpoint.resume().code == 0


# Whoever lists sessions looks at the first line alone.
@pytest.mark.parametrize("said", list(LOSSES)[:3])
def test_bare_tilth_and_doctor_advise_no_resume(endpoint: Endpoint, said: str) -> None:
    session = stopped(endpoint).session
    LOSSES[said](session / "events.jsonl")
    bare, doctor = command(endpoint.site).stdout, command(endpoint.site, "doctor").stdout
    assert (
        f"next  put events.jsonl back, or give the session up: tilth reset {session.name}" in bare
    )
    assert said in doctor
    assert "put the file back" in doctor
    assert "tilth resume" not in bare + doctor


@pytest.mark.parametrize("said", list(LOSSES)[:3])
def test_a_run_of_the_same_plan_offers_no_resume_and_says_why_it_begins_beside_it(
    endpoint: Endpoint, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = stopped(endpoint).session
    LOSSES[said](session / "events.jsonl")
    capsys.readouterr()
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    environ = endpoint.site.environ(endpoint.server.url)
    assert start(endpoint.site.bundle(1), endpoint.site.repo, {}, environ=environ) == 0
    assert endpoint.site.session() != session
    [told] = [line for line in capsys.readouterr().err.splitlines() if "passed over" in line]
    assert told.startswith(f"note: session {session.name} of this PRD is passed over: ")
    assert said in told
    assert "put the file back" in told


@pytest.mark.parametrize(
    "lose",
    [
        lambda log: log.unlink(),
        lambda log: log.write_bytes(b""),
        lambda log: os.truncate(log, log.stat().st_size - 1),
        lambda log: os.replace(shutil.copyfile(log, log.with_suffix(".copy")), log),
        lambda log: log.parent.rename(log.parent.with_name("elsewhere")),
    ],
    ids=["removed", "emptied", "cut", "replaced", "moved"],
)
def test_a_run_whose_log_is_lost_under_it_stops_and_writes_nothing_more(
    endpoint: Endpoint, lose: Callable[[Path], object]
) -> None:
    left: list[dict[str, tuple[int, int, bytes]]] = []

    def files() -> list[dict[str, tuple[int, int, bytes]]]:
        return [snapshot(folder) for folder in endpoint.site.sessions.glob("[!.]*")]

    def strike() -> None:
        log = endpoint.site.session() / "events.jsonl"
        lose(log)
        # It keeps a little of the disk for its last word, and gives that back.
        (log.parent / ".reserve").unlink(missing_ok=True)
        left.extend(files())

    endpoint.script = played(worker=[during(solve(1), strike), submit(1)], evaluator=[accept()])
    with pytest.raises(CorruptSession, match=r"events\.jsonl: it was removed, replaced or cut"):
        endpoint.run(endpoint.site.bundle(1))
    assert files() == left
