"""Chromium: where it is, or how to get it. The browser tests run where it is found."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

BROWSER_TESTS = Path(__file__).parents[1] / "browser"
_NAMES = ("chromium", "chromium-browser")
# As long as it takes: how quick it is, is measured elsewhere.
PATIENCE_MS = 120_000
SIZE: ViewportSize = {"width": 1280, "height": 800}


def why_not() -> str:
    """Say why no browser can be started here, and what to install; nothing if one can."""
    if not any(map(shutil.which, _NAMES)):
        return "there is no Chromium; install it with: apt-get install chromium"
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is missing; install it with: pip install playwright"
    return ""


def left_out() -> str:
    """Name the tests that are left out, and why; nothing if none is."""
    why = why_not()
    names = ", ".join(sorted(path.name for path in BROWSER_TESTS.glob("test_*.py")))
    return f"LEFT OUT: tests/browser ({names}): {why}" if why else ""


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser with a profile of its own."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, _NAMES)))
    with sync_playwright() as playwright:
        # Debian's Chromium will not start as root otherwise; it is given our own pages alone.
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        yield started
        started.close()


@contextmanager
def window(browser: Browser) -> Iterator[BrowserContext]:
    """Open a window, for many tests: what a page stored is gone before the next one begins."""
    window = browser.new_context(viewport=SIZE)
    window.set_default_timeout(PATIENCE_MS)
    window.add_init_script("if (location.protocol !== 'about:') localStorage.clear();")
    try:
        yield window
    finally:
        window.close()


@contextmanager
def as_new(page: Page) -> Iterator[Page]:
    """Give a page of such a window as a new one would be: no cookie, its size, its colours."""
    page.context.clear_cookies()
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)
    try:
        yield page
    finally:
        # It leaves by itself: a browser that is told to take it away starts a new process for it.
        page.evaluate("location.replace('about:blank')")
        page.wait_for_url("about:blank")


@contextmanager
def hearing(page: Page, **ears: Callable[[Any], object]) -> Iterator[None]:
    """Hear a page's events until it is left: what leaving breaks off is no fault of its own."""
    listeners: Any = page
    for event, ear in ears.items():
        listeners.on(event, ear)
    yield
    # What has happened is told with the next answer of the page, and is lost if nobody waits for
    # it. A page in the background may draw no frame.
    page.evaluate("new Promise(done => { requestAnimationFrame(done); setTimeout(done, 1000); })")
    for event, ear in ears.items():
        listeners.remove_listener(event, ear)
