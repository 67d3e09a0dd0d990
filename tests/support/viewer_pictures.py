"""The viewer's pictures in the docs, taken anew from a night against a scripted endpoint.

.venv/bin/python tests/support/viewer_pictures.py
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["TZ"] = "UTC"
time.tzset()

from playwright.sync_api import Browser  # noqa: E402

from support import chromium  # noqa: E402
from support.night import run_night  # noqa: E402
from support.viewer_site import served  # noqa: E402

DOCS = Path(__file__).parents[2] / "docs"
# Name, place, theme, width, height and what must be there.
PICTURES = (
    ("overview", "", "light", 1280, 840, ".tasks"),
    ("task", "task=T-002", "dark", 1280, 840, ".entry"),
    ("event", "seq=44", "light", 1280, 560, ".detail pre"),
)


def take(browser: Browser, address: str) -> None:
    for name, place, theme, width, height, wanted in PICTURES:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
        page.goto(f"{address}#{place}")
        page.locator(wanted).first.wait_for()
        page.locator(".row .line, h1").first.wait_for()
        page.screenshot(path=DOCS / f"viewer-{name}.png")
        page.close()
    page = browser.new_page(viewport={"width": 1280, "height": 840}, color_scheme="light")
    page.goto(address)
    page.locator(".charts").screenshot(path=DOCS / "viewer-timeline.png")
    page.close()


if __name__ == "__main__":
    place = Path("/tmp/words")
    shutil.rmtree(place, ignore_errors=True)
    run = run_night(place)
    with served(run.session.parents[1]) as viewer, chromium.browser() as browser:
        take(browser, viewer.address)
    shutil.rmtree(place)
