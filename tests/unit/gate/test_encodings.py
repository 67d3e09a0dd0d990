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


def hunk(path: str, header: str, *lines: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ {header} @@\n" + "".join(f"{line}\n" for line in lines)


UTF7 = "# coding: utf-7"


@pytest.mark.parametrize(
    "diff",
    [
        hunk("a.py", "-1,4 +1,2", "-# one", "-# two", f" {UTF7}", " x = 1"),
        hunk("a.py", "-1,3 +1,2", "-# one", " # two", f" {UTF7}"),
        hunk("a.py", "-1,2 +1,2", "-x = 1", "+# one", f" {UTF7}"),
        hunk("a.py", "-1,3 +1,2", "-x = 1", f" {UTF7}", " y = 1"),
        hunk("a.pyw", "-0,0 +1", f"+{UTF7}"),
        hunk("tool", "-0,0 +1,2", "+#!/usr/bin/env python3", f"+{UTF7}"),
        hunk("tool", "-1,2 +1,3", "+#!/usr/bin/python", f" {UTF7}", " x = 1"),
        hunk("tool", "-1,2 +1,2", "-#!/bin/sh", "+#!/usr/bin/python", f" {UTF7}"),
    ],
)
def test_an_encoding_that_takes_effect_is_named_however_it_came_to_its_place(diff: str) -> None:
    [note] = suspicious_lines(diff)
    assert "declares the encoding utf-7" in note


@pytest.mark.parametrize(
    "diff",
    [
        hunk("a.py", "-1,2 +1,3", " # coding: latin-1", " x = 1", "+y = 2"),
        hunk("a.py", "-1,2 +1,3", "-# one", "+# uno", " # coding: latin-1", "+y = 2"),
        hunk("a.py", "-1,2 +1,2", "-# coding: latin-1", "+# one", " x = 1"),
        hunk("a.py", "-1,3 +1,2", " x = 1", "-y = 1", f" {UTF7}"),
        hunk("a.py", "-2,3 +2,2", " x = 1", "-y = 1", f" {UTF7}"),
        hunk("tool", "-0,0 +1,2", "+#!/bin/sh", f"+{UTF7}"),
        hunk("tool", "-0,0 +1", f"+{UTF7}"),
    ],
)
def test_an_encoding_that_was_in_force_or_never_is_takes_no_note(diff: str) -> None:
    assert suspicious_lines(diff) == ()


def test_each_file_of_a_diff_is_looked_at_for_itself() -> None:
    first = hunk("a.py", "-1 +1", "-x = 1", "+#!/usr/bin/python")
    assert suspicious_lines(first + hunk("tool", "-2,1 +2,2", " x", f"+{UTF7}")) == ()
