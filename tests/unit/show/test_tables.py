"""The page: tables on a terminal, plain text in a pipe, and nothing that acts in either."""

from __future__ import annotations

import io
import json

import pytest
from support.session_files import HOSTILE

from tilth.show.note import Tone
from tilth.show.tables import Cell, Column, Page, escaped, visible

COLUMNS = (Column("id", whole=True), Column("cost", right=True), Column("what", wide=60))
ROWS = [
    [Cell("20261116-221530-a1b2c3"), Cell("$1.25"), Cell("short", Tone.GOOD)],
    [Cell("20261116-221530-ffffff"), Cell("?"), Cell("long " * 40)],
]
FOLDED = (Column("name", whole=True), Column("value", folded=True))


class Terminal(io.StringIO):
    """Be a terminal as far as anybody can tell."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def drawn(columns: int, **environ: str) -> str:
    screen = Terminal()
    Page(screen, environ, columns=columns).table(COLUMNS, ROWS)
    return screen.getvalue()


def test_a_pipe_gets_aligned_text_that_is_never_cut() -> None:
    pipe = io.StringIO()
    Page(pipe, {}).table(COLUMNS, ROWS)
    head, first, second = pipe.getvalue().splitlines()
    assert head == "id                       cost  what"
    assert first == "20261116-221530-a1b2c3  $1.25  short"
    assert second.endswith("long long")
    assert len(second) > 200


def test_a_terminal_gets_colour_and_lines_that_fit() -> None:
    said = drawn(80)
    assert "\x1b[32mshort" in said
    assert said.splitlines()[-1].split()[:3] == ["20261116-221530-ffffff", "?", "long"]
    assert said.rstrip().endswith("…")


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_is_off_where_it_is_not_wanted(environ: dict[str, str]) -> None:
    said = drawn(80, **environ)
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_narrow_terminal_leaves_out_columns_but_never_cuts_an_id() -> None:
    lines = drawn(40, NO_COLOR="1").splitlines()
    assert lines[0].split() == ["id", "cost"]
    assert lines[1].split() == ["20261116-221530-a1b2c3", "$1.25"]
    assert max(map(len, lines)) <= 40


def test_a_value_is_never_cut_to_what_could_be_another() -> None:
    screen = Terminal()
    rows = [[Cell("TILTH_ITERATION_BONUS_PER_REJECTION"), Cell("2000000")]]
    Page(screen, {}, columns=40).table(FOLDED, rows)
    assert "2000000" in screen.getvalue()


@pytest.mark.parametrize("screen", [Terminal(), io.StringIO()])
def test_hostile_text_is_inert_wherever_it_stands(screen: io.StringIO) -> None:
    page = Page(screen, {"NO_COLOR": "1"}, columns=200)
    page.line(HOSTILE, Tone.LOUD)
    page.facts([("name", HOSTILE)])
    page.table((Column("what"),), [[Cell(HOSTILE)]])
    said = screen.getvalue()
    assert said.count("␛[31mred␛[0m") == 3
    assert said.count("[bold]loud[/bold]") == 3
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_terminal_is_not_told_to_read_markup_or_emoji() -> None:
    screen = Terminal()
    Page(screen, {}, columns=80).line(":smile: [red]x[/red]", Tone.GOOD)
    assert ":smile: [red]x[/red]" in screen.getvalue()


def test_a_stream_that_cannot_show_a_character_gets_a_plain_one_or_its_code() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Page(stream, {}).line("✓ a → b · ä \ud800")
    stream.flush()
    assert raw.getvalue() == b"+ a -> b - \\xe4 \\ud800\n"


def test_data_stays_exact_on_a_stream_that_knows_few_characters() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Page(stream, {}).json({"a": "→ ä"})
    stream.flush()
    assert json.loads(raw.getvalue()) == {"a": "→ ä"}


def test_tabs_stay_because_a_diff_needs_them() -> None:
    assert visible("\tx\x1b\ty") == "\tx␛\ty"


def test_json_is_escaped_where_a_terminal_would_act_and_keeps_its_value() -> None:
    value = {"a": f"{HOSTILE} \x9b \ud800 \U000e0041 ä"}
    text = json.dumps(value, ensure_ascii=False)
    assert escaped(text).isprintable()
    assert "ä" in escaped(text)
    assert json.loads(escaped(text)) == value


def test_facts_leave_out_what_is_not_known() -> None:
    pipe = io.StringIO()
    Page(pipe, {}).facts([("status", "done"), ("feature", ""), ("id", "x")])
    assert pipe.getvalue() == "status  done\nid      x\n"
