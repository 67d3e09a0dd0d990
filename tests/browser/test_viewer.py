"""The viewer in a real browser: served from a session, and exported into one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from support import chromium
from support.flow_site import Run
from support.hostile_view import SESSION as HOSTILE
from support.hostile_view import TEXTS, hostile_session
from support.long_session import SESSION as LONG
from support.long_session import make_session
from support.night import run_night
from support.viewer_site import served, visualize, warm

EVENTS = 50_000
FEWER = 5_000
NODES = 2_000
REACHED = (Path(__file__).parent / "reached.js").read_text("utf-8")
CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")

# Places of the night, and how much of what each draws last.
PLACES = {
    "": (".tasks tbody tr", 5),
    "task=T-002": (".entry", 13),
    "seq=44": (".detail pre", 2),
}

# What the page does by itself is the same both ways: the same script, the same style.
ONCE_SERVED = pytest.mark.parametrize("way", ["served"])

expect.set_options(timeout=chromium.PATIENCE_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_night(tmp_path_factory.mktemp("night"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, night: Run) -> Path:
    """Lay out three sessions beside each other: a night, a long one, a hostile one."""
    home = hostile_session(tmp_path_factory.mktemp("home"))
    make_session(home / "sessions", EVENTS)
    (home / "sessions" / night.session.name).symlink_to(night.session)
    return home


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with served(home, program=warm()) as viewer:
        yield viewer.address


@pytest.fixture(scope="module")
def files(home: Path, night: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Export all three; of the long one a shorter twin."""
    place = tmp_path_factory.mktemp("files")
    make_session(place / "sessions", FEWER)
    found = {}
    for name, where in ((night.session.name, home), (HOSTILE, home), (LONG, place)):
        target = place / f"{name}.html"
        done = visualize(where, name, "--export", str(target), program=warm())
        assert done.returncode == 0, done.stderr
        found[name] = target.as_uri()
    return found


@dataclass
class Tab:
    """Hold an open page and what went wrong in it."""

    page: Page
    start: str
    session: str
    faults: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, place: str = "") -> Page:
        """Open a place of the page's session, whole, as a link would."""
        values = f"session={self.session}&{place}" if self.start.startswith("http") else place
        assert self.page.url == "about:blank"
        self.page.goto(f"{self.start}#{values}")
        return self.page

    def move(self, place: str) -> Page:
        """Go to another place of the page that is open."""
        self.page.evaluate(
            "place => { location.hash = place; }", place + f"&session={self.session}"
        )
        return self.page

    def await_all_of(self, place: str) -> None:
        """Wait until nothing is missing that the place draws, the list of sessions included."""
        drawn, count = PLACES[place]
        expect(self.page.locator(drawn)).to_have_count(count)
        if self.start.startswith("http"):
            expect(self.page.get_by_label("Session")).to_be_visible()


