"""The viewer on a running session: what is appended appears, to the late and the cut off too."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect
from support import chromium
from support.long_session import Happening, line_of, make_session, model_call
from support.viewer_site import Viewer, served, warm

EVENTS = 300

expect.set_options(timeout=chromium.PATIENCE_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.browser() as browser:
        yield browser


@dataclass
class Running:
    """Hold a session as a run holds it: locked, marked as running, its log growing."""

    directory: Path
    seq: int
    lock: int = -1

    def append(self, count: int) -> int:
        """Write events as a run does, one line at a time; gives the last one's number."""
        with (self.directory / "events.jsonl").open("a", encoding="utf-8") as log:
            for _ in range(count):
                self.seq += 1
                said = model_call("T-002", self.seq, f"I am at step {self.seq}. ")
                happening: Happening = ("model_call", "T-002", self.seq, said)
                log.write(line_of(self.seq, happening) + "\n")
                log.flush()
        return self.seq

    def end(self) -> None:
        """Let go of the session, as one that was killed does."""
        os.close(self.lock)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    directory = make_session(tmp_path / "home" / "sessions", EVENTS, tasks=2)
    log = directory / "events.jsonl"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:-2]), "utf-8")
    checkpoint = json.loads((directory / "checkpoint.json").read_text("utf-8"))
    text = json.dumps(checkpoint | {"status": "running"})
    (directory / "checkpoint.json").write_text(text, "utf-8")
    (directory / "lock").write_text(f"{os.getpid()}\n", "ascii")
    lock = os.open(directory / "lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield Running(directory, len(lines) - 2, lock)
    with suppress(OSError):
        os.close(lock)


@pytest.fixture
def viewer(running: Running) -> Iterator[Viewer]:
    with served(running.directory.parents[1], program=warm()) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[Page]:
    with chromium.window(browser) as window:
        yield window.new_page()


@pytest.fixture
def page(kept: Page) -> Iterator[Page]:
    faults: list[str] = []

    def hear(error: Error) -> None:
        faults.append(str(error))

    with chromium.as_new(kept) as page, chromium.hearing(page, pageerror=hear):
        yield page
    assert faults == []


def test_a_fault_in_a_tests_last_moment_is_heard(kept: Page) -> None:
    faults: list[str] = []

    def hear(error: Error) -> None:
        faults.append(str(error))

    with chromium.as_new(kept) as page, chromium.hearing(page, pageerror=hear):
        page.evaluate("{ setTimeout(() => { throw new Error('late'); }); }")
    assert faults == ["late"]


def test_an_event_that_is_appended_appears(running: Running, viewer: Viewer, page: Page) -> None:
    page.goto(f"{viewer.address}#events")
    expect(page.get_by_text(f"{running.seq} events")).to_be_visible()
    expect(page.locator(".live")).to_have_text("● live")
    seq = running.append(3)
    expect(page.get_by_text(f"{seq} events")).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator(".detail")).to_contain_text(f"I am at step {seq}.")
    page.keyboard.press("o")
    expect(page.locator("h1")).to_contain_text("Running: ")
    before = page.locator(".headline p").first.inner_text()
    running.append(30)
    expect(page.locator(".headline p").first).not_to_have_text(before)


def test_a_session_that_is_killed_is_at_rest(running: Running, viewer: Viewer, page: Page) -> None:
    page.goto(viewer.address)
    expect(page.locator(".live")).to_have_text("● live")
    running.end()
    expect(page.locator(".live")).to_have_text("at rest")
    expect(page.locator("h1")).to_contain_text("Broken off")


def test_a_late_page_misses_nothing(running: Running, viewer: Viewer, page: Page) -> None:
    other = page.context.new_page()
    other.goto(f"{viewer.address}#events")
    expect(other.get_by_text(f"{running.seq} events")).to_be_visible()
    seq = running.append(250)
    page.goto(f"{viewer.address}#seq={seq}")
    expect(page.locator(".detail")).to_contain_text(f"I am at step {seq}.")
    expect(page.get_by_text(f"{seq} events")).to_be_visible()
    expect(other.get_by_text(f"{seq} events")).to_be_visible()
    other.close()


def test_a_page_that_was_cut_off_misses_nothing(
    running: Running, viewer: Viewer, page: Page
) -> None:
    with Wire.to(viewer.port) as wire:
        page.goto(f"http://127.0.0.1:{wire.port}/?token={viewer.token}#events")
        expect(page.get_by_text(f"{running.seq} events")).to_be_visible()
        wire.cut()
        expect(page.locator(".live")).to_have_text("connection lost, trying again")
        running.append(120)
        wire.mend()
        seq = running.append(120)
        expect(page.get_by_text(f"{seq} events")).to_be_visible()
        expect(page.locator(".live")).to_have_text("● live")
        page.keyboard.press("End")
        for missed in range(seq, seq - 3, -1):
            expect(page.locator(".detail")).to_contain_text(f"I am at step {missed}.")
            page.keyboard.press("k")


@dataclass
class Wire:
    """Carry bytes between the browser and the viewer, until it is cut."""

    listening: socket.socket
    target: int
    whole: bool = True
    ends: list[socket.socket] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    @classmethod
    @contextmanager
    def to(cls, target: int) -> Iterator[Wire]:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            wire = cls(listening, target)
            wire._start(wire._accept)
            try:
                yield wire
            finally:
                listening.shutdown(socket.SHUT_RDWR)
                wire.cut()
                wire._end()

    def _start(self, work: Callable[..., None], *args: socket.socket) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _end(self) -> None:
        for thread in self.threads:
            thread.join(20)
        for end in self.ends:
            end.close()

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    def cut(self) -> None:
        """Break every connection, and let no new one come about."""
        self.whole = False
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.whole = True

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listening.accept()
                if not self.whole:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self.target))
                self.ends += [near, far]
                for pair in ((near, far), (far, near)):
                    self._start(_carry, *pair)


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
