"""Encodings that a file declares: named where Python goes by them, and nowhere else."""

from __future__ import annotations

import pytest

from tilth.gate.tampering import suspicious_lines


def added(text: str) -> str:
    return f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+{text}\n"


@pytest.mark.parametrize("line", ["# -*- coding: utf-7 -*-", "# vim: set fileencoding=rot13 :"])
def test_another_encoding_is_named(line: str) -> None:
    [note] = suspicious_lines(added(line))
    assert note.startswith("a.py:1: declares the encoding ")


@pytest.mark.parametrize(
    "line",
    ["# -*- coding: utf-8 -*-", "# coding=UTF8", "# coding: utf_8_sig", "x = 'coding: utf-7'"],
)
def test_the_usual_encoding_is_not(line: str) -> None:
    assert suspicious_lines(added(line)) == ()


def test_an_encoding_counts_where_python_looks_for_one() -> None:
    line = "# coding: utf-7"
    at = "--- /dev/null\n+++ b/{}\n@@ -{},0 +{},1 @@\n+" + line + "\n"
    assert len(suspicious_lines(at.format("a.py", 1, 2))) == 1
    assert len(suspicious_lines(at.format("a.pyi", 1, 1))) == 1
    assert suspicious_lines(at.format("a.py", 2, 3)) == ()
    assert suspicious_lines(at.format("a.txt", 1, 1)) == ()
