"""The opening of an interview: what the seeder is told first, or where it is taken up again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tilth.base.clock import stamp
from tilth.base.errors import UserError
from tilth.base.plain_file import stays_inside
from tilth.base.safe_text import folded
from tilth.contract.numbering import first_free_id
from tilth.interview.bench import MAX_TURNS, InterviewBench, InterviewState
from tilth.interview.draft import WRITE_SEED
from tilth.interview.logged import LoggedInterview
from tilth.interview.question import ASK_USER
from tilth.log.conversations import Thread
from tilth.log.events import SessionResume
from tilth.model.messages import Conversation, Role
from tilth.task.asking import open_conversation
from tilth.task.briefs import NamedText, render

_SPEC_FOLDERS = ("", "docs", "doc", "spec", "specs", "plans")
_SPEC_WORDS = ("spec", "prd", "requirements", "brief", "feature", "proposal", "rfc", "design")
_SPEC_SUFFIXES = (".md", ".txt", ".rst", ".adoc", "")
_MOST_SPECS = 10
_MOST_ENTRIES = 80
_MOST_CHARS = 20_000


@dataclass(frozen=True)
class Anchor:
    """Hold what an interview starts from."""

    brief: str | None
    specs: tuple[str, ...]
    conventions: tuple[NamedText, ...]
    base_files: tuple[str, ...]
    dirty: bool
    seed_concerns: tuple[str, ...] = ()
    # The ids that landed commits name.
    landed: frozenset[str] = frozenset()


def open_interview(bench: InterviewBench, anchor: Anchor) -> InterviewState:
    """Begin a conversation with the seeder and record it."""
    emit = bench.emit.bind(trace_id=bench.new_id() + bench.new_id(), iter=0)
    bench.emit = emit
    conversation = Conversation(
        id=bench.new_id(),
        role=Role.SEEDER,
        model=bench.seeder.name,
        max_tokens=bench.settings.max_output_tokens,
        system=render("seeder", turns=str(MAX_TURNS)),
        tools=(*bench.reader.specs, ASK_USER, WRITE_SEED),
    )
    conversation.say(bench.mask.result(first_message(bench.source, anchor)))
    open_conversation(conversation, bench.seeder, emit)
    return InterviewState(conversation=conversation, emit=emit, begun=stamp(bench.clock.now()))


def first_message(root: Path, anchor: Anchor) -> str:
    """Write the first message of an interview."""
    return render(
        "interview",
        entries=_entries(root),
        first_id=first_free_id(anchor.base_files, anchor.landed),
        state=_state(anchor),
        specs=_specs(anchor.specs),
        concerns=_concerns(anchor.seed_concerns),
        conventions=_conventions(anchor.conventions),
        brief=_brief(anchor),
    )


def find_specs(root: Path) -> tuple[str, ...]:
    """Name the documents of a repository that may hold a spec, committed or not."""
    found = []
    for folder in _SPEC_FOLDERS:
        for name in _names(root / folder):
            stem, suffix = os.path.splitext(name.lower())
            words = stem.replace("-", " ").replace("_", " ").split()
            if suffix in _SPEC_SUFFIXES and any(word in _SPEC_WORDS for word in words):
                found.append(f"{folder}/{name}" if folder else name)
    # A link out of the repository would tell the names that a hidden directory holds.
    plain = (path for path in found if stays_inside(root, root / path) and (root / path).is_file())
    return tuple(islice(plain, _MOST_SPECS))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _entries(root: Path) -> str:
    names = [name for name in _names(root) if name != ".git"]
    shown = [f"- {folded(n)}{'/' if (root / n).is_dir() else ''}" for n in names[:_MOST_ENTRIES]]
    more = [f"- … and {len(names) - _MOST_ENTRIES} more"] if len(names) > _MOST_ENTRIES else []
    return _written([*shown, *more]) or "- (nothing)"


def _written(lines: Iterable[str]) -> str:
    # A name from the file system may hold bytes that are no text.
    return "\n".join(lines).encode("utf-8", "backslashreplace").decode()


def _state(anchor: Anchor) -> str:
    if not anchor.dirty:
        return ""
    return (
        "\nThere are uncommitted changes. You can read them, but the work starts from the last "
        "commit: if the feature rests on them, say so to the user.\n"
    )


def _specs(specs: Sequence[str]) -> str:
    if not specs:
        return ""
    listed = _written(f"- `{path}`" for path in specs)
    return (
        "\n## Documents that may hold a spec\n\n"
        f"{listed}\n\nRead them first. Where one describes this feature, confirm what it says and "
        "ask only about the gaps.\n"
    )


def _concerns(concerns: Sequence[str]) -> str:
    if not concerns:
        return ""
    listed = _written(f"- {folded(concern)}" for concern in concerns)
    return (
        "\n## What evaluators found weak in earlier acceptance tests here\n\n"
        f"{listed}\n\nWrite tests that do not have these weaknesses.\n"
    )


def _conventions(files: Sequence[NamedText]) -> str:
    if not files:
        return ""
    texts = "\n\n".join(f"From `{file.name}`:\n\n{file.text[:_MOST_CHARS]}" for file in files)
    return f"\n## Conventions of this project\n\n{texts}\n"


def _brief(anchor: Anchor) -> str:
    if anchor.brief:
        return f"The user's brief:\n\n{anchor.brief}"
    return "The user has given no brief: after your scan, ask what they want to build."


def go_on_from(
    bench: InterviewBench, logged: LoggedInterview, last_stop: str | None
) -> InterviewState:
    """Go on with an interview where its log ended."""
    thread = logged.thread
    if thread is None:
        raise ValueError("an interview without a conversation cannot be taken up")
    _same_seeder(bench, thread)
    bench.emit = bench.emit.bind(trace_id=logged.trace_id, iter=logged.turns)
    bench.emit(
        SessionResume(
            last_stop=last_stop, retried=(), pending=(), unwound_commit=None, interview=True
        )
    )
    state = InterviewState(
        conversation=thread.conversation,
        emit=bench.emit,
        begun=logged.begun,
        turns=logged.turns,
        quiet=logged.quiet,
        asked=logged.asked,
        review=logged.review,
        review_told=logged.review_told,
        open_turn=logged.open_turn,
    )
    if state.open_turn is None:
        thread.settle()
    else:
        state.answered, state.is_continued = dict(thread.results), True
    return state


def _same_seeder(bench: InterviewBench, thread: Thread) -> None:
    was = (thread.conversation.model, thread.endpoint)
    if was != (bench.seeder.name, bench.seeder.endpoint):
        raise UserError(
            f"the interview was begun with {was[0]} at {was[1]}: set TILTH_PREP_MODEL and "
            "TILTH_PREP_BASE_URL to them to go on, or begin anew with --force"
        )
