"""Words that make no sense, or that the disk has no room for: one line, exit 2, nothing left."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, solve, submit, task
from support.warm_start import warm_tilth
from support.words import UNREACHED, command, words_in

from tilth.base.clock import SystemClock
from tilth.config.secrets import Mask
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.session.at_rest import settle_inbox
from tilth.session.inbox import Inbox
from tilth.session.session import Session


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """T-001 is done; T-002 waits: its budget is used up before it has a case."""
    site = Site.make(tmp_path_factory.mktemp("refused"))
    plan = [task(1), task(2)]
    return site.run(
        site.bundle(1, 2, tasks=plan),
        worker=[solve(1), submit(1), solve(2), solve(2)],
        evaluator=[accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="2",
    )


def belongings(run: Run) -> dict[str, bytes]:
    files = (path for path in run.session.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if path.name != "lock"}


REFUSED = [
    (("tell", "nosuch", "Hello."), "no session starts with 'nosuch'"),
    (("tell", "latest", "T-009", "Hello."), "there is no task 'T-009'; this session has T-001"),
    (("tell", "latest", "T-001", "Hello."), "T-001 is done, so nobody would read it"),
    (("tell", "latest", "T-002"), "what is T-002 to be told?"),
    (("tell", "latest", "T-002", "Hello", "you."), "the note is one argument, in quotes"),
    (("tell", "latest", "T-002", " \n "), "the note is empty"),
    (("tell", "latest", "T-002", "\u200b\ufeff"), "the note is empty"),
    (("reject", "latest", "T-001", "\u200b \u3164"), "the reason is empty"),
    (("tell", "latest", "x" * 20_001), "more than 20,000 characters"),
    (("reject", "latest", "T-009", "No."), "there is no task 'T-009'"),
    (("reject", "latest", "T-001", ""), "the reason is empty"),
    (("reject", "latest", "T-001", "No.", "--category", "ugly"), "there is no category 'ugly'"),
    (("accept", "latest", "T-002"), "it failed before it had a case"),
    (("accept", "latest", "../../etc"), "there is no task '../../etc'"),
    (("answer", "latest", "R-009", "Yes."), "has no request 'R-009'"),
    (("stop", "nosuch"), "no session starts with 'nosuch'"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_word_that_makes_no_sense_is_refused_in_one_line_and_leaves_nothing(
    done: Run, words: tuple[str, ...], said: str
) -> None:
    before = belongings(done)
    refused = command(done.site, *words)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr
    assert belongings(done) == before


def test_a_text_of_a_megabyte_from_stdin_is_refused(done: Run) -> None:
    before = belongings(done)
    refused = command(done.site, "tell", "latest", "T-002", "-", stdin=b"x" * 1_000_000)
    assert refused.returncode == 2
    assert "more than 20,000 characters" in refused.stderr
    assert belongings(done) == before


def said(run: Run) -> list[dict[str, Any]]:
    return run.of("operator_word")


def test_control_characters_and_bytes_that_are_no_text_are_made_visible(done: Run) -> None:
    note = b"bell \x07, \x1b[2J, byte \xff, key sk-test-0123456789abcdef"
    assert command(done.site, "tell", "latest", "T-002", "-", stdin=note).returncode == 0
    text = said(done)[-1]["text"]
    assert text.startswith("bell ␇, ␛[2J, byte \\udcff, key ")
    assert "sk-test" not in text
    assert text.isprintable()


def test_two_words_at_once_are_both_heard(done: Run) -> None:
    env = {**os.environ, **done.site.environ(UNREACHED)}
    before = len(said(done))
    line = [str(warm_tilth()), "tell", "latest", "T-002"]
    both = [subprocess.Popen([*line, f"at once {n}"], env=env) for n in range(4)]
    assert [each.wait(timeout=60) for each in both] == [0, 0, 0, 0]
    heard = sorted(word["text"] for word in said(done)[before:])
    assert heard == [f"at once {n}" for n in range(4)]
    assert not words_in(done.session)


def test_a_word_that_comes_while_another_is_taken_up_is_heard_too(done: Run) -> None:
    inbox, clock = Inbox(done.session), SystemClock()
    words = [
        OperatorWord(id=f"{n:016x}", verb=Verb.TELL, task="T-002", text=text)
        for n, text in enumerate(("first", "while it is taken up"))
    ]
    inbox.put(words.pop(0), clock)

    @contextmanager
    def writing() -> Iterator[None]:
        # The inbox was emptied, and the lock is still held: nobody else can take the next one up.
        if words and inbox.is_empty:
            inbox.put(words.pop(), clock)
        yield

    settle_inbox(done.session, Mask(), writing)
    assert [word["text"] for word in said(done)[-2:]] == ["first", "while it is taken up"]
    assert not words_in(done.session)


def test_a_word_to_a_session_whose_process_has_died_is_taken_up_at_once(done: Run) -> None:
    pid = os.fork()
    if pid == 0:
        Session.open_locked(done.site.sessions, done.session.name, clock=SystemClock(), mask=Mask())
        os._exit(0)
    os.waitpid(pid, 0)
    assert command(done.site, "tell", "latest", "T-002", "Anybody?").returncode == 0
    assert said(done)[-1]["text"] == "Anybody?"


def test_a_disk_without_room_refuses_a_word_and_leaves_nothing_half_written(done: Run) -> None:
    holder = Session.open_locked(
        done.site.sessions, done.session.name, clock=SystemClock(), mask=Mask()
    )
    try:
        full = subprocess.run(
            [sys.executable, "-m", "tilth", "tell", "latest", "T-002", "No room."],
            env={**os.environ, **done.site.environ(UNREACHED)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        holder.release()
    assert full.returncode == 2
    assert "cannot write" in full.stderr
    assert not list((done.session / "inbox").iterdir())


def test_a_file_in_the_inbox_that_is_no_word_is_named(done: Run) -> None:
    path = done.session / "inbox" / "20260101-000000-000000-ab-tell.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"verb": "sing"}), encoding="utf-8")
    try:
        refused = command(done.site, "tell", "latest", "T-002", "Hello?")
    finally:
        path.unlink()
    assert refused.returncode == 2
    assert path.name in refused.stderr
