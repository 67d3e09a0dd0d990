"""Probes: the text of one pytest file, run on a copy of a tree as the gate runs tests.

A probe comes from the evaluator and is no more trusted than the worker's code: it runs behind the
same wall, on a copy that is thrown away.
"""

from __future__ import annotations

from tilth.base.errors import UserError
from tilth.gate.evidence import MOST_PROBE_CHARS, Probed, ProbeOutcome, shortened
from tilth.gate.export import Runtime, open_export
from tilth.gate.overlay import place
from tilth.gate.pytest_config import pytest_setup
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.seed_proof import Proof

PROBE = "tests/test_tilth_probe.py"


def run_probe(runtime: Runtime, proof: Proof, text: str, timeout_s: float) -> Probed:
    """Run a probe on the proof's tree and say what pytest made of it."""
    if len(text) > MOST_PROBE_CHARS:
        return Probed(outcome=ProbeOutcome.TOO_LONG)
    content = text.encode("utf-8", "backslashreplace")
    try:
        end = _run(runtime, proof, content, timeout_s)
    except (UserError, OSError) as error:
        # No pytest here, or no room for a copy: that is no reason to end a night's work.
        return Probed(outcome=ProbeOutcome.NOT_COLLECTED, output=str(error))
    return Probed(
        outcome=_outcome(end),
        output=shortened(end.finished.output),
        duration_ms=end.finished.duration_ms,
    )


def _run(runtime: Runtime, proof: Proof, content: bytes, timeout_s: float) -> PytestEnd:
    with open_export(runtime, proof.tree, proof.overlay) as export:
        place(export.path, PROBE, content)
        setup = pytest_setup(proof.read, [content.decode()])
        return run_pytest(export, (PROBE,), setup, timeout_s)


def _outcome(end: PytestEnd) -> ProbeOutcome:
    if end.run is None:
        too_slow = end.finished.timed_out
        return ProbeOutcome.TIMED_OUT if too_slow else ProbeOutcome.NOT_COLLECTED
    own = [result for result in end.run.results if result.node.startswith(f"{PROBE}::")]
    # A fixture that is missing, or a file that cannot be imported, says nothing of the change.
    if any(result.ending == "failed" for result in own):
        return ProbeOutcome.FAILED
    whole = not any(result.ending == "error" for result in end.run.results)
    if whole and any(result.ending == "passed" for result in own):
        return ProbeOutcome.PASSED
    return ProbeOutcome.NOT_COLLECTED
