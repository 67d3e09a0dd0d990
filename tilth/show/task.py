"""`tilth show`: one task, what it is, its verdicts, case, validator reports and diff.

The header goes to stderr, so that stdout can be redirected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from tilth.base.hidden_characters import in_plain_sight
from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.contract.case import claimed_in, render_case
from tilth.contract.outcomes import ExitCode
from tilth.contract.verdict import LedgerEntry, concern_id
from tilth.log.events import OperatorSpoke, ProbeRun, SecondOpinion, ValidatorRun
from tilth.session.shown_mask import find_to_show
from tilth.show import figures
from tilth.show.evidence_lines import mutants_text
from tilth.show.lines import test_counts
from tilth.show.night_lines import opinion_words
from tilth.show.note import Tone
from tilth.show.notices import tell
from tilth.show.tables import Page
from tilth.show.task_view import TaskView, settled_by, view_task
from tilth.show.transcript import print_transcript


def show(
    wanted: str,
    task_id: str,
    *,
    as_json: bool = False,
    transcript: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Print all there is to know about one task, or its whole conversation."""
    session = find_to_show(wanted, environ)
    view = view_task(session, task_id)
    page = Page.out(environ, session.mask)
    if transcript:
        print_transcript(view, page)
        return ExitCode.DONE
    if as_json:
        page.json(_document(view))
        return ExitCode.DONE
    for line in _header(view):
        tell(one_line(session.mask.known(line), 400))
    for title, text in _sections(view):
        page.line(f"## {title}", Tone.HEAD)
        page.line(f"\n{text}\n" if text else "")
    _put_diff(view, page)
    return ExitCode.DONE


def _header(view: TaskView) -> Iterator[str]:
    task, failure = view.task, view.state.failure
    below = " BELOW BAR" if task.quality_flag else ""
    why = f" ({failure.reason})" if failure else ""
    kept = view.state.commit
    commit = task.commit or (kept.commit if failure and kept else "")
    yield f"{task.id} {task.title}"
    yield figures.joined(
        (
            f"{task.status}{below}{why}",
            f"commit {figures.short_sha(commit)}" if commit else "no commit",
            "no score" if task.score is None else f"score {task.score}",
            figures.counted(len(view.ledger), "verdict"),
            figures.counted(task.rescue_count, "rescue"),
            f"round {task.round}" if task.round > 1 else "",
            f"session {view.session.id}",
        )
    )


def _sections(view: TaskView) -> Iterator[tuple[str, str]]:
    task, state = view.task, view.state
    yield "Task", "\n".join(_facts(view))
    yield "Description", task.description
    criteria = enumerate(task.acceptance_criteria, start=1)
    yield "Acceptance criteria", "\n".join(f"{number}. {text}" for number, text in criteria)
    if view.words:
        yield "What people said", "\n".join(_said(word) for word in view.words)
    verdicts = [_verdict(view.ledger, index) for index in range(len(view.ledger))]
    yield "Verdicts", "\n".join(verdicts) or "None yet."
    if state.opinions:
        yield "Second opinions", "\n".join(_opinion(said) for said in state.opinions)
    yield "Last case", _case(view) or "None yet."
    reports = [_report(report) for report in state.attempt.validators]
    yield "Validators on the last case", "\n\n".join(reports) or "None ran."
    if state.probes:
        yield "Probes", "\n\n".join(_probe(run) for run in state.probes)
    if state.mutants:
        yield "Mutants of the last case", mutants_text(state.mutants)
    if state.tampered:
        notes = [note for each in state.tampered for note in (*each.files, *each.notes)]
        yield "TAMPERING", "\n".join(f"- {note}" for note in dict.fromkeys(notes))
    if state.already_green:
        yield "Green before the work began", "\n".join(f"- {name}" for name in state.already_green)
    if state.failure and state.failure.detail:
        stood = figures.failure(state.failure.reason, state.failure.obstacle)
        yield "Why it failed", f"{stood}\n{state.failure.detail}"


def _facts(view: TaskView) -> Iterator[str]:
    task = view.task
    yield f"agent     {task.agent or 'none yet'}"
    yield f"rescues   {task.rescue_count}"
    yield f"round     {task.round}"
    yield f"worktree  {view.session.workspace}"
    yield f"tests     {', '.join(view.tests) or 'none'}"
    if task.depends_on:
        yield f"after     {', '.join(task.depends_on)}"
    if view.built_on:
        yield f"note      built on {', '.join(view.built_on)}, which was sent back"


