"""The prompter: lines out, what was typed in, and a spinner in between, on one terminal.

What it shows is text, never markup. `/help` and `/quit` are heard here, wherever something is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from tilth.interview.commands import HELP_LINES, Command, before_command, command_in
from tilth.interview.line_editor import Reads
from tilth.interview.person_text import person_text
from tilth.interview.question import DECIDE_YOURSELF
from tilth.show.spinner import Spinner

if TYPE_CHECKING:
    from rich.console import Console


class Prompter:
    """Hold the two directions of a terminal together, so that they never write over each other."""

    def __init__(self, stream: TextIO, reads: Reads, *, live: bool) -> None:
        from rich.console import Console

        self._console: Console = Console(
            file=stream,
            force_terminal=live,
            no_color=not live,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )
        self._reads = reads
        self._spinner = Spinner(stream, live=live)

    def say(self, text: str, style: str = "") -> None:
        """Print a line; text that a model wrote is made inert before."""
        from rich.text import Text

        with self._spinner.aside():
            self._console.print(Text(text, style=style))

    def wait(self, doing: str) -> None:
        """Say what is waited for, until something is asked."""
        self._spinner.turn(doing)

    def rest(self) -> None:
        """Wait for nothing any more."""
        self._spinner.stop()

    def read(self, prompt: str = "> ", *, block: bool = False) -> str:
        """Give what was typed, without control characters; a command is given as such."""
        text = ""
        while True:
            self.rest()
            typed = self._reads.read(prompt, text=text, block=block)
            said = person_text(typed)
            command = command_in(said)
            if command is Command.QUIT:
                raise KeyboardInterrupt
            if command is not Command.HELP:
                return command or said
            for line in HELP_LINES:
                self.say(f"  {line}", "dim")
            text = before_command(said)

    def remember(self, answer: str) -> None:
        """Offer an answer in the history; one that was left to the seeder is none."""
        if answer != DECIDE_YOURSELF:
            self._reads.remember(answer)

    def forget_keys(self) -> None:
        """Drop what was typed before anything was asked."""
        self._reads.forget_keys()
