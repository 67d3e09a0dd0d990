"""Figures: how counts, money and time are written for a person."""

from __future__ import annotations

from collections.abc import Iterable

from tilth.base.safe_text import first_lines, last_lines
from tilth.task.budget import Spend
from tilth.task.obstacles import Obstacle, ObstacleKind

SEPARATOR = " · "

_OUTPUT_LINES = 4


def joined(parts: Iterable[str]) -> str:
    """Set parts beside each other, leaving empty ones out."""
    return SEPARATOR.join(part for part in parts if part)


def count(number: float) -> str:
    """Write a count in at most five characters or so: 950, 12.3k, 182k, 2M."""
    if number < 1000:
        return f"{number:.0f}"
    if number < 999_500:
        thousands = number / 1000
        return f"{thousands:.0f}k" if thousands >= 99.95 else f"{_tenths(thousands)}k"
    return f"{_tenths(number / 1_000_000)}M"


def _tenths(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def money(usd: float) -> str:
    """Write dollars; small sums keep the digits that tell them from nothing."""
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def cost(spent: Spend) -> str:
    """Write a cost; a price nobody knows is said, never shown as $0."""
    return known_cost(spent.cost_usd, whole=spent.cost_known)


def known_cost(usd: float, *, whole: bool) -> str:
    """Write what is known of a cost, and whether that is the whole of it."""
    if whole:
        return money(usd)
    return f"{money(usd)} + unknown" if usd else "unknown"


def clock(seconds: float) -> str:
    """Write a running time: 0:07, 12:40, 1:02:03."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def seconds(milliseconds: int) -> str:
    """Write how long a step took: 40 ms, 0.8 s, 14 s, 2:05."""
    if milliseconds < 100:
        return f"{milliseconds} ms"
    took = milliseconds / 1000
    if took < 10:
        return f"{took:.1f} s"
    return f"{took:.0f} s" if took < 60 else clock(took)


def delay(wait_s: float) -> str:
    """Write how long a wait will be."""
    return f"{wait_s:.1f} s" if 0 < wait_s < 1 else f"{wait_s:.0f} s"


def short_sha(sha: str) -> str:
    return sha[:7]


_OBSTACLES = {
    ObstacleKind.MODULE: "No module named '{}'",
    ObstacleKind.MARKERS: "{} are left",
    ObstacleKind.LINT: "ruff {}",
    ObstacleKind.TEST: "{} fails",
    ObstacleKind.VALIDATOR: "{} fails",
    ObstacleKind.CONCERN: "rejected as {}",
    ObstacleKind.UNREADABLE_CASE: "{} could not be read",
}


def failure(reason: str, obstacle: Obstacle | None) -> str:
    """Say why a task failed and what stood in its way most often."""
    return str(reason) if obstacle is None else f"{reason}: {in_the_way(obstacle)}"


def what_failed(kind: ObstacleKind, subject: str) -> str:
    """Name an obstacle."""
    return _OBSTACLES[kind].format(subject)


def in_the_way(obstacle: Obstacle) -> str:
    """Say what stood in the way, where, and how often."""
    what = what_failed(obstacle.kind, obstacle.subject)
    place = f" in {obstacle.place}" if obstacle.place else ""
    times = "once" if obstacle.times == 1 else f"{obstacle.times} times"
    return f"{what}{place}, {times}"


def telling_lines(output: str) -> tuple[str, ...]:
    """Pick what says most about a failure: pytest's own error lines, else the end of the output."""
    lines = output.splitlines()
    errors = [line for line in lines if line.startswith("E  ") and "Use -v to get" not in line]
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    picked = [*errors[: _OUTPUT_LINES - 1], *failed[:1]] if errors else []
    return first_lines("\n".join(picked), _OUTPUT_LINES) or last_lines(output, _OUTPUT_LINES)
