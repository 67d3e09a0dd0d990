"""`make bench`: print every figure beside its aim."""

from __future__ import annotations

import statistics
import sys

from bench.cache import cached_shares
from bench.evidence import evidence_ratios, review_ratio
from bench.lanes import lane_figures
from bench.look import info_ratio
from bench.replay import verify_ratio
from bench.resume import resume_ratio
from bench.sandbox import NoWall, command_ratio, tool_ms, validation_ratio
from bench.startup import first_request_ratio, help_ratio
from bench.turns import bare_loop, harness
from bench.viewer import chromium, open_long_session, watched_ratio

ROUNDS = 3


def figure(name: str, value: float, aim: float, unit: str = "x") -> None:
    """Print one figure and whether it meets its aim."""
    mark = "ok  " if value <= aim else "MISS"
    sys.stdout.write(f"{mark}  {name:<58} {value:8.2f} {unit:<3} (aim <= {aim:g})\n")
    sys.stdout.flush()


def turns(count: int) -> None:
    """Compare a turn of the harness with one of the bare loop, in alternation."""
    ratios, late = [], []
    for _ in range(ROUNDS):
        bare, ours = bare_loop(count), harness(count)
        ratios.append(ours.gap_ms / bare)
        late.append(ours.late_bytes_a_turn / ours.bytes_a_turn)
    figure(f"a turn against the bare loop, {count} turns", statistics.median(ratios), 1.3)
    figure(f"bytes a turn, second half against first, {count} turns", statistics.median(late), 1.1)
    if count >= 200:
        kept = harness(count, memory=True)
        figure(f"bytes written a turn, {count} turns", kept.bytes_a_turn / 1000, 4, "kB")
        figure(f"peak memory over {count} turns", kept.peak_mb, 100, "MB")


def sandbox() -> None:
    """Compare a confined command and a validation with the same thing bare."""
    try:
        confined, unconfined = command_ratio()
        figure("a command in the sandbox against bare bash -c true", confined, 3)
        figure("the same without a sandbox", unconfined, 2)
        command, edit = tool_ms()
        figure("a worker's command in the sandbox", command, 12, "ms")
        figure("an edit there, with the note of ruff", edit, 12, "ms")
        figure("a turn there, 50 turns", harness(50, sandbox="auto").gap_ms, 12, "ms")
        figure("freeze, export and validate against bare pytest", validation_ratio(), 1.5)
    except NoWall as error:
        sys.stdout.write(f"none  no sandbox to time: {error}\n")


def evidence() -> None:
    """Compare a probe and a mutant with a bare pytest, and a review with a bare loop."""
    try:
        probe, mutant, rate = evidence_ratios()
        figure("a probe against bare pytest", probe, 1.5)
        figure(f"a mutant on one core against bare pytest ({rate:.1f} a second)", mutant, 1.5)
    except NoWall as error:
        sys.stdout.write(f"none  no sandbox to time: {error}\n")
    figure("a turn of a review of 10 turns against the bare loop", review_ratio(), 1.5)


def viewer() -> None:
    """Say how a long session opens in a browser, and what a run pays for being watched."""
    figure("a turn with a viewer attached against one without", watched_ratio(), 1.1)
    if why := chromium.why_not():
        sys.stdout.write(f"none  no browser to time: {why}\n")
        return
    opened = open_long_session()
    figure("tilth visualize, 50,000 events, until it prints its address", opened.command_s, 4, "s")
    figure("from there to the first screen", opened.overview_s, 2, "s")
    figure("and to the list of events", opened.events_s, 2, "s")
    figure("search over all of it", opened.search_s, 2, "s")
    figure("nodes in the page", opened.nodes, 2000, "")
    figure("memory of the server", opened.server_mb, 300, "MB")
    figure("memory of the page", opened.page_mb, 100, "MB")
    name = f"the same as one file of {opened.file_mb:.0f} MB, to its first screen"
    figure(name, opened.file_s, 2, "s")


def cache() -> None:
    """Say how much of what was sent before a prompt cache could not read."""
    for role, share in cached_shares(200).items():
        figure(f"of the prefix not cacheable, 200 turns of the {role}", 100 * (1 - share), 1, "%")


def lanes() -> None:
    """Say what four jobs make of eight independent tasks."""
    found = lane_figures()
    figure("eight tasks with four jobs against one", found.wall, 0.45)
    figure("a turn in a lane against one of a single job", found.turn, 1.15)
    figure("a landing beyond 1.2 gates", found.landing_ms - 1.2 * found.gate_ms, 50, "ms")
    figure("memory a lane adds", found.lane_mb, 12, "MB")


def main() -> None:
    figure("tilth --help against importing typer", help_ratio(), 2.5)
    figure("start to first request against importing the SDK", first_request_ratio(), 1.15)
    figure("tilth info, 200 sessions, against json.loads of its files", info_ratio(), 3)
    ratio, peak = verify_ratio()
    figure("tilth replay --verify-only, 10,000 events, against json.loads", ratio, 3)
    figure("peak memory of that", peak, 5, "MB")
    figure("resume to its first call, 10,000 events, against reading them", resume_ratio(), 2)
    sandbox()
    evidence()
    for count in (50, 200):
        turns(count)
    cache()
    lanes()
    viewer()


if __name__ == "__main__":
    main()
