"""The terminal: an interview with the person who sits there.

Questions, options and model text are shown as text, never as markup. It reads lines and draws; it
decides nothing about the interview.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TextIO

from tilth.budget import Meter
from tilth.console import wants_live
from tilth.events import Event
from tilth.inert import inert, one_line
from tilth.payloads import ModelRetry, Nudge, PromptAssembled, ToolCalled, ToolResulted
from tilth.seed.draft import WRITE_SEED
from tilth.seed.frontend import SeedSummary
from tilth.seed.plain import spent_line, summary_lines
from tilth.seed.question import ASK_USER, DECIDE_YOURSELF, Question

if TYPE_CHECKING:
    from rich.console import Console

SKIP = "/skip"
_OWN_WORDS = "in your own words, several lines"
_HINT = f"a number, or your own words; end a line with \\ to go on; {SKIP} leaves it to the seeder"
_PASTE_S = 0.05

ReadLine = Callable[[str], str]


class TerminalFrontend:
    """Ask on a terminal; it is also a sink that shows what the seeder is doing."""

    def __init__(
        self, stream: TextIO, environ: Mapping[str, str], read_line: ReadLine | None = None
    ) -> None:
        from rich.console import Console

        live = wants_live(stream, environ)
        self._console: Console = Console(
            file=stream,
            force_terminal=live,
            no_color=not live,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )
        self._read_line = read_line or _read_line

    def ask(self, question: Question) -> str:
        """Show a question with its options and give the answer in full words."""
        self._say("")
        self._say(inert(question.question), "bold")
        for number, option in enumerate(question.options, start=1):
            self._say(f"  {number}. {one_line(option, 400)}")
        own = len(question.options) + 1
        if question.options:
            self._say(f"  {own}. {_OWN_WORDS}")
        self._say(f"  ({_HINT})", "dim")
        while True:
            answer = self._read("> ").strip()
            if answer == SKIP:
                return DECIDE_YOURSELF
            number = int(answer) if answer.isascii() and answer.isdigit() else 0
            if question.options and number == own:
                answer = self._read_block()
            elif question.options and 0 < number < own:
                return question.options[number - 1]
            if answer:
                return answer
            self._say(f"  (nothing was typed: {_HINT})", "dim")

    def update_tokens(self, meter: Meter, turns: int) -> None:
        self._say(f"  {spent_line(meter, turns)}", "dim")

    def show_summary(self, summary: SeedSummary) -> None:
        self._say("")
        first, *rest = summary_lines(summary)
        self._say(first, "bold green")
        for line in rest:
            self._say(line)

    def take(self, event: Event) -> None:
        """Show what goes on between two questions."""
        match event.payload:
            case PromptAssembled(role="seeder", head=head):
                model = one_line(str(head.get("model")), 80)
                self._say(f"interview {event.session} with {model}", "bold")
                self._say("  it reads first, then asks; Ctrl-C keeps it for later", "dim")
            case PromptAssembled(role="evaluator"):
                self._say("  the contract is being reviewed …", "dim")
            case ToolCalled(name=name) if name == WRITE_SEED.name:
                self._say("  the seed is being proven on the base …", "dim")
            case ToolCalled(name=name, arguments=arguments) if name != ASK_USER.name:
                self._say(f"  {one_line(name, 40)} {_subject(arguments)}".rstrip(), "dim")
            case ToolResulted(name=name, is_error=True, content=content) if name == WRITE_SEED.name:
                self._refused(content)
            case Nudge():
                self._say("  the seeder called no tool; it was told so", "yellow")
            case ModelRetry(error=error):
                self._say(f"  the endpoint failed, trying again: {one_line(error)}", "yellow")

    def _refused(self, content: str) -> None:
        self._say("  the seed goes back to the seeder:", "yellow")
        for line in content.splitlines():
            if line.startswith("- "):
                self._say(f"    {one_line(line, 300)}", "yellow")

    def _read(self, prompt: str) -> str:
        """Read one answer: a line, those it is continued by, and what was pasted with it."""
        lines = [self._read_line(prompt)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1].removesuffix("\\")
            lines.append(self._read_line(". "))
        while _more_is_there():
            lines.append(self._read_line(""))
        return "\n".join(lines)

    def _read_block(self) -> str:
        self._say("  (an empty line ends it)", "dim")
        lines = []
        while (line := self._read_line(". ")).strip():
            lines.append(line)
        return "\n".join(lines).strip()

    def _say(self, text: str, style: str = "") -> None:
        from rich.text import Text

        self._console.print(Text(text, style=style))


def _subject(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    shown = next((arguments[key] for key in ("pattern", "path") if key in arguments), "")
    return one_line(shown, 100) if isinstance(shown, str) else ""


def _read_line(prompt: str) -> str:
    """Read a line with the terminal's own editing; its end is a wish to stop."""
    try:
        return input(prompt)
    except EOFError:
        raise KeyboardInterrupt from None
    except UnicodeDecodeError:
        # Not text: the same as nothing, and asked for again.
        return ""


def _more_is_there() -> bool:
    """Tell whether a paste has left more lines; they belong to the same answer."""
    try:
        handle = sys.stdin.fileno()
        if not os.isatty(handle):
            return False
        ready, _, _ = select.select([handle], [], [], _PASTE_S)
    except (OSError, ValueError):
        return False
    return bool(ready)
