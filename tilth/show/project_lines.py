"""The project's lines: what is said of what worker and gate are given of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from tilth.contract.suite_record import SuiteRecord
from tilth.gate.findings import ValidatorReport
from tilth.log.project_events import Carried, Preflighted
from tilth.show import figures
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress

_MOST_NAMED = 3
_COUNTED = ("passed", "failed", "errors", "skipped", "xfailed")


def carried(carried: Carried, now: Progress) -> Iterator[Note]:
    """Name the ignored files that worker and gate are given."""
    paths = tuple(file.path for file in carried.files)
    if paths:
        text = carried_line(paths, sum(file.bytes for file in carried.files))
        yield Note("carries", text, Tone.QUIET, more=paths)
    if carried.too_much:
        kinds = shortly(carried.too_much)
        yield Note("warning", f"too much to be carried, and left out: {kinds}", Tone.WARN, "!")


def carried_line(paths: tuple[str, ...], size: int) -> str:
    """Say in one line what is carried."""
    count = figures.counted(len(paths), "file")
    return f"{count} that git ignores ({size / 1000:,.0f} kB): {shortly(paths)}"


def shortly(paths: Iterable[str]) -> str:
    """Name a few files, and many of a kind by what they end in."""
    names = tuple(paths)
    kinds = Counter(PurePosixPath(name).suffix for name in names)
    alone = [name for name in names if kinds[PurePosixPath(name).suffix] <= _MOST_NAMED]
    many = [f"{count} *{kind}" for kind, count in kinds.items() if count > _MOST_NAMED]
    shown = [*alone[: 2 * _MOST_NAMED], *many]
    rest = len(alone) - 2 * _MOST_NAMED
    return ", ".join([*shown, *([f"{rest} more"] if rest > 0 else [])])


def preflighted(preflight: Preflighted, now: Progress) -> Iterator[Note]:
    """Say what the base is like, before a model is paid."""
    first, *more = preflight.notes or ("the plan is proven on its base",)
    yield Note("preflight", first, Tone.QUIET, "", tuple(more))


def suite_words(report: ValidatorReport | None) -> str:
    """Say how the project's own tests went: counts, why tests were skipped, what is red."""
    if report is None or report.suite is None:
        return ""
    if report.suite.not_run is not None:
        return f"not run: {report.suite.not_run.words()}"
    counts = report.tests or {}
    parts = [f"{counts[key]} {key}" for key in _COUNTED if counts.get(key)]
    return "; ".join([", ".join(parts) or "none", *suite_details(report.suite)])


def suite_details(suite: SuiteRecord) -> Iterator[str]:
    """Say why tests were skipped most often, and name what is red."""
    skips = [f"{count} skipped: {why}" for why, count in suite.skips.items()]
    yield from skips[:_MOST_NAMED]
    if suite.red:
        rest = len(suite.red) - _MOST_NAMED
        more = f" and {rest} more" if rest > 0 else ""
        yield f"red: {', '.join(suite.red[:_MOST_NAMED])}{more}"


LINES = (carried, preflighted)
