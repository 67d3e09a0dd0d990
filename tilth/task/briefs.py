"""The briefs: what each side sees, as a type, and the text it becomes.

Visibility is decided by the views: a worker's view has no field for tokens or caps, an evaluator's
view none for the worker's conversation. The words stand in `prompts/*.md`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from tilth.base.safe_text import folded
from tilth.base.values import Value
from tilth.contract.case import Blocker, Case, render_case
from tilth.contract.ledger_text import format_ledger
from tilth.contract.operator_requests import Answered
from tilth.contract.prd import Task
from tilth.contract.verdict import LedgerEntry
from tilth.model.messages import Turn
from tilth.model.written_call import written_call
from tilth.task.operator_briefs import for_evaluator, for_worker
from tilth.task.shown_change import ShownChange

FILE_LIMIT = 60_000
ROOT_LIMIT = 40
BLOCK_WORD = 6
PRIOR = "Prior iterations on this task"
FILES_LIMIT = 200
_TASK_LINE = re.compile(r"#(?=[^\S\n]*Your task:)", re.IGNORECASE)

NUDGE = (
    "Your answer called no tool, so nothing happened. Go on with the task: call a tool, or call "
    "`submit_case` if every criterion is met."
)
_WRITTEN_CALL = (
    "Your answer holds a tool call written as text. Text is not executed: nothing happened. Make "
    "the call itself, as a tool call of the API and not as JSON in your answer: {name} with the "
    "arguments {arguments}."
)
TRY_FIRST = (
    "Nothing has been tried yet: no file has changed and this task's tests have not been run. Look "
    "at the code with `read_file` and `grep`, run the acceptance tests to see how they fail, and "
    "make the change. If that shows that the task cannot be met as written, raise this again with "
    "what you saw."
)
CUT_CALL = (
    "Not executed: your answer was cut off at the length limit, so this call may be incomplete. "
    "Make it again, in smaller pieces if it is long."
)
CUT_TEXT = (
    "Your answer was cut off at the length limit and called no tool. Go on in smaller steps: call "
    "one tool, or `submit_case` if every criterion is met."
)
INTERRUPTED_CALL = (
    "This call was interrupted: the harness stopped before its result was recorded. It was not run "
    "again and its effect is unknown. Look at the state of the files before you go on."
)
UNCHANGED = (
    "Nothing has changed since the last case, which failed: it was not checked again. Once more "
    "without a change ends the task. What was found then still stands:"
)
LAST_TURN = (
    "[This was your last look. Your next answer must be the verdict: call submit_verdict alone.]"
)
LACKING = (
    "Your verdict could be read, but it lacks something. Call submit_verdict once more, whole: "
    "with what you have said already, and with"
)
TURNS_NOTE = "You may give {looks} answers that look before the one that rules. "
SCORE_NOTE = (
    " A `score` is required, and the bar is {threshold}: name a `next_step` with every score below "
    "it, whatever your verdict."
)
NOTE_FIRST = (
    "Not looked at: the person you work for has a note for you first, below. Act on it, then call "
    "{name} again if it still stands."
)
ONE_CASE = "Not heard: only the first submit_case or raise_blocker of an answer is heard."


def nudge(turn: Turn, tools: Sequence[Mapping[str, Any]]) -> str:
    """Say what to do after an answer that called no tool."""
    if turn.was_cut:
        return CUT_TEXT
    tool = written_call(turn.text, tools)
    if tool is None:
        return NUDGE
    arguments = ", ".join(f"`{name}`" for name in tool["input_schema"].get("properties", {}))
    return _WRITTEN_CALL.format(name=f"`{tool['name']}`", arguments=arguments)


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
    root: tuple[str, ...] = ()
    plan: tuple[tuple[str, str], ...]
    upstream: tuple[Upstream, ...]
    answers: tuple[str, ...]
    ledger: tuple[LedgerEntry, ...]
    conventions: tuple[NamedText, ...]
    background: Background
    progress: tuple[str, ...]
    notes: tuple[str, ...] = ()


class EvaluatorView(Value):
    """Hold all that the evaluator may see."""

    task: Task
    change: ShownChange
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
    notes: tuple[str, ...] = ()
    # What its own open probes did on this change, and what became of faults planted in it.
    probes: str = ""
    mutants: str = ""
    # Answers it may give before the last one, which must be the verdict; 1 without tools.
    turns: int = 1


class DisputeView(Value):
    """Hold all that the evaluator may see of a blocker."""

    task: Task
    blocker: Blocker
    seed_tests: tuple[NamedText, ...]
    change: ShownChange
    files: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    notes: tuple[str, ...] = ()


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


def evaluator_system(*, can_look: bool = False) -> str:
    """Give the evaluator's system prompt."""
    return render("evaluator", looking=render("evaluator-looks" if can_look else "evaluator-reads"))


def dispute_system() -> str:
    """Give the evaluator's system prompt for a ruling on a blocker."""
    return render("dispute-system")


def block_word(random_hex: str) -> str:
    """Give the word that marks the blocks of one message: short, and new every time."""
    return random_hex[:BLOCK_WORD]


