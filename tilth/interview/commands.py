"""The commands of an interview: what a person types to steer it, which is never an answer."""

from __future__ import annotations

from enum import StrEnum


class Command(StrEnum):
    """Name what can be typed instead of an answer."""

    SKIP = "/skip"
    BACK = "/back"
    HELP = "/help"
    QUIT = "/quit"


HELP_LINES = (
    "a number takes an option; anything else is your answer, in your own words",
    "a line that ends with \\ goes on in the next one; a pasted text is one answer",
    "arrow keys move and bring back what you typed before; Ctrl-R searches it",
    f"{Command.SKIP}  leave the question to the seeder, which lists it as open",
    f"{Command.BACK}  answer an earlier question anew",
    f"{Command.QUIT}  stop here; the interview is kept and goes on where you left it",
    f"{Command.HELP}  show this",
)


def command_in(text: str) -> Command | None:
    """Find the command in what was typed: a last line that is nothing else."""
    lines = text.strip().splitlines()
    word = lines[-1].strip().casefold() if lines else ""
    return next((command for command in Command if command == word), None)


def before_command(text: str) -> str:
    """Give what was typed before the line with the command."""
    return "\n".join(text.strip().splitlines()[:-1])
