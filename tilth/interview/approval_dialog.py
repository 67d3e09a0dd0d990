"""The approval dialog: a person reads the criteria and approves, changes or edits them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilth.base.errors import UserError
from tilth.base.safe_text import one_line
from tilth.interview.approval import (
    Approval,
    Approved,
    ChangeWanted,
    Rewritten,
    SeedView,
    SheetTask,
    WentBack,
)
from tilth.interview.commands import Command
from tilth.interview.criteria_sheet import read_sheet, same_sheet, write_sheet
from tilth.interview.prompter import Prompter
from tilth.interview.summary import approval_lines
from tilth.interview.text_editor import edit, editor_of

_APPROVE = frozenset({"", "1", "a", "approve", "approved", "y", "yes", "ok"})
_CHANGE = frozenset({"2", "c", "change"})
_EDIT = frozenset({"3", "e", "edit"})
_FILE = "criteria.md"


class ApprovalDialog:
    """Hold the talk about one seed."""

    def __init__(
        self,
        prompter: Prompter,
        environ: Mapping[str, str],
        go_back: Callable[[], WentBack | None],
    ) -> None:
        self._prompter = prompter
        self._environ = environ
        self._go_back = go_back

    def hold(self, seed: SeedView) -> Approval:
        """Show the seed until the person has said what is to become of it."""
        self._prompter.rest()
        # A key that was hit while nothing was asked must not approve anything.
        self._prompter.forget_keys()
        self._show(seed)
        while True:
            self._offer(seed)
            said = self._hear(seed)
            if said is not None:
                return said

    def _show(self, seed: SeedView) -> None:
        say = self._prompter.say
        say("")
        first, *rest = approval_lines(seed)
        say(first, "bold")
        for line in rest:
            say(line)

    def _offer(self, seed: SeedView) -> None:
        say = self._prompter.say
        say("")
        say("Is this what you want? Nothing is written until you approve it.", "bold")
        say("  1. approve")
        if seed.can_change:
            editor = one_line(editor_of(self._environ), 40) or "set EDITOR first"
            say("  2. change: say what is wrong, and it goes back to the seeder")
            say(f"  3. edit the criteria yourself ({editor})")
            hint = "Enter approves; a number, or right away what is to change"
        else:
            hint = "Enter approves; the seeder has no turn left to change anything"
        say(f"  ({hint}; {Command.BACK}, {Command.HELP}, {Command.QUIT})", "dim")

    def _hear(self, seed: SeedView) -> Approval | None:
        """Give what the person decided; None when they are to be asked again."""
        said = self._prompter.read()
        word = said.casefold()
        if said is Command.SKIP:
            self._prompter.say("  (only you can approve it)", "dim")
            return None
        if word in _APPROVE:
            return Approved()
        if not seed.can_change:
            self._prompter.say("  (the seeder has no turn left)", "dim")
            return None
        if said is Command.BACK:
            return self._go_back()
        if word in _CHANGE:
            return self._change()
        if word in _EDIT:
            return self._edit(seed)
        return _wish(said)

    def _change(self) -> ChangeWanted | None:
        say = self._prompter.say
        say("What is to be different? An empty line ends it.", "bold")
        said = self._prompter.read(". ", block=True)
        return None if said in (Command.BACK, Command.SKIP, "") else _wish(said)

    def _edit(self, seed: SeedView) -> Rewritten | None:
        """Have the criteria edited; a sheet that cannot be read is opened again as it was left."""
        say = self._prompter.say
        before = tuple(SheetTask.of(task) for task in seed.tasks)
        text = write_sheet(before)
        while True:
            try:
                text = edit(text, _FILE, self._environ)
            except UserError as error:
                say(f"  {one_line(str(error), 300)}", "yellow")
                return None
            try:
                after = read_sheet(text)
            except UserError as error:
                say(f"  {one_line(str(error), 300)}", "yellow")
                say(f"  (Enter opens it again; {Command.BACK} leaves it)", "dim")
                if self._prompter.read() == "":
                    continue
                return None
            if after and not same_sheet(before, after):
                return Rewritten(tasks=after)
            say("  (nothing was changed)", "dim")
            return None


def _wish(said: str) -> ChangeWanted:
    return ChangeWanted(text=said)