def _said(word: OperatorSpoke) -> str:
    refused = f" (not done: {word.refused})" if word.refused else ""
    text = f": {word.text}" if word.text else ""
    return f"- {word.verb}{text}{refused}"


def _case(view: TaskView) -> str:
    """Render the last case, with the text of each criterion beside its number."""
    if view.state.submitted is None:
        return ""
    case, wanted = view.state.submitted.case, view.task.acceptance_criteria
    items = tuple(
        item.model_copy(update={"criterion": named or item.criterion})
        for item in case.ac_coverage
        for named in ["; ".join(f"{n}. {wanted[n - 1]}" for n in claimed_in(item, wanted))]
    )
    return render_case(case.model_copy(update={"ac_coverage": items}))


def _verdict(ledger: tuple[LedgerEntry, ...], index: int) -> str:
    entry = ledger[index]
    settled = settled_by(ledger, index)
    parts = [
        str(entry.verdict),
        str(entry.rejection_category or ""),
        "" if entry.score is None else f"score {entry.score}",
        f"by {entry.source}",
        str(entry.proof or ""),
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


def _opinion(said: SecondOpinion) -> str:
    score = "" if said.score is None else f"score {said.score}"
    below = "below the threshold" if said.below_threshold else ""
    proof = str(said.proof or "")
    lines = [figures.joined((opinion_words(said), score, below, proof))]
    lines += [f"    {said.concern}"] if said.concern else []
    lines += [f"    evidence: {item}" for item in said.evidence]
    lines += [f"    next step: {said.next_step}"] if said.next_step else []
    return "\n".join(lines)


def _report(report: ValidatorRun) -> str:
    outcome = "passed" if report.passed else "FAILED"
    counts = test_counts(report.tests)
    head = figures.joined(
        (f"{report.name}: {outcome}", counts, figures.seconds(report.duration_ms))
    )
    return f"{head}\n{report.output.rstrip()}".rstrip()


def _probe(run: ProbeRun) -> str:
    whose = run.concern or "a new concern"
    head = f"{whose}, on tree {figures.short_sha(run.tree)}: {run.outcome.words()}"
    return f"{head}\n\n{run.probe.strip()}\n\n{run.output.strip()}".rstrip()


def _put_diff(view: TaskView, page: Page) -> None:
    diff = view.diff
    page.line("## Diff", Tone.HEAD)
    page.line(f"\n{diff.about[:1].upper()}{diff.about[1:]}.")
    if diff.text is None:
        return
    page.line()
    text = in_plain_sight(view.session.mask.known(diff.text.removesuffix("\n"))) or "It is empty."
    for line in text.split("\n"):
        page.line(line, _tone(line))


def _tone(line: str) -> Tone:
    if line.startswith(("+++", "---", "diff ")):
        return Tone.HEAD
    return {"+": Tone.GOOD, "-": Tone.BAD, "@": Tone.QUIET}.get(line[:1], Tone.PLAIN)


def _document(view: TaskView) -> dict[str, Any]:
    state, ledger = view.state, view.ledger
    return {
        "session": view.session.id,
        "task": jsonable(view.task),
        "verdicts": [
            {
                **jsonable(entry),
                "id": concern_id(index),
                "settled_by": settled_by(ledger, index),
            }
            for index, entry in enumerate(ledger)
        ],
        "worktree": str(view.session.workspace),
        "tests": list(view.tests),
        "built_on_sent_back": list(view.built_on),
        "words": [jsonable(word) for word in view.words],
        "case": jsonable(state.submitted.case) if state.submitted else None,
        "tree": state.submitted.tree if state.submitted else None,
        "validators": [jsonable(report) for report in state.attempt.validators],
        "second_opinions": [jsonable(said) for said in state.opinions],
        "probes": [jsonable(run) for run in state.probes],
        "mutants": jsonable(state.mutants) if state.mutants else None,
        "tampered": [jsonable(each) for each in state.tampered],
        "already_green": list(state.already_green),
        "failure": jsonable(state.failure) if state.failure else None,
        "diff": view.diff.text,
        "diff_about": view.diff.about,
    }
