"""A person's text, made fit for a model: what was meant, without what a terminal put in.

An arrow key that nobody handled, a pasted colour or a stray NUL is no part of an answer. Line
breaks and tabs stay.
"""

from __future__ import annotations

import re

# Escape sequences first and whole: without their first character the rest would look like text.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # cursor keys, colours, paste marks
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles and links
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?"  # device strings
    r"|\x1bO[@-~]"  # keys of an application keypad
    r"|\x1b[ -/]*[0-~]?"
)
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def person_text(text: str) -> str:
    """Give a text without control characters; only line breaks and tabs are left."""
    plain = _SEQUENCES.sub("", _BREAKS.sub("\n", text))
    return _CONTROLS.sub("", plain).strip()
