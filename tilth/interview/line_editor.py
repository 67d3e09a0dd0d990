"""The line editor: reads an answer with arrow keys, history and pastes of several lines.

It draws on stderr, so that stdout holds nothing but a command's result; what was typed is given as
it was, and means nothing here.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from tilth.interview.commands import command_in

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_PASTE_S = 0.05
_GOES_ON = ". "
# A space without a style is drawn by a move of the cursor, which copies and logs do not show.
_STYLE = "fg:ansidefault"


class Reads(Protocol):
    """Read what a person types."""

    def read(self, prompt: str, *, text: str = "", block: bool = False) -> str:
        """Give an answer; `text` stands there already, a block goes on to an empty line.

        KeyboardInterrupt when the person wants to stop.
        """
        ...

    def remember(self, answer: str) -> None:
        """Offer an earlier answer in the history."""
        ...

    def forget_keys(self) -> None:
        """Drop what was typed before anything was asked."""
        ...


class LineEditor:
    """Read from the terminal the command stands on."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str], *, live: bool) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.input import create_input
        from prompt_toolkit.output import ColorDepth
        from prompt_toolkit.output.vt100 import Vt100_Output

        output = Vt100_Output.from_pty(stream, term=environ.get("TERM"))
        # Not every terminal says where its cursor stands, and nothing here needs to know.
        output.enable_cpr = False
        self._history = InMemoryHistory()
        self._input = create_input(sys.stdin)
        self._block = False
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            prompt_continuation=[(_STYLE, _GOES_ON)],
            history=self._history,
            key_bindings=self._keys(),
            enable_suspend=True,
            input=self._input,
            output=output,
            color_depth=None if live else ColorDepth.DEPTH_1_BIT,
            reserve_space_for_menu=0,
        )

    def read(self, prompt: str, *, text: str = "", block: bool = False) -> str:
        self._block = block
        try:
            return self._session.prompt([(_STYLE, prompt)], default=text)
        except EOFError:
            raise KeyboardInterrupt from None

    def remember(self, answer: str) -> None:
        self._history.append_string(answer)

    def forget_keys(self) -> None:
        import termios

        from prompt_toolkit.input.typeahead import clear_typeahead

        clear_typeahead(self._input)
        try:
            termios.tcflush(self._input.fileno(), termios.TCIFLUSH)
        except (OSError, ValueError, termios.error):
            return

    def _keys(self) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()
        keys.add("enter")(self._enter)
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        """Give the answer, or begin its next line."""
        buffer = event.current_buffer
        line = buffer.document.current_line
        is_last = buffer.document.is_cursor_at_the_end
        if self._block and not (is_last and (not line.strip() or command_in(line))):
            buffer.newline(copy_margin=False)
        elif not self._block and is_last and line.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        elif not self._block and _more_comes(event):
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()


def _more_comes(event: KeyPressEvent) -> bool:
    """Tell whether a paste goes on; terminals that do not mark pastes send them all at once."""
    if event.app.key_processor.input_queue:
        return True
    handle: Callable[[], int] = event.app.input.fileno
    try:
        ready, _, _ = select.select([handle()], [], [], _PASTE_S)
    except (OSError, ValueError):
        return False
    return bool(ready)
