"""The terminal: an interview with the person who sits there.

It shows questions and what goes on between them, and gives the answers; it decides nothing about
the interview.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TextIO

from tilth.base.safe_text import inert, one_line
from tilth.interview.approval import Approval, SeedView, WentBack
from tilth.interview.approval_dialog import ApprovalDialog
from tilth.interview.commands import Command
from tilth.interview.draft import WRITE_SEED
from tilth.interview.frontend import SeedSummary
from tilth.interview.line_editor import LineEditor, Reads
from tilth.interview.plain_lines import PlainLines
from tilth.interview.prompter import Prompter
from tilth.interview.question import ASK_USER, DECIDE_YOURSELF, Question
from tilth.interview.summary import spent_line, summary_lines
from tilth.log.events import (
    Event,
    ModelRetry,
    Nudge,
    PromptAssembled,
    QuotaWait,
    SessionPrepared,
    SessionResume,
    Stop,
    ToolCalled,
    ToolResulted,
)
from tilth.show.live import wants_live
from tilth.show.times import clock_time
from tilth.task.budget import Meter

_OWN_WORDS = "in your own words, several lines"
_HINT = (
    "a number, or your own words; end a line with \\ to go on; "
    f"{Command.SKIP} leaves it to the seeder; {Command.HELP} says more"
)
_AT_WORK = "the seeder is at work"


class TerminalFrontend:
    """Ask on a terminal; it is also a sink that shows what the seeder is doing."""

    def __init__(
        self, stream: TextIO, environ: Mapping[str, str], reads: Reads | None = None
    ) -> None:
        live = wants_live(stream, environ)
        self._prompter = Prompter(stream, reads or _reader(stream, environ, live), live=live)
        self._environ = environ
        self._answers: list[tuple[Question, str]] = []

    def recall(self, answers: Iterable[tuple[Question, str]]) -> None:
        """Take up what was asked and answered in an earlier sitting."""
        for question, answer in answers:
            self._keep(question, answer)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._prompter.rest()

    def ask(self, question: Question) -> str | WentBack:
        """Show a question with its options and give the answer in full words."""
        while True:
            self._show(question)
            said = self._answer(question)
            if said is not Command.BACK:
                self._keep(question, said)
                return said
            back = self._go_back()
            if back is not None:
                return back

    def approve(self, seed: SeedView) -> Approval:
        """Show the criteria and hear what the person says to them."""
        dialog = ApprovalDialog(self._prompter, self._environ, self._go_back)
        return dialog.hold(seed)

    def update_tokens(self, meter: Meter, turns: int) -> None:
        self._say(f"  {spent_line(meter, turns)}", "dim")

    def show_summary(self, summary: SeedSummary) -> None:
        self._prompter.rest()
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
                told = f"it reads first, then asks; Ctrl-C or {Command.QUIT} keeps it for later"
                self._say(f"  {told}", "dim")
            case PromptAssembled(role="evaluator"):
                self._say("  the contract is being reviewed …", "dim")
            case ToolCalled(name=name) if name == WRITE_SEED.name:
                self._say("  the tests are being tried on the last commit …", "dim")
            case ToolCalled(name=name, arguments=arguments) if name != ASK_USER.name:
                self._say(f"  {one_line(name, 40)} {_subject(arguments)}".rstrip(), "dim")
            case ToolResulted(name=name, is_error=True, content=content) if name == WRITE_SEED.name:
                self._refused(content)
            case Nudge():
                self._say("  the seeder called no tool; it was told so", "yellow")
            case QuotaWait(until=until):
                self._say(f"  a limit is reached, waiting until {clock_time(until)}", "yellow")
            case ModelRetry(error=error):
                self._say(f"  the endpoint failed, trying again: {one_line(error)}", "yellow")
        self._wait(event)

    def _wait(self, event: Event) -> None:
        """Have the spinner say what is waited for after an event."""
        match event.payload:
            case Stop() | SessionPrepared():
                self._prompter.rest()
            case ToolCalled(name=name) if name == WRITE_SEED.name:
                self._prompter.wait("the tests are being tried")
            case PromptAssembled(role="evaluator"):
                self._prompter.wait("the evaluator reads the contract")
            case PromptAssembled() | SessionResume() | ToolResulted() | Nudge():
                self._prompter.wait(_AT_WORK)

    def _refused(self, content: str) -> None:
        problems = [line for line in content.splitlines() if line.startswith("- ")]
        self._say(f"  it goes back to the seeder{':' if problems else ''}", "yellow")
        for line in problems:
            self._say(f"    {one_line(line, 300)}", "yellow")

    def _keep(self, question: Question, answer: str) -> None:
        self._answers.append((question, answer))
        self._prompter.remember(answer)

    def _show(self, question: Question) -> None:
        self._prompter.rest()
        self._say("")
        self._say(inert(question.question), "bold")
        for number, option in enumerate(question.options, start=1):
            self._say(f"  {number}. {one_line(option, 400)}")
        if question.options:
            self._say(f"  {len(question.options) + 1}. {_OWN_WORDS}")
        self._say(f"  ({_HINT})", "dim")

    def _answer(self, question: Question, *, needed: bool = True) -> str:
        """Read until there is an answer in full words, or `/back`."""
        own, block = len(question.options) + 1, False
        while True:
            said = self._prompter.read(". " if block else "> ", block=block)
            if said is Command.SKIP:
                return DECIDE_YOURSELF
            number = int(said) if said.isascii() and said.isdigit() and not block else 0
            if question.options and 0 < number < own:
                return question.options[number - 1]
            if question.options and number == own:
                block = True
                self._say("  (an empty line ends it)", "dim")
            elif said or not needed:
                return said
            else:
                block = False
                self._say(f"  (nothing was typed: {_HINT})", "dim")

    def _go_back(self) -> WentBack | None:
        """Have an earlier question answered anew; None when everything stays as it was."""
        for index in reversed(range(len(self._answers))):
            question, was = self._answers[index]
            self._show(question)
            shown = "left to the seeder" if was == DECIDE_YOURSELF else one_line(was, 400)
            kept = f"Enter keeps it, {Command.BACK} goes further back"
            self._say(f"  (your answer was: {shown}; {kept})", "dim")
            said = self._answer(question, needed=False)
            if said is Command.BACK:
                continue
            if said in ("", was):
                return None
            self._answers[index] = (question, said)
            self._prompter.remember(said)
            return WentBack(question=question.question, answer=said)
        self._say("  (there is no earlier question)", "dim")
        return None

    def _say(self, text: str, style: str = "") -> None:
        self._prompter.say(text, style)


def _reader(stream: TextIO, environ: Mapping[str, str], live: bool) -> Reads:
    if environ.get("TERM", "dumb") in ("", "dumb"):
        return PlainLines(stream)
    return LineEditor(stream, environ, live=live)


def _subject(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return ""
    shown = next((arguments[key] for key in ("pattern", "path") if key in arguments), "")
    return one_line(shown, 100) if isinstance(shown, str) else ""
