"""The lines of evidence: the evaluator's own calls, probes, mutants and challenges."""

from __future__ import annotations

from collections.abc import Iterator

from tilth.base.safe_text import first_lines, last_lines, one_line
from tilth.contract.evidence import Mutated
from tilth.log import events as ev
from tilth.show import figures
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress, describe_call

_SHOWN_SURVIVORS = 3


def evaluator_tool(tool: ev.EvaluatorTool, now: Progress) -> Iterator[Note]:
    """Say what the evaluator looked at."""
    said = " ".join(first_lines(tool.content, 1)) or "nothing"
    text = f"looks: {describe_call(tool.name, tool.arguments)}"
    if tool.name == "submit_verdict":
        text = f"is asked again: {said}"
    if tool.lacking:
        text = f"is asked once more for: {', '.join(tool.lacking)}"
    yield Note("evaluator", text, Tone.QUIET, more=(one_line(said, 120),))


def probe_run(run: ev.ProbeRun, now: Progress) -> Iterator[Note]:
    """Say what a probe did."""
    whose = f"of {run.concern}" if run.concern else "of the evaluator"
    text = f"{whose}: {run.outcome.words()}"
    took = figures.seconds(run.duration_ms)
    yield Note("probe", figures.joined((text, took)), Tone.QUIET, "", last_lines(run.output, 1))


def probe_failed(failed: ev.ProbeFailed, now: Progress) -> Iterator[Note]:
    """Say that a case went back by machine."""
    names = ", ".join(failed.concerns)
    text = f"the case goes back without a call: {names} still stands, its test does not pass"
    yield Note("probe", text, Tone.BAD, "\u2717")


def mutants_tried(tried: ev.MutantsTried, now: Progress) -> Iterator[Note]:
    """Say which planted faults no test noticed."""
    rest = f"{tried.not_run} not tried" if tried.not_run else ""
    noticed = f"{tried.killed} of {figures.counted(tried.tried, 'planted fault')} noticed"
    took = figures.seconds(tried.duration_ms)
    shown = tuple(f"unnoticed: {one_line(item, 160)}" for item in tried.survived[:_SHOWN_SURVIVORS])
    left = len(tried.survived) - len(shown)
    more = (f"and {left} more",) if left > 0 else ()
    yield Note("mutants", figures.joined((noticed, rest, took)), Tone.QUIET, "", (*shown, *more))


def mutants_text(tried: ev.MutantsTried) -> str:
    """Say at length what came of a change's mutants."""
    fields = {name: getattr(tried, name) for name in Mutated.model_fields}
    return Mutated(**fields).render()


def challenge_made(made: ev.ChallengeMade, now: Progress) -> Iterator[Note]:
    """Say whether tests noticed that what they expect was made false."""
    took = figures.seconds(made.duration_ms)
    if made.refused:
        text = f"{made.validator}: what a test expects was made false, and it stayed green"
        more = tuple(one_line(item, 160) for item in made.refused[:_SHOWN_SURVIVORS])
        yield Note("challenge", figures.joined((text, took)), Tone.BAD, "\u2717", more)
        return
    noticed = f"{len(made.noticed)} of {figures.counted(len(made.tests), 'test')}"
    text = f"{made.validator}: {noticed} turned red when what they expect was made false"
    rest = "some left out" if made.left_out else ""
    blind = tuple(f"proves nothing: {item}" for item in made.unnoticed[:_SHOWN_SURVIVORS])
    small = tuple(one_line(item, 160) for item in made.coarse[:_SHOWN_SURVIVORS])
    yield Note("challenge", figures.joined((text, rest, took)), Tone.QUIET, "", (*blind, *small))


LINES = (evaluator_tool, probe_run, probe_failed, mutants_tried, challenge_made)
