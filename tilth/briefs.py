"""The briefs: what each side sees, as a type, and the text it becomes.

Visibility is decided by the views: a worker's view has no field for tokens or caps, an evaluator's
view none for the worker's conversation. The words stand in `prompts/*.md`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources

from tilth.case import Blocker, Case, render_case
from tilth.prd import Task
from tilth.requests import Answered
from tilth.values import Value
from tilth.verdict import LedgerEntry, format_ledger

DIFF_LIMIT = 200_000
FILE_LIMIT = 60_000
_TASK_LINE = re.compile(r"#(?=[^\S\n]*Your task:)", re.IGNORECASE)

NUDGE = (
    "Your answer called no tool, so nothing happened. Go on with the task: call a tool, or call "
    "`submit_case` if every criterion is met."
)
CUT_CALL = (
    "Not executed: your answer was cut off at the length limit, so this call may be incomplete. "
    "Make it again, in smaller pieces if it is long."
)
CUT_TEXT = (
    "Your answer was cut off at the length limit and called no tool. Go on in smaller steps: call "
    "one tool, or `submit_case` if every criterion is met."
)
TRIM_STUB = "[older output removed to make room; make the call again if you still need it]"
INTERRUPTED_CALL = (
    "This call was interrupted: the harness stopped before its result was recorded. It was not run "
    "again and its effect is unknown. Look at the state of the files before you go on."
)
ONE_CASE = "Not heard: only the first submit_case or raise_blocker of an answer is heard."


class NamedText(Value):
    """Hold a text and where it comes from."""

    name: str
    text: str


class Upstream(Value):
    """Say what a task this one depends on has delivered."""

    id: str
    title: str
    summary: str | None
    files: tuple[str, ...]
    below_bar: bool
    score: int | None


class Background(Value):
    """Hold the useful part of the interview."""

    tldr: str | None = None
    scope_notes: str | None = None
    open_questions: tuple[str, ...] = ()


class WorkerView(Value):
    """Hold all that the worker may see when its conversation begins."""

    task: Task
    tests: tuple[str, ...]
    plan: tuple[tuple[str, str], ...]
    upstream: tuple[Upstream, ...]
    answers: tuple[str, ...]
    ledger: tuple[LedgerEntry, ...]
    conventions: tuple[NamedText, ...]
    background: Background
    progress: tuple[str, ...]


class EvaluatorView(Value):
    """Hold all that the evaluator may see."""

    task: Task
    diff: str
    case: Case
    seed_tests: tuple[NamedText, ...]
    validators: str
    red_to_green: str
    tampering: tuple[str, ...]
    upstream: tuple[Upstream, ...]
    conventions: tuple[NamedText, ...]
    ledger: tuple[LedgerEntry, ...]
    threshold: int
    answers: tuple[Answered, ...] = ()


class DisputeView(Value):
    """Hold all that the evaluator may see of a blocker."""

    task: Task
    blocker: Blocker
    seed_tests: tuple[NamedText, ...]
    diff: str
    answers: tuple[Answered, ...] = ()


@cache
def _template(name: str) -> string.Template:
    text = resources.files("tilth").joinpath("prompts", f"{name}.md").read_text("utf-8")
    return string.Template(text)


def render(name: str, **values: str) -> str:
    """Fill a prompt; a missing variable raises a KeyError that names it."""
    return _template(name).substitute(values)


def worker_system() -> str:
    """Give the worker's system prompt."""
    return render("system")


def evaluator_system() -> str:
    """Give the evaluator's system prompt."""
    return render("evaluator")


def dispute_system() -> str:
    """Give the evaluator's system prompt for a ruling on a blocker."""
    return render("dispute-system")


def worker_message(view: WorkerView) -> str:
    """Write the first message of a worker's conversation."""
    return render(
        "worker",
        task_id=view.task.id,
        title=one_line(view.task.title),
        description=_own(view.task.description),
        criteria=_own(_numbered(view.task.acceptance_criteria)),
        tests=_own(_test_list(view.tests)),
        upstream=_section("What this task builds on", _upstream(view.upstream)),
        operator=_section("Answers from the people you work for", _bullets(view.answers)),
        ledger=_section("Earlier verdicts on this task", format_ledger(view.ledger)),
        conventions=_section("Conventions of this project", _files(view.conventions)),
        background=_section("Background", _background(view.background)),
        plan=_section("The whole plan (context, not work to do)", _plan(view.plan)),
        progress=_section("What has happened so far", "\n".join(view.progress)),
    )