@pytest.fixture(params=["served", "exported"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[dict[str, Page]]:
    """Keep a page for each way: a new one for each test is most of what the test would cost."""
    with chromium.window(browser) as window:
        yield {way: window.new_page() for way in ("served", "exported")}


def tab_on(session: str, way: str, page: Page, request: pytest.FixtureRequest) -> Iterator[Tab]:
    start = request.getfixturevalue("address") if way == "served" else None
    start = start or request.getfixturevalue("files")[session]
    tab = Tab(page, start, session)
    heard = {
        "console": lambda said: tab.faults.append(said.text),
        "pageerror": lambda error: tab.faults.append(str(error)),
        "request": lambda asked: tab.asked.append(asked.url),
    }
    with chromium.hearing(page, **heard):
        yield tab
    # Whatever a test did: not a word in the console, and not a request to anywhere else.
    own = "/".join(start.split("/")[:3]) + "/"
    assert tab.faults == []
    assert [url for url in tab.asked if not url.startswith((own, "data:", "about:"))] == []


@pytest.fixture
def on_night(
    night: Run, way: str, kept: dict[str, Page], request: pytest.FixtureRequest
) -> Iterator[Tab]:
    with chromium.as_new(kept[way]) as page:
        yield from tab_on(night.session.name, way, page, request)


@pytest.fixture
def on_long(way: str, kept: dict[str, Page], request: pytest.FixtureRequest) -> Iterator[Tab]:
    with chromium.as_new(kept[way]) as page:
        yield from tab_on(LONG, way, page, request)


@pytest.fixture
def on_hostile(way: str, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Tab]:
    with chromium.window(browser) as window:
        yield from tab_on(HOSTILE, way, window.new_page(), request)


def nodes(page: Page) -> int:
    return int(page.evaluate("document.getElementsByTagName('*').length"))


def test_the_first_page_says_how_it_stands_and_what_to_look_at(on_night: Tab) -> None:
    page = on_night.open()
    how = "3 done, 1 accepted below the bar, 1 blocked: a task waits for your answer"
    expect(page.locator("h1")).to_contain_text(how)
    expect(page.locator(".headline")).to_contain_text(
        "T-004: accepted below the bar by no one; the setting TILTH_ON_EXHAUSTED=accept let it pass"
    )
    expect(page.locator(".asked")).to_contain_text("needs a key that is not here")
    expect(page.locator(".asked")).to_contain_text("What should be done?")
    expect(page.locator(".question code")).to_contain_text('R-002 "…"')
    doubtful = page.locator(".first > li > button").all_inner_texts()
    assert [text.split()[0] for text in doubtful] == ["T-004", "T-005", "T-003", "T-002"]
    expect(page.locator(".tasks tbody tr")).to_have_count(5)
    expect(page.locator(".tasks")).to_contain_text("below the bar")
    expect(page.locator(".look")).to_contain_text("gate files were tampered with: conftest.py")
    expect(page.locator(".look")).to_contain_text("the changed conftest.py is in its commit")
    expect(page.locator(".look")).to_contain_text("rejected once, since settled: shorten(")
    third = page.locator(".tasks tbody tr").nth(2)
    expect(third.locator(".state.doubt")).to_contain_text("⚠\u00a0tampered")
    expect(page.locator(".next")).to_contain_text("brings them onto your branch")
    assert page.locator("figure path").count() > 5
    # It fits the screen in its width, and nearly in its height.
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate("document.documentElement.scrollHeight") <= 1080


def test_a_task_shows_criteria_rounds_change_and_every_prompt_whole(on_night: Tab) -> None:
    page = on_night.open("task=T-002")
    expect(page.locator(".criteria > li")).to_have_count(2)
    expect(page.locator(".criteria")).to_contain_text("words/shorten.py:shorten")
    names = page.locator("main h2").all_inner_texts()
    assert [name.split("\n")[0].rstrip(" 0123456789:") for name in names[2:5]] == [
        "Before the work",
        "Round",
        "Round",
    ]
    failed = page.locator(".step.failed .step-title")
    expect(failed.last).to_contain_text("C1 rejects · tests_pass_but_wrong · score 55 · proven")
    expect(failed.first).to_contain_text("of the evaluator: it fails")
    expect(page.locator(".step.failed").first).to_contain_text("def test_a_word_that_ends_at")
    expect(page.locator(".diff")).to_contain_text("head.rsplit")
    page.locator(".entry.worker .link", has_text="show it whole").first.click()
    expect(page.locator(".entry.worker").first).to_contain_text("# Your task: T-002")
    expect(page.locator(".entry.evaluator").first).to_be_visible()


def test_a_task_that_tampered_or_was_objected_to_says_so(on_night: Tab) -> None:
    page = on_night.open("task=T-003")
    expect(page.locator(".headline.doubt")).to_contain_text("tampered with the gate: conftest.py")
    expect(page.locator(".objected")).to_have_count(0)
    # A line added to a file that was empty stands at the left, its number beside it.
    assert page.locator(".file").first.locator("tr.change td").count() == 2
    on_night.move("task=T-004")
    expect(page.locator(".objected")).to_contain_text("the worker's claim, not proof")
    on_night.move("task=T-005")
    expect(page.locator(".headline")).to_contain_text("1 iteration ·")


def test_a_link_opens_its_event(on_night: Tab, night: Run) -> None:
    seq = night.types.index("probe_run") + 2
    page = on_night.open(f"seq={seq}")
    expect(page.locator(".detail h2")).to_contain_text(f"evaluator_verdict #{seq}")
    expect(page.locator(".detail")).to_contain_text("although it ends at the limit")
    expect(page.locator(".row.chosen .seq")).to_have_text(str(seq))
    expect(page.locator(".row.chosen")).to_be_in_viewport()
    page.get_by_role("button", name="T-002", exact=True).click()
    expect(page.locator("h1")).to_contain_text("T-002")


@ONCE_SERVED
def test_every_key_does_what_the_help_says(on_night: Tab, night: Run) -> None:
    page, last = on_night.open(), len(night.types)
    expect(page.locator("h1")).to_be_visible()
    press = page.keyboard.press
    press("?")
    expect(page.get_by_role("dialog")).to_contain_text("search all text")
    expect(page.get_by_role("dialog")).to_contain_text("the worker's claim that a task is done")
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press("t")
    expect(page.locator("h1")).to_contain_text("T-001")
    press("t")
    expect(page.locator("h1")).to_contain_text("T-002")
    press("e")
    expect(page.get_by_role("listbox")).to_be_visible()
    for key, seq in (("j", 1), ("ArrowDown", 2), ("j", 3), ("k", 2), ("End", last), ("Home", 1)):
        press(key)
        expect(page.locator(".detail h2")).to_contain_text(f"#{seq}")
        expect(page.locator(".row.chosen .seq")).to_have_text(str(seq))
    press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("TAMPERING: the worker touched")
    expect(page.locator(".row")).to_have_count(1)
    press("Enter")
    expect(page.locator(".detail h2")).to_contain_text("seed_tampered")
    press("Escape")
    press("o")
    expect(page.locator("h1")).to_contain_text("3 done")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    press("d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


@ONCE_SERVED
@pytest.mark.parametrize("place", PLACES)
def test_the_keyboard_alone_reaches_everything(on_night: Tab, place: str) -> None:
    page = on_night.open(place)
    on_night.await_all_of(place)
    page.evaluate(REACHED)
    for _ in range(int(page.evaluate("left().length")) + 20):
        page.keyboard.press("Tab")
    assert page.evaluate("left()") == []


def test_only_what_is_seen_is_drawn_however_long_the_log(on_long: Tab, way: str) -> None:
    total = EVENTS if way == "served" else FEWER
    page = on_long.open("events")
    expect(page.get_by_text(f"{total:,} events")).to_be_visible()
    expect(page.locator(".row .line").first).to_be_visible()
    assert nodes(page) < NODES
    page.keyboard.press("End")
    expect(page.locator(".row.chosen .seq")).to_have_text(str(total))
    expect(page.locator(".row.chosen")).to_be_in_viewport()
    page.locator(".scroll").evaluate("box => { box.scrollTop = box.scrollHeight / 2; }")
    expect(page.locator(".row .seq", has_text=str(total // 2 + 5)).first).to_be_in_viewport()
    assert nodes(page) < NODES
    page.keyboard.press("o")
    expect(page.locator(".tasks tbody tr")).to_have_count(20)
    assert nodes(page) < NODES


def test_search_finds_what_is_not_drawn_and_filters_narrow_it(on_long: Tab) -> None:
    page = on_long.open("events")
    expect(page.locator(".row .line").first).to_be_visible()
    page.get_by_role("searchbox").fill("part 70 of T-019 RAN")
    expect(page.get_by_text("1 event")).to_be_visible()
    page.locator(".row").click()
    expect(page.locator(".detail")).to_contain_text("part 70 of T-019 ran")
    expect(page.locator(".detail mark").first).to_have_text("part 70 of T-019 ran")
    expect(page.locator(".detail mark").first).to_be_in_viewport()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(CONTRAST) == []
    page.get_by_role("searchbox").fill("TOOL_res")
    expect(page.locator(".row .type mark").first).to_have_text("tool_res")
    page.get_by_role("searchbox").fill("")
    expect(page.locator("mark")).to_have_count(0)
    page.get_by_label("Task").select_option("T-003")
    page.get_by_label("Kind").select_option("tool")
    expect(page.locator(".row .in").first).to_have_text("T-003")
    expect(page.locator(".row .type").first).to_have_text("tool_call")


def test_hostile_texts_are_drawn_as_text_wherever_they_stand(on_hostile: Tab) -> None:
    page = on_hostile.page
    page.on("dialog", lambda dialog: on_hostile.faults.append(dialog.message))
    page.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; };")
    on_hostile.open()
    expect(page.locator(".tasks tbody tr")).to_have_count(len(TEXTS))
    shown = page.locator("#page").evaluate("page => page.textContent")
    assert [text for text in TEXTS if text not in shown] == []
    on_hostile.move("task=T-001")
    expect(page.locator(".entry")).to_have_count(5)
    more = page.locator(".link", has_text="show")
    more.evaluate_all("found => found.forEach((each) => each.click())")
    expect(more).to_have_count(0)
    for place in (
        ".criteria",
        ".step.failed",
        ".step.doubt",
        ".diff",
        ".entry.worker",
        "h1 + p + p",
    ):
        shown = "".join(
            page.locator(place).evaluate_all("found => found.map((e) => e.textContent)")
        )
        assert [text for text in TEXTS if text not in shown] == [], place
    for seq in range(1, 24):
        on_hostile.move(f"seq={seq}")
        expect(page.locator(".detail h2")).to_contain_text(f"#{seq}")
        expect(page.locator(".detail pre").first).to_be_visible()
        assert page.evaluate("window.hits") == 0
    page.get_by_role("searchbox").fill("<IMG src=x")
    expect(page.locator(".row .line mark").first).to_have_text("<img src=x")
    expect(page.locator(".detail mark").first).to_have_text("<img src=x")
    bad = (
        "#page :is(script, img, iframe, object, embed, video, link, meta, base, form, style, math)"
    )
    assert page.locator(bad).count() == 0


@ONCE_SERVED
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_reads_well_on_a_phone_and_in_the_dark(on_night: Tab, width: int, theme: str) -> None:
    page = on_night.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    on_night.open()
    for place in PLACES:
        on_night.move(place)
        on_night.await_all_of(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CONTRAST) == []


@ONCE_SERVED
def test_on_a_phone_an_event_keeps_its_time_and_type(on_night: Tab) -> None:
    page = on_night.page
    page.set_viewport_size({"width": 390, "height": 800})
    on_night.open("events")
    row = page.locator("#event-8")
    for part in (".seq", ".at", ".in", ".type", ".line"):
        expect(row.locator(part)).to_be_visible()
    first, line = row.locator(".seq").bounding_box(), row.locator(".line").bounding_box()
    assert first
    assert line
    assert (line["x"], line["y"] > first["y"]) == (first["x"], True)


@ONCE_SERVED
def test_sessions_are_switched_in_the_page(on_long: Tab, night: Run) -> None:
    page = on_long.open()
    expect(page.locator("h1")).to_contain_text("All tasks are done")
    page.get_by_label("Session").select_option(night.session.name)
    expect(page.locator("h1")).to_contain_text("3 done, 1 accepted")
    assert "token" not in page.url
