"""`tilth show`: one task, its verdicts, case, validator reports and diff.

The header goes to stderr, so that stdout can be redirected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from tilth.case import render_case
from tilth.cli.edge import tell
from tilth.cli.finding import find
from tilth.cli.looking.dossier import Dossier, gather, settled_by
from tilth.cli.looking.page import Page
from tilth.cli.looking.phrases import outcome_counts
from tilth.inert import one_line
from tilth.outcomes import ExitCode
from tilth.payloads import ValidatorRun
from tilth.telling import figures
from tilth.telling.note import Tone
from tilth.values import jsonable
from tilth.verdict import LedgerEntry, concern_id


def show(
    wanted: str, task_id: str, *, as_json: bool, environ: Mapping[str, str] = os.environ
) -> int:
    """Print all there is to know about one task."""
    dossier = gather(find(wanted, environ), task_id)
    page = Page.out(environ)
    if as_json:
        page.json(_document(dossier))
        return ExitCode.DONE
    for line in _header(dossier):
        tell(one_line(line, 400))
    for title, text in _sections(dossier):
        page.line(f"## {title}", Tone.HEAD)
        page.line(f"\n{text}\n" if text else "")
    _put_diff(dossier, page)
    return ExitCode.DONE


def _header(dossier: Dossier) -> Iterator[str]:
    task, failure = dossier.task, dossier.trace.failure
    below = " BELOW BAR" if task.quality_flag else ""
    why = f" ({failure.reason})" if failure else ""
    commit = task.commit or (
        dossier.trace.commit.commit if failure and dossier.trace.commit else ""
    )
    yield f"{task.id} {task.title}"
    yield figures.joined(
        (
            f"{task.status}{below}{why}",
            f"commit {figures.short_sha(commit)}" if commit else "no commit",
            "no score" if task.score is None else f"score {task.score}",
            figures.counted(len(dossier.ledger), "verdict"),
            f"session {dossier.session.id}",
        )
    )


def _sections(dossier: Dossier) -> Iterator[tuple[str, str]]:
    task, trace = dossier.task, dossier.trace
    criteria = enumerate(task.acceptance_criteria, start=1)
    yield "Acceptance criteria", "\n".join(f"{number}. {text}" for number, text in criteria)
    verdicts = [_verdict(dossier.ledger, index) for index in range(len(dossier.ledger))]
    yield "Verdicts", "\n".join(verdicts) or "None yet."
    yield "Last case", render_case(trace.submitted.case) if trace.submitted else "None yet."
    reports = [_report(report) for report in trace.reports]
    yield "Validators on the last case", "\n\n".join(reports) or "None ran."
    if trace.tampered:
        notes = [note for each in trace.tampered for note in (*each.files, *each.notes)]
        yield "TAMPERING", "\n".join(f"- {note}" for note in dict.fromkeys(notes))
    if trace.already_green:
        yield "Green before the work began", "\n".join(f"- {name}" for name in trace.already_green)
    if trace.failure and trace.failure.detail:
        yield "Why it failed", trace.failure.detail


def _verdict(ledger: tuple[LedgerEntry, ...], index: int) -> str:
    entry = ledger[index]
    settled = settled_by(ledger, index)
    parts = [
        str(entry.verdict),
        str(entry.rejection_category or ""),
        "" if entry.score is None else f"score {entry.score}",
        f"by {entry.source}",
        "below the threshold" if entry.below_threshold else "",
        "could not be read" if entry.parse_failed else "",
        f"iteration {entry.iter}",
        f"settled by {settled}" if settled else "",
    ]
    lines = [f"{concern_id(index)}  {figures.joined(parts)}", f"    {entry.concern}"]
    lines += [f"    evidence: {item}" for item in entry.evidence]
    if entry.next_step:
        lines.append(f"    next step: {entry.next_step}")
    if entry.resolved:
        lines.append(f"    settles: {', '.join(entry.resolved)}")
    return "\n".join(lines)


def _report(report: ValidatorRun) -> str:
    outcome = "passed" if report.passed else "FAILED"
    counts = outcome_counts(report.tests)
    head = figures.joined(
        (f"{report.name}: {outcome}", counts, figures.seconds(report.duration_ms))
    )
    return f"{head}\n{report.output.rstrip()}".rstrip()


def _put_diff(dossier: Dossier, page: Page) -> None:
    diff = dossier.diff
    page.line("## Diff", Tone.HEAD)
    page.line(f"\n{diff.about[:1].upper()}{diff.about[1:]}.")
    if diff.text is None:
        return
    page.line()
    for line in diff.text.removesuffix("\n").split("\n") if diff.text else ["It is empty."]:
        page.line(line, _tone(line))


def _tone(line: str) -> Tone:
    if line.startswith(("+++", "---", "diff ")):
        return Tone.HEAD
    return {"+": Tone.GOOD, "-": Tone.BAD, "@": Tone.QUIET}.get(line[:1], Tone.PLAIN)


def _document(dossier: Dossier) -> dict[str, Any]:
    trace, ledger = dossier.trace, dossier.ledger
    return {
        "session": dossier.session.id,
        "task": jsonable(dossier.task),
        "verdicts": [
            {
                "id": concern_id(index),
                "settled_by": settled_by(ledger, index),
                **jsonable(entry),
            }
            for index, entry in enumerate(ledger)
        ],
        "case": jsonable(trace.submitted.case) if trace.submitted else None,
        "tree": trace.submitted.tree if trace.submitted else None,
        "validators": [jsonable(report) for report in trace.reports],
        "tampered": [jsonable(each) for each in trace.tampered],
        "already_green": list(trace.already_green),
        "failure": jsonable(trace.failure) if trace.failure else None,
        "diff": dossier.diff.text,
        "diff_about": dossier.diff.about,
    }