def worker_message(view: WorkerView) -> str:
    """Write the first message of a worker's conversation."""
    return render(
        "worker",
        task_id=view.task.id,
        title=folded(view.task.title),
        description=_own(view.task.description),
        criteria=_own(_numbered(view.task.acceptance_criteria)),
        tests=_own(_test_list(view.tests)),
        root=_section("The files", _root(view.root)),
        upstream=_section("What this task builds on", _upstream(view.upstream)),
        operator=_sections(for_worker(view.answers, view.notes, view.ledger)),
        ledger=_section(PRIOR, format_ledger(view.ledger)),
        conventions=_section("Conventions of this project", _files(view.conventions)),
        background=_section("Background", _background(view.background)),
        plan=_section("The whole plan (context, not work to do)", _plan(view.plan)),
        progress=_section("What has happened so far", "\n".join(view.progress)),
    )


def evaluator_message(view: EvaluatorView, nonce: str) -> str:
    """Write the one message the evaluator judges by."""
    block = fence(nonce)
    tests = [block(test.name, _bounded(test.text)) for test in view.seed_tests]
    conventions = [block(file.name, _bounded(file.text)) for file in view.conventions]
    return render(
        "review",
        nonce=nonce,
        task_id=view.task.id,
        title=folded(view.task.title),
        description=view.task.description,
        criteria=_numbered(view.task.acceptance_criteria),
        operator=_sections(for_evaluator(view.answers, view.notes, block)),
        change_note=view.change.note(block),
        diff=view.change.diff(block),
        case=block("case", render_case(view.case)),
        seed_tests="\n\n".join(tests) or "This task has no acceptance test: you stand alone here.",
        validators=block("checks", view.validators),
        red_to_green=block("red-to-green", view.red_to_green),
        tampering=block("tampering", _bullets(view.tampering) or "Nothing was found."),
        upstream=_blocked("What this task builds on", _upstream(view.upstream), block),
        conventions=_section("Conventions of this project", "\n\n".join(conventions)),
        mutants=_blocked("Faults planted in the change", view.mutants, block),
        ledger=_prior_iterations(view.ledger, block),
        probes=_section("Your earlier probes on this change", view.probes),
        turns=_turns_note(view.turns),
        score_note=_score_note(view.threshold),
    )


def dispute_message(view: DisputeView, nonce: str) -> str:
    """Write the one message the evaluator rules on a blocker by."""
    block = fence(nonce)
    tests = [block(test.name, _bounded(test.text)) for test in view.seed_tests]
    said = f"{view.blocker.reason}\n\n{view.blocker.evidence or ''}".strip()
    return render(
        "dispute",
        nonce=nonce,
        task_id=view.task.id,
        title=folded(view.task.title),
        description=view.task.description,
        criteria=_numbered(view.task.acceptance_criteria),
        operator=_sections(for_evaluator(view.answers, view.notes, block)),
        seed_tests="\n\n".join(tests) or "This task has no acceptance test.",
        blocker=block("blocker", said),
        diff=_shown(view.change, block),
        files=block("files", _listed(view.files, FILES_LIMIT) or "(none)"),
    )


def fence(nonce: str) -> Callable[[str, str], str]:
    """Give what puts a text between marks that nobody who wrote it could know."""

    def block(name: str, text: str) -> str:
        return f"<<<{nonce} {name}\n{text}\n{nonce}>>>"

    return block


def _blocked(heading: str, body: str, block: Callable[[str, str], str]) -> str:
    return _section(heading, block(heading.lower(), body)) if body else ""


def _prior_iterations(ledger: Sequence[LedgerEntry], block: Callable[[str, str], str]) -> str:
    """Show earlier verdicts with what to make of them; a first review needs neither."""
    if not ledger:
        return ""
    verdicts = block(PRIOR.lower(), format_ledger(ledger))
    return _section(PRIOR, render("prior-iterations", verdicts=verdicts).rstrip())


def _sections(parts: Iterable[tuple[str, str]]) -> str:
    return "".join(_section(heading, body) for heading, body in parts)


def _shown(change: ShownChange, block: Callable[[str, str], str]) -> str:
    note = "" if change.is_whole else f"{change.cut_note(block)}\n\n"
    return f"{note}{change.diff(block)}"


def _turns_note(turns: int) -> str:
    if turns <= 1:
        return ""
    return TURNS_NOTE.format(looks=turns - 1)


def _score_note(threshold: int) -> str:
    return SCORE_NOTE.format(threshold=threshold) if threshold else ""


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


def _root(names: Sequence[str]) -> str:
    """Show what stands at the root, so that no path has to be guessed."""
    return f"At the root: {_listed(names, ROOT_LIMIT, ', ')}" if names else ""


def _listed(names: Sequence[str], limit: int, between: str = "\n") -> str:
    shown = [folded(name) for name in names[:limit]]
    more = [f"… and {len(names) - limit} more"] if len(names) > limit else []
    return between.join([*shown, *more])


def _plan(plan: Sequence[tuple[str, str]]) -> str:
    return _bullets(f"{task_id} {folded(title)}" for task_id, title in plan)


def _upstream(upstream: Sequence[Upstream]) -> str:
    lines = []
    for item in upstream:
        score = "unknown" if item.score is None else str(item.score)
        prefix = f"[ACCEPTED BELOW QUALITY BAR, score {score}] " if item.below_bar else ""
        lines.append(f"- {prefix}{item.id} {folded(item.title)}")
        if item.summary:
            lines.append(f"  delivered: {folded(item.summary)}")
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