def evaluator_message(view: EvaluatorView, nonce: str) -> str:
    """Write the one message the evaluator judges by."""
    block = _fence(nonce)
    tests = [block(test.name, _bounded(test.text)) for test in view.seed_tests]
    conventions = [block(file.name, _bounded(file.text)) for file in view.conventions]
    return render(
        "review",
        nonce=nonce,
        task_id=view.task.id,
        title=one_line(view.task.title),
        description=view.task.description,
        criteria=_numbered(view.task.acceptance_criteria),
        operator=_operator(view.answers, block),
        change_note=_change_note(view.diff),
        diff=block("diff", view.diff[:DIFF_LIMIT] or "(no change)"),
        case=block("case", render_case(view.case)),
        seed_tests="\n\n".join(tests) or "This task has no acceptance test: you stand alone here.",
        validators=block("checks", view.validators),
        red_to_green=block("red-to-green", view.red_to_green),
        tampering=block("tampering", _bullets(view.tampering) or "Nothing was found."),
        upstream=_blocked("What this task builds on", _upstream(view.upstream), block),
        conventions=_section("Conventions of this project", "\n\n".join(conventions)),
        ledger=_blocked("Prior iterations on this task", format_ledger(view.ledger), block),
        score_note=_score_note(view.threshold),
    )


def dispute_message(view: DisputeView, nonce: str) -> str:
    """Write the one message the evaluator rules on a blocker by."""
    block = _fence(nonce)
    tests = [block(test.name, _bounded(test.text)) for test in view.seed_tests]
    said = f"{view.blocker.reason}\n\n{view.blocker.evidence or ''}".strip()
    return render(
        "dispute",
        nonce=nonce,
        task_id=view.task.id,
        title=one_line(view.task.title),
        description=view.task.description,
        criteria=_numbered(view.task.acceptance_criteria),
        operator=_operator(view.answers, block),
        seed_tests="\n\n".join(tests) or "This task has no acceptance test.",
        blocker=block("blocker", said),
        diff=block("diff", view.diff[:DIFF_LIMIT] or "(no change)"),
    )


def _fence(nonce: str) -> Callable[[str, str], str]:
    """Give what puts a text between marks that nobody who wrote it could know."""

    def block(name: str, text: str) -> str:
        return f"<<<{nonce} {name}\n{text}\n{nonce}>>>"

    return block


def _blocked(heading: str, body: str, block: Callable[[str, str], str]) -> str:
    return _section(heading, block(heading.lower(), body)) if body else ""


def _operator(answers: Sequence[Answered], block: Callable[[str, str], str]) -> str:
    """Show what a person has ruled; the question was a model's, so only that stands in a block."""
    parts = [f"{block('question', item.question)}\n\n{one_line(item.answer)}" for item in answers]
    if not parts:
        return ""
    heading = "Answers of the person this is for (they amend the contract)"
    return _section(heading, "\n\n".join(parts))


def _change_note(diff: str) -> str:
    if len(diff) <= DIFF_LIMIT:
        return "The whole cumulative diff of this task:"
    shown, whole = DIFF_LIMIT, len(diff)
    return (
        f"THE DIFF IS CUT: only its first {shown} of {whole} characters are shown. What you cannot "
        "see you cannot vouch for."
    )


def _score_note(threshold: int) -> str:
    return " A `score` is required." if threshold else ""


def one_line(text: str) -> str:
    """Fold a text to one line, so that it cannot pose as structure."""
    return " ".join(text.split())


def _own(text: str) -> str:
    # The line that names the task stands once; text from elsewhere may not repeat it, whatever
    # counts as the end of a line.
    return _TASK_LINE.sub(r"\\#", text)


def _section(heading: str, body: str) -> str:
    return f"\n## {heading}\n\n{_own(body)}\n" if body.strip() else ""


def _numbered(items: Iterable[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _test_list(tests: Sequence[str]) -> str:
    if not tests:
        return "None were written for this task: the criteria alone are the contract."
    return _bullets(f"`tests/{name}`" for name in tests)


def _plan(plan: Sequence[tuple[str, str]]) -> str:
    return _bullets(f"{task_id} {one_line(title)}" for task_id, title in plan)


def _upstream(upstream: Sequence[Upstream]) -> str:
    lines = []
    for item in upstream:
        score = "unknown" if item.score is None else str(item.score)
        prefix = f"[ACCEPTED BELOW QUALITY BAR, score {score}] " if item.below_bar else ""
        lines.append(f"- {prefix}{item.id} {one_line(item.title)}")
        if item.summary:
            lines.append(f"  delivered: {one_line(item.summary)}")
        if item.files:
            lines.append(f"  files: {', '.join(item.files)}")
    return "\n".join(lines)


def _files(files: Sequence[NamedText]) -> str:
    return "\n\n".join(f"From `{file.name}`:\n\n{_bounded(file.text)}" for file in files)


def _bounded(text: str) -> str:
    if len(text) <= FILE_LIMIT:
        return text
    return f"{text[:FILE_LIMIT]}\n[cut: {len(text) - FILE_LIMIT} more characters]"


def _background(background: Background) -> str:
    parts = [background.tldr or "", background.scope_notes or ""]
    if background.open_questions:
        parts.append("Open questions:\n" + _bullets(background.open_questions))
    return "\n\n".join(part for part in parts if part.strip())
