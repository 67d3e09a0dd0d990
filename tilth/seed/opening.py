"""The opening of an interview: what the seeder is told first, or where it is taken up again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilth.briefs import NamedText, one_line, render
from tilth.clock import stamp
from tilth.errors import UserError
from tilth.exchange.asking import open_conversation
from tilth.messages import Conversation, Role
from tilth.payloads import SessionResume
from tilth.recall.rebuild import Thread
from tilth.seed.draft import WRITE_SEED
from tilth.seed.plain import MAX_TURNS
from tilth.seed.question import ASK_USER
from tilth.seed.recall import Recalled
from tilth.seed.rules import first_free_id
from tilth.seed.table import Table, Talk

_SPEC_FOLDERS = ("", "docs", "doc", "spec", "specs", "plans")
_SPEC_WORDS = ("spec", "prd", "requirements", "brief", "feature", "proposal", "rfc", "design")
_SPEC_SUFFIXES = (".md", ".txt", ".rst", ".adoc", "")
_MOST_SPECS = 10
_MOST_ENTRIES = 80
_MOST_CHARS = 20_000
GOES_ON = "the interview goes on"


@dataclass(frozen=True)
class Anchor:
    """Hold what an interview starts from."""

    brief: str | None
    specs: tuple[str, ...]
    conventions: tuple[NamedText, ...]
    base_files: tuple[str, ...]
    dirty: bool


def open_interview(table: Table, anchor: Anchor) -> Talk:
    """Begin a conversation with the seeder and record it."""
    emit = table.emit.bind(trace_id=table.new_id() + table.new_id(), iter=0)
    table.emit = emit
    conversation = Conversation(
        id=table.new_id(),
        role=Role.SEEDER,
        model=table.seeder.name,
        max_tokens=table.settings.max_output_tokens,
        system=render("seeder", turns=str(MAX_TURNS)),
        tools=(*table.reader.specs, ASK_USER, WRITE_SEED),
    )
    conversation.say(table.mask.result(first_message(table.source, anchor)))
    open_conversation(conversation, table.seeder, emit)
    return Talk(conversation=conversation, emit=emit, begun=stamp(table.clock.now()))


def first_message(root: Path, anchor: Anchor) -> str:
    """Write the first message of an interview."""
    return render(
        "interview",
        entries=_entries(root),
        first_id=first_free_id(anchor.base_files),
        state=_state(anchor),
        specs=_specs(anchor.specs),
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
    return tuple(path for path in found if (root / path).is_file())[:_MOST_SPECS]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _entries(root: Path) -> str:
    names = [name for name in _names(root) if name != ".git"]
    shown = [f"- {one_line(n)}{'/' if (root / n).is_dir() else ''}" for n in names[:_MOST_ENTRIES]]
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


def _conventions(files: Sequence[NamedText]) -> str:
    if not files:
        return ""
    texts = "\n\n".join(f"From `{file.name}`:\n\n{file.text[:_MOST_CHARS]}" for file in files)
    return f"\n## Conventions of this project\n\n{texts}\n"


def _brief(anchor: Anchor) -> str:
    if anchor.brief:
        return f"The user's brief:\n\n{anchor.brief}"
    return "The user has given no brief: after your scan, ask what they want to build."


def take_up(table: Table, recalled: Recalled, last_stop: str | None) -> Talk:
    """Go on with an interview where its log ended."""
    thread = recalled.thread
    if thread is None:
        raise ValueError("an interview without a conversation cannot be taken up")
    _same_seeder(table, thread)
    table.emit = table.emit.bind(trace_id=recalled.trace_id, iter=recalled.turns)
    table.emit(
        SessionResume(
            last_stop=last_stop, retried=(), pending=(), unwound_commit=None, notes=(GOES_ON,)
        )
    )
    talk = Talk(
        conversation=thread.conversation,
        emit=table.emit,
        begun=recalled.begun,
        turns=recalled.turns,
        quiet=recalled.quiet,
        asked=recalled.asked,
        review=recalled.review,
        review_told=recalled.review_told,
        open_turn=recalled.open_turn,
    )
    if talk.open_turn is None:
        thread.settle()
    else:
        talk.answered, talk.taken_up = dict(thread.results), True
    return talk


def _same_seeder(table: Table, thread: Thread) -> None:
    was = (thread.conversation.model, thread.endpoint)
    if was != (table.seeder.name, table.seeder.endpoint):
        raise UserError(
            f"the interview was begun with {was[0]} at {was[1]}: set TILTH_PREP_MODEL and "
            "TILTH_PREP_BASE_URL to them to go on, or begin anew with --force"
        )
