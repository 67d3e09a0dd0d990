"""What was found by running a change beyond its validators: probes and mutants, as values.

Values and their wording for worker and evaluator. Never runs anything.
"""

from __future__ import annotations

from enum import StrEnum

from tilth.base.values import Value

MOST_PROBE_CHARS = 64_000
MOST_OUTPUT_CHARS = 8_000
_MOST_SURVIVORS = 40


class ProbeOutcome(StrEnum):
    """Say how one run of a probe went."""

    FAILED = "failed"
    PASSED = "passed"
    NOT_COLLECTED = "not_collected"
    TIMED_OUT = "timed_out"
    TOO_LONG = "too_long"

    def words(self) -> str:
        """Say it to a model or a person."""
        return _OUTCOME_WORDS[self]


_OUTCOME_WORDS = {
    ProbeOutcome.FAILED: "it fails",
    ProbeOutcome.PASSED: "it passes",
    ProbeOutcome.NOT_COLLECTED: "pytest ran no test of it",
    ProbeOutcome.TIMED_OUT: "it did not end in time",
    ProbeOutcome.TOO_LONG: f"it is longer than {MOST_PROBE_CHARS} characters and was not run",
}


class Probed(Value):
    """Hold what came of running one probe on one tree."""

    outcome: ProbeOutcome
    output: str = ""
    duration_ms: int = 0

    @property
    def fails(self) -> bool:
        return self.outcome is ProbeOutcome.FAILED

    @property
    def passes(self) -> bool:
        return self.outcome is ProbeOutcome.PASSED

    def render(self) -> str:
        """Say it with what pytest printed."""
        return f"{self.outcome.words()}\n\n{shortened(self.output)}".strip()


class Mutated(Value):
    """Hold what came of the mutants of one change; `survived` names those no test noticed."""

    tried: int = 0
    killed: int = 0
    not_run: int = 0
    survived: tuple[str, ...] = ()

    def render(self) -> str:
        """Say it to the evaluator."""
        rest = f"; {self.not_run} more were not tried for want of time" if self.not_run else ""
        head = f"Faults planted: {self.tried}, noticed by a test: {self.killed}{rest}."
        if not self.survived:
            return head
        shown = [f"- {item}" for item in self.survived[:_MOST_SURVIVORS]]
        more = len(self.survived) - len(shown)
        tail = [f"- … and {more} more"] if more else []
        return "\n".join([head, "Noticed by none:", *shown, *tail])


def bounded(probe: str) -> str:
    """Keep a record from holding what is too long to be run."""
    if len(probe) <= MOST_PROBE_CHARS:
        return probe
    return f"{probe[:2000]}\n# [… {len(probe) - 2000} more characters …]\n"


def shortened(text: str) -> str:
    """Keep the head and the tail of what pytest printed: the failure stands near its end."""
    if len(text) <= MOST_OUTPUT_CHARS:
        return text
    head, tail = MOST_OUTPUT_CHARS // 4, MOST_OUTPUT_CHARS * 3 // 4
    return f"{text[:head]}\n[… {len(text) - head - tail} characters omitted …]\n{text[-tail:]}"
