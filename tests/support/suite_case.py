"""A small case of an evaluator's suite, written to disk and broken as a test needs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HEADER = """\
id = "even-numbers"
category = "tests_pass_but_wrong"
title = "Tell even numbers"
description = "The report lists even numbers only."
acceptance_criteria = ["is_even(n) is whether n is even, for every whole number"]
"""
BASE = "def double(n):\n    return 2 * n\n"
VISIBLE = """\
from numbers_ import is_even


def test_even():
    assert is_even(2)
    assert not is_even(3)
"""
HIDDEN = """\
from numbers_ import is_even


def test_zero_and_below():
    assert is_even(0)
    assert is_even(-4)
"""
REMAINDER = "    return n % 2 == 0\n"
LAST_BIT = "    return not n & 1\n"
ABOVE_ZERO = "    return n > 0 and n % 2 == 0\n"


def patch(body: str, note: str = "What it is.") -> str:
    """Give a change that adds the asked function with a body."""
    return f"""{note}

diff --git a/numbers_.py b/numbers_.py
--- a/numbers_.py
+++ b/numbers_.py
@@ -1,2 +1,6 @@
 def double(n):
     return 2 * n
+
+
+def is_even(n):
+{body}"""


def write_case(suite: Path, changed: Mapping[str, str | None] | None = None) -> Path:
    """Write a case that holds, but for the files that get another text, or none at all (None)."""
    files: dict[str, str | None] = {
        "case.toml": HEADER,
        "base/numbers_.py": BASE,
        "visible/test_t001_even.py": VISIBLE,
        "hidden/test_hidden_even.py": HIDDEN,
        "right/remainder.patch": patch(REMAINDER),
        "wrong/above-zero.patch": patch(ABOVE_ZERO, "Zero and below are refused."),
    }
    folder = suite / "even-numbers"
    for name, text in (files | dict(changed or {})).items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode("utf-8"))
    return folder
