"""The demo's picture in the docs: the recording's own lines as an animated SVG.

.venv/bin/python tests/support/demo_cast.py

It depends on the recording and on how events are shown, and on nothing else: the same code makes
the same bytes. Where nothing moves (a printer, a reader who wants no motion) it shows the end.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.segment import Segment
from rich.text import Text

from tilth.base.clock import read_moment
from tilth.config.settings import Settings
from tilth.demo.material import recording_path
from tilth.log.events import SessionStart
from tilth.log.reader import read_events
from tilth.session.bundle import read_bundle
from tilth.show.live import Console, ConsoleContext
from tilth.task.budget import Allowance

PICTURE = Path(__file__).parents[2] / "docs" / "demo.svg"
COLUMNS, ROWS = 100, 26
CELL, LINE, EDGE, BAR = 7.8, 18, 14, 30
SHORTEST_S, LONGEST_S, HOLD_S = 0.35, 1.6, 6.0
INK, GROUND = "#d5dae0", "#14181d"
# By the number a terminal knows them by.
COLOURS = {1: ("bad", "#f07f7f"), 2: ("good", "#5fc98a"), 3: ("warn", "#e6b450")}


@dataclass(frozen=True)
class Scene:
    """Hold the lines that came at one moment."""

    at_s: float
    lines: tuple[str, ...]


def scenes() -> list[Scene]:
    """Play the recording onto a terminal that is only a text."""
    stream = io.StringIO()
    console = Console(stream, _context(), live=True, columns=lambda: COLUMNS)
    found: list[Scene] = []
    at_s, before = SHORTEST_S, None
    for event in read_events(recording_path()):
        console.take(event)
        drawn = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        moment = read_moment(event.ts)
        # The recording was made unconfined; a demo says at its start what confines it here.
        if not drawn or moment is None or isinstance(event.payload, SessionStart):
            continue
        if before is not None:
            waited = (moment - before).total_seconds()
            at_s += min(max(waited, SHORTEST_S), LONGEST_S)
        before = moment
        found.append(Scene(at_s, tuple(drawn.removesuffix("\n").split("\n"))))
    console.close()
    return found


def _context() -> ConsoleContext:
    plan = read_bundle(recording_path().with_name("bundle") / "prd.json").plan
    fields = Settings.model_fields
    budget = fields["max_iterations_per_task"].default
    bonus = fields["iteration_bonus_per_rejection"].default
    return ConsoleContext(plan=plan, allowance=Allowance(budget=budget, bonus=bonus), advises=False)


def svg(played: list[Scene]) -> str:
    """Draw all lines once, and let a cover and a scroll tell the time."""
    lines = [line for scene in played for line in scene.lines]
    width, height = round(COLUMNS * CELL + 2 * EDGE), BAR + ROWS * LINE + EDGE
    end_s = played[-1].at_s + HOLD_S
    rows = "\n".join(_row(number, line) for number, line in enumerate(lines))
    last = _scroll(len(lines))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-label="A run of the demo: a gate that fails, an evaluator that rejects, the fix of both">
<style>
text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
 fill: {INK}; white-space: pre; }}
.b {{ font-weight: 700; }} .d {{ opacity: .6; }}
{" ".join(f".{name} {{ fill: {colour}; }}" for name, colour in COLOURS.values())}
#scroll {{ transform: translateY({last}px); animation-name: scroll; }}
#cover {{ transform: translateY({_shown(ROWS)}px); animation-name: cover; }}
#scroll, #cover {{ animation-duration: {end_s:.2f}s; animation-timing-function: step-end;
 animation-iteration-count: infinite; }}
@keyframes scroll {{ {_keyframes(played, end_s, _scroll)} }}
@keyframes cover {{ {_keyframes(played, end_s, _shown)} }}
@media (prefers-reduced-motion: reduce) {{ #scroll, #cover {{ animation: none; }} }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="{GROUND}"/>
<g fill="#3a424c"><circle cx="18" cy="15" r="5"/><circle cx="34" cy="15" r="5"/>\
<circle cx="50" cy="15" r="5"/></g>
<text x="{width / 2:g}" y="19" text-anchor="middle" class="d">tilth demo</text>
<svg x="{EDGE}" y="{BAR}" width="{width - 2 * EDGE}" height="{ROWS * LINE}">
<g id="scroll">
{rows}
</g>
<rect id="cover" width="100%" height="100%" fill="{GROUND}"/>
</svg>
</svg>
"""


def _scroll(count: int) -> int:
    return -max(0, count - ROWS) * LINE


def _shown(count: int) -> int:
    return min(count, ROWS) * LINE


def _keyframes(played: list[Scene], end_s: float, place: Callable[[int], int]) -> str:
    frames, count, before = [], 0, None
    for scene in (Scene(0.0, ()), *played):
        count += len(scene.lines)
        if place(count) != before:
            before = place(count)
            at = 100 * scene.at_s / end_s
            frames.append(f"{at:.2f}% {{ transform: translateY({before}px); }}")
    return " ".join(frames)


def _row(number: int, line: str) -> str:
    """Draw one line; each stretch of one style stands at its own column, whatever the font."""
    spans = "".join(_spans(Text.from_ansi(line)))
    return f'<text y="{(number + 1) * LINE - 5}">{spans}</text>'


def _spans(text: Text) -> Iterator[str]:
    from rich.console import Console as RichConsole

    plain = RichConsole(file=io.StringIO(), width=2 * COLUMNS, color_system=None)
    column = 0
    for segment in text.render(plain):
        assert isinstance(segment, Segment)
        said = segment.text.rstrip("\n")
        if said.strip():
            classes = " ".join(_classes(segment))
            kind = f' class="{classes}"' if classes else ""
            yield f'<tspan x="{column * CELL:g}"{kind}>{escape(said, quote=False)}</tspan>'
        column += segment.cell_length


def _classes(segment: Segment) -> Iterator[str]:
    style = segment.style
    if style is None:
        return
    if style.bold:
        yield "b"
    if style.dim:
        yield "d"
    if style.color is not None and style.color.number in COLOURS:
        yield COLOURS[style.color.number][0]


if __name__ == "__main__":
    PICTURE.write_text(svg(scenes()), "utf-8")
