"""Cautions: what a person must know about how a session judges, before it begins or goes on."""

from __future__ import annotations

from collections.abc import Iterator

from tilth.payloads import SessionStart


def cautions(start: SessionStart) -> Iterator[str]:
    """Say what weakens the evaluation by the user's own choice, and what was not found."""
    if start.evaluate:
        yield from _choices(start)
    else:
        yield "NO EVALUATOR: validators alone decide, and commits say not-evaluated"
    if start.untested:
        them = "it" if len(start.untested) == 1 else "them"
        alone = f": only the evaluator stands behind {them}"
        left = alone if start.evaluate else f", and no evaluator stands behind {them} either"
        yield f"no acceptance test for {', '.join(start.untested)}{left}"


def _choices(start: SessionStart) -> Iterator[str]:
    if start.fail_open:
        yield (
            "FAIL OPEN: a verdict that cannot be read lets the case pass "
            "(TILTH_FAIL_OPEN_ON_UNPARSED), and the commit says unparsed"
        )
    for name in start.unknown_reviewers:
        yield (
            f"reviewer {name!r} is not defined in evaluators.toml: the default evaluator takes "
            "its place"
        )


def kinships(start: SessionStart) -> Iterator[str]:
    """Say which evaluators are the worker's own model."""
    if not start.evaluate:
        return
    weaker = "the same model on the same endpoint: a weaker second look"
    if start.same_model:
        yield f"evaluator and worker are {weaker}"
    for name in start.same_reviewers:
        yield f"reviewer {name!r} and worker are {weaker}"
