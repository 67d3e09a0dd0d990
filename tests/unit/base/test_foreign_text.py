"""Text of foreign origin: whatever makes Python's readers slow or raise is one error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tilth.base.errors import BadText
from tilth.base.foreign_text import DEEPEST, read_ini, read_json, read_toml

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (read_toml, "a = 1\n" * MB, "larger than 1 MB; make it smaller"),
        (read_toml, "a = " + "1" * 6_000, "not TOML: Exceeds the limit"),
        (read_toml, "a = 0x" + "f" * 6_000, "holds a number that is too large"),
        (read_toml, "a = " + "[" * 100_000, "nested too deeply"),
        (read_toml, "a = " + "[" * 80 + "]" * 80, "nested too deeply"),
        (read_toml, "a" + ".a" * 500_000 + " = 1", "nested too deeply"),
        (read_toml, '"\\"b"' + ' . "\\"b"' * 50_000 + " = 1", "nested too deeply"),
        (read_toml, "a = ", "not TOML: Invalid value (at end of document)"),
        (read_toml, b"a = '\xff'", "not UTF-8 at byte 5; save it as UTF-8"),
        (read_ini, "[a]\n" + "b = 1\n" * MB, "larger than 1 MB"),
        (read_ini, "[a]\n" + " =\n" * (MB // 4), "not INI: a line has a value and no name"),
        (read_ini, "a = 1\n", "not INI: File contains no section headers"),
        (read_ini, "[a]\nname\n  more\n", "not INI: "),
        (read_ini, b"\xff", "not UTF-8 at byte 0"),
        (read_json, "[" * 100_000, "nested too deeply"),
        (read_json, "[" * 80 + "]" * 80, "nested too deeply"),
        (read_json, "[" + "1" * 6_000 + "]", "not JSON: Exceeds the limit"),
        (read_json, "[" + "1" * 4_000 + "]", "holds a number that is too large"),
        (read_json, " " * (10 * MB) + "1", "larger than 10 MB"),
        (read_json, '{"a": 1, "a": 2}', 'not JSON: an object has the key "a" twice'),
        (read_json, "[NaN]", "not JSON: NaN is not JSON"),
        (read_json, b"", "not JSON: Expecting value"),
    ],
    ids=range(22),
)
def test_what_cannot_be_read_is_one_error_of_one_line(
    read: Callable[..., Any], text: str | bytes, said: str
) -> None:
    with pytest.raises(BadText) as refused:
        read(text, "some/file")
    assert str(refused.value).startswith(f"some/file: {said}")
    assert len(str(refused.value).splitlines()) == 1


def test_a_line_of_many_blanks_is_read_at_once() -> None:
    blanks = " " * (MB // 2)
    read = read_ini(f"[a]\nb{blanks}c{blanks[:-100]}= 1\n")
    assert read["a"][f"b{blanks}c"] == "1"


def test_what_is_written_as_usual_is_read_as_it_stands() -> None:
    assert read_toml(b"\xef\xbb\xbf[tool.x]\n'a b'.c = [1, 0.5]\n") == {
        "tool": {"x": {"a b": {"c": [1, 0.5]}}}
    }
    assert read_json("[" * DEEPEST + "]" * DEEPEST)
    ini = read_ini("[DEFAULT]\nx = 1\n[Pytest]\nAddOpts = -q\n  -s : = no\nplain\n")
    assert {name: dict(ini[name]) for name in ini.sections()} == {
        "DEFAULT": {"x": "1"},
        "Pytest": {"AddOpts": "-q\n-s : = no", "plain": None},
    }
