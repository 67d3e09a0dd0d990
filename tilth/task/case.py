"""The case: what a worker submits, frozen, and the gates that need no judgement."""

from __future__ import annotations

import re

from tilth.base.values import digest
from tilth.contract.case import Case
from tilth.contract.left_out import left_out_notes
from tilth.contract.prd import Plan
from tilth.contract.verdict import LedgerEntry, RejectionCategory, harness_reject
from tilth.gate.findings import Validation
from tilth.log.events import CaseSubmitted, GateSteered, SeedTampered
from tilth.model.messages import ToolCall
from tilth.task.attempt import Attempt, Green, OpenReview, Snapshot, Submission
from tilth.task.bench import Bench
from tilth.task.opening import baseline_of, validator_run
from tilth.task.proving import run_gate
from tilth.task.review import judged

_MARKER = re.compile(rb"(?m)^(<{7} landed|>{7} this-change)\b")


def snapshot(bench: Bench, attempt: Attempt) -> Snapshot:
    """Freeze the worktree as it stands."""
    frozen = bench.tree.freeze(attempt.base)
    diff = bench.tree.diff(attempt.base, frozen.tree)
    left_out = {skipped.path: skipped.why for skipped in frozen.skipped}
    return Snapshot(frozen.tree, frozen.nested, left_out, diff, digest(diff))


def resubmitted(bench: Bench, attempt: Attempt, left: OpenReview) -> Submission:
    """Give a case that was frozen and validated before an interruption, from its record."""
    attempt.green = Green(left.tree, left.case)
    diff = bench.tree.diff(attempt.base, left.tree)
    return Submission(left.tree, (), {}, diff, left.diff_sha256, left.case)


def submit(attempt: Attempt, call: ToolCall, case: Case, seen: Snapshot) -> Submission:
    """Put a frozen worktree up for judgement."""
    attempt.emit(
        CaseSubmitted(
            call_id=call.id,
            case=case,
            tree=seen.tree,
            diff_sha256=seen.diff_sha256,
            left_out=seen.left_out,
        )
    )
    about = (seen.tree, seen.nested, seen.left_out, seen.diff, seen.diff_sha256)
    return Submission(*about, case)


def is_untouched(bench: Bench, attempt: Attempt, seen: Snapshot) -> bool:
    """Tell whether nothing has changed, and the tests were not green from the start.

    A further round is asked for because something is wrong: no change cannot settle it.
    """
    if seen.nested or seen.diff:
        return False
    return attempt.task.round > 1 or not baseline_of(bench, attempt).was_green


def untouched_reject(bench: Bench, attempt: Attempt, seen: Snapshot) -> LedgerEntry:
    """Reject a tree in which nothing has changed."""
    said = "; ".join(left_out_notes(seen.left_out))
    return harness_reject(
        judged(bench, attempt, seen, {}),
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern=f"No file has changed since the task began. {said}".strip(),
        next_step="Use `edit_file` or `write_file` to make the change the task asks for.",
    )


def mechanical_reject(bench: Bench, attempt: Attempt, seen: Snapshot) -> LedgerEntry | None:
    """Reject what needs no judgement: a nested repository, or no change at all."""
    if is_untouched(bench, attempt, seen):
        return untouched_reject(bench, attempt, seen)
    marked = still_marked(bench, attempt, seen.tree)
    if marked:
        return harness_reject(
            judged(bench, attempt, seen, {}),
            category=RejectionCategory.SPEC_VIOLATION,
            concern=f"Conflict markers are left in {', '.join(marked)}.",
            evidence=marked,
            next_step="Resolve each conflict so that both changes hold, and remove its markers.",
        )
    if not seen.nested:
        return None
    return harness_reject(
        judged(bench, attempt, seen, {}),
        category=RejectionCategory.SPEC_VIOLATION,
        concern=f"The worktree holds a nested git repository: {', '.join(seen.nested)}.",
        next_step="Remove it, or turn it into plain files.",
    )


def still_marked(bench: Bench, attempt: Attempt, tree: str) -> tuple[str, ...]:
    """Name the files in which a conflict with what has landed is marked as ever."""
    texts = {path: bench.tree.read(tree, path) or b"" for path in attempt.conflicted}
    return tuple(path for path, text in texts.items() if _MARKER.search(text))


def validate(bench: Bench, attempt: Attempt, plan: Plan, submission: Submission) -> Validation:
    """Run the validators on the frozen tree, and record what each said."""
    baseline = baseline_of(bench, attempt)
    validation = run_gate(
        bench, attempt.task, plan, attempt.base, submission.tree, baseline, attempt.emit
    )
    for report in validation.reports:
        attempt.tell(validator_run(bench, report, phase="case", tree=submission.tree))
    if validation.tampered:
        attempt.emit(SeedTampered(files=validation.tampered, notes=validation.notes))
    if validation.steering:
        attempt.emit(GateSteered(**dict(validation.steering)))
    notes = (*validation.notes, *left_out_notes(submission.left_out))
    return validation.model_copy(update={"notes": notes})
