"""The ledger in words: a rejection as the worker reads it, earlier verdicts as both sides do."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.contract.open_concerns import open_concerns
from tilth.contract.verdict import LedgerEntry, Proof, concern_id, is_settled

LEDGER_INJECT_LIMIT = 5

_RESOLVED = (
    "What counts as resolved: {done} at its root, run this task's acceptance tests "
    "once, no ad-hoc smoke tests, and call submit_case again. Leave everything else as it is."
)

_WHO = {"evaluator": "The evaluator", "harness": "The harness", "person": "The operator"}


def format_reject_feedback(entry: LedgerEntry, index: int, printed: str = "") -> str:
    """Tell the worker what was rejected and what counts as resolved.

    `printed` is what pytest said of the entry's probe.
    """
    if entry.below_threshold:
        return "\n".join(_below_the_bar(entry, index))
    who = _WHO[entry.source]
    lines = [
        f"REJECTED ({entry.rejection_category}). {who} did not accept this case.",
        "",
        f"Concern {concern_id(index)}: {entry.concern}",
    ]
    if entry.evidence:
        lines += ["Evidence:", *(f"- {item}" for item in entry.evidence)]
    lines += [f"Next step: {entry.next_step}", *_probe_lines(entry, printed)]
    if entry.earns_bonus and not entry.parse_failed:
        lines += ["", _RESOLVED.format(done="fix the named concern")]
    return "\n".join(lines)


def _below_the_bar(entry: LedgerEntry, index: int) -> list[str]:
    """Tell what would raise the score; what was praised is no concern."""
    said = (
        "The evaluator would accept this case, but its score of {} is below the bar that was set."
    )
    lines = [f"REJECTED ({entry.rejection_category}). {said.format(entry.score)}", ""]
    if entry.wants is None:
        return [*lines, f"It named no change that would raise it, and said: {entry.concern}"]
    lines.append(f"Next step ({concern_id(index)}): {entry.wants}")
    return [*lines, "", _RESOLVED.format(done="make this change")]


def place_in(ledger: Sequence[LedgerEntry], entry: LedgerEntry) -> int:
    """Find an entry that was appended; a person may have said more since."""
    same = (
        index
        for index in reversed(range(len(ledger)))
        if (ledger[index].ts, ledger[index].concern) == (entry.ts, entry.concern)
    )
    return next(same, len(ledger) - 1)


def _probe_lines(entry: LedgerEntry, printed: str) -> list[str]:
    if entry.proof is None or entry.probe is None:
        return []
    if entry.proof is Proof.UNPROVEN:
        return ["", "The evaluator's test for this concern does not fail: it is not proven."]
    return [
        "",
        "This test fails on your change because of the concern:",
        "",
        entry.probe.strip("\n"),
        "",
        "It printed:",
        "",
        printed.strip("\n") or "(nothing)",
        "",
        (
            "It is run on your next case before the evaluator sees it. Fix the cause in the "
            "product code; do not add this test. If the test itself is wrong, say in "
            "`uncertainties` why."
        ),
    ]


def format_ledger(entries: Sequence[LedgerEntry]) -> str:
    """Show the last verdicts on a task, oldest first, and every earlier one that is still open."""
    lines = []
    first = max(0, len(entries) - LEDGER_INJECT_LIMIT)
    still_open = (index for index in open_concerns(entries) if index < first)
    for index in (*still_open, *range(first, len(entries))):
        lines += _ledger_lines(entries[index], index, settled=_settled(entries, index))
    return "\n".join(lines)


def _settled(entries: Sequence[LedgerEntry], index: int) -> bool:
    return is_settled(index, (entry.resolved for entry in entries[index + 1 :]))


def _ledger_lines(entry: LedgerEntry, index: int, *, settled: bool) -> list[str]:
    score = "" if entry.score is None else f", score {entry.score}"
    state = " (settled)" if settled else ""
    category = f" {entry.rejection_category}" if entry.rejection_category else ""
    low = ", accepted but scored too low" if entry.below_threshold else ""
    said = f"{entry.verdict}{category}{score}{low}, by {entry.source}"
    lines = [f"- {concern_id(index)}{state}: {said}"]
    lines.append(f"  {'said' if entry.below_threshold else 'concern'}: {entry.concern}")
    if entry.evidence:
        lines.append(f"  evidence: {'; '.join(entry.evidence)}")
    if entry.next_step and not (entry.below_threshold and entry.wants is None):
        lines.append(f"  next step: {entry.next_step}")
    if entry.proof is not None:
        lines.append(f"  {_PROOF_WORDS[entry.proof]}")
    return lines


_PROOF_WORDS = {
    Proof.PROVEN: "proven: a test was run on that change and failed",
    Proof.UNPROVEN: "unproven: the test given for it did not fail",
}
