"""Time the viewer: a long session's first screen, what it takes to hold, what it costs a run."""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.endpoint import ROOT
from bench.turns import harness

sys.path.insert(0, str(ROOT / "tests"))

from support import chromium  # tests/ is no package
from support.long_session import make_session
from support.viewer_site import Viewer, served, visualize

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVENTS = 50_000
TURNS = 200
_FOUND = "document.querySelectorAll('.row .line').length"


@dataclass(frozen=True)
class Opened:
    """Hold how a long session opened: seconds, nodes and megabytes."""

    command_s: float
    overview_s: float
    events_s: float
    search_s: float
    nodes: int
    server_mb: float
    page_mb: float
    file_s: float
    file_mb: float


def open_long_session(events: int = EVENTS) -> Opened:
    """Open a long session in a browser, served and as a file."""
    with tempfile.TemporaryDirectory(prefix="tilth-bench-") as place, chromium.browser() as browser:
        home = Path(place)
        make_session(home / "sessions", events)
        began = time.perf_counter()
        with served(home) as viewer:
            command_s = time.perf_counter() - began
            page = browser.new_page()
            overview_s = _seconds(page, viewer.address, ".tasks tbody tr")
            page.goto("about:blank")
            events_s = _seconds(page, f"{viewer.address}#events", ".row .line")
            nodes = page.evaluate("document.getElementsByTagName('*').length")
            began = time.perf_counter()
            page.get_by_role("searchbox").fill("part 70 of T-019 ran")
            _until_one_is_left(page)
            search_s = time.perf_counter() - began
            page_mb = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
            server_mb = _resident_mb(viewer.process.pid)
        target = home / "night.html"
        visualize(home, "--export", str(target))
        file_s = _seconds(browser.new_page(), target.as_uri(), ".tasks tbody tr")
        size = target.stat().st_size / 1e6
    return Opened(
        command_s, overview_s, events_s, search_s, nodes, server_mb, page_mb, file_s, size
    )


def _until_one_is_left(page: Page) -> None:
    """Look closely: what a browser's own waiting rounds up would be counted as the page's."""
    late = time.monotonic() + 120
    while page.evaluate(_FOUND) != 1:
        if time.monotonic() > late:
            raise RuntimeError("the search has not come to an end in two minutes")
        page.wait_for_timeout(5)


def _seconds(page: Page, address: str, wanted: str) -> float:
    began = time.perf_counter()
    page.goto(address)
    page.locator(wanted).first.wait_for(timeout=120_000)
    return time.perf_counter() - began


def _resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return 0.0


def watched_ratio(rounds: int = 3, turns: int = TURNS) -> float:
    """Give a turn's time with a viewer attached against one without, in alternation."""
    ratios = []
    for _ in range(rounds):
        alone = harness(turns).gap_ms
        ratios.append(harness(turns, beside=_watching).gap_ms / alone)
    return statistics.median(ratios)


@contextmanager
def _watching(home: Path) -> Iterator[None]:
    """Follow the session that is about to begin, as a page does."""
    make_session(home / "sessions", 10, tasks=1, name="20200101-000000-abcdef")
    with served(home) as viewer:
        over = threading.Event()
        follower = threading.Thread(target=_follow, args=(viewer, home, over), daemon=True)
        follower.start()
        yield
        over.set()


def _follow(viewer: Viewer, home: Path, over: threading.Event) -> None:
    while not over.wait(0.01):
        new = [path.name for path in (home / "sessions").glob("2*") if path.name > "2021"]
        if new:
            break
    else:
        return
    link = http.client.HTTPConnection("127.0.0.1", viewer.port)
    link.request("GET", f"/data/stream?session={new[0]}&token={viewer.token}")
    stream = link.getresponse()
    while not over.is_set() and stream.readline():
        pass
