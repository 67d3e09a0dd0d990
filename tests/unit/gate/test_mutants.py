"""Mutants: which faults are planted where, and that each of them really runs."""

from __future__ import annotations

import pytest

from tilth.gate.mutants import Mutant, in_turn, mutants_of

# One row for each way an operator changes a line: the line, what it becomes, and a call whose
# value tells the two apart.
CHANGES = [
    ("return a == b", "return a != b", (1, 2)),
    ("return a < b", "return a >= b", (1, 2)),
    ("return a in (b,)", "return a not in (b,)", (1, 2)),
    ("return a not in (b,)", "return a in (b,)", (1, 2)),
    ("return a is not b", "return a is b", (1, 2)),
    ("return a is b", "return a is not b", (1, 2)),
    ("return a != b", "return a == b", (1, 2)),
    ("return a <= b", "return a > b", (1, 2)),
    ("return a > b", "return a <= b", (1, 2)),
    ("return a >= b", "return a < b", (1, 2)),
    ("return 0 < a < b", "return 0 < a >= b", (1, 2)),
    ("return a < b", "return a <= b", (1, 1)),
    ("return a >= b", "return a > b", (1, 1)),
    ("return a <= b", "return a < b", (1, 1)),
    ("return a > b", "return a >= b", (1, 1)),
    ("return a + 7", "return a + 8", (1, 1)),
    ("return a * 0.5", "return a * 1.5", (1, 1)),
    ("return (a, True)", "return (a, False)", (1, 1)),
    ("return str(a) + 'x'", 'return str(a) + ""', (1, 1)),
    ("return a and b", "return a or b", (0, 1)),
    ("return a or b", "return a and b", (0, 1)),
    ("return not a", "return (a)", (0, 1)),
    ("return a", "return None", (1, 1)),
    ("return None", "return 0", (1, 1)),
    ("a += b", "pass", (1, 1)),
    ("a = b", "pass", (1, 2)),
    ("raise ValueError(a)", "pass", (1, 1)),
]


def function(line: str) -> str:
    return f"def f(a, b):\n    {line}\n    return a\n"


def value_of(source: str | bytes, arguments: tuple[int, int]) -> object:
    names: dict[str, object] = {}
    exec(compile(source, "<mutant>", "exec"), names)
    try:
        return names["f"](*arguments)  # type: ignore[operator]
    except ValueError as error:
        return repr(error)


def only(line: str, after: str) -> Mutant:
    (found,) = [
        mutant
        for mutant in mutants_of("m.py", function(line).encode(), {2})
        if mutant.after == after
    ]
    return found


@pytest.mark.parametrize(("before", "after", "arguments"), CHANGES)
def test_a_fault_is_planted_and_changes_what_the_code_does(
    before: str, after: str, arguments: tuple[int, int]
) -> None:
    mutant = only(before, after)
    source = function(before)
    assert (mutant.before, mutant.place) == (before, "m.py:2")
    planted = mutant.planted(source.encode())
    assert planted.decode() == function(after)
    assert value_of(planted, arguments) != value_of(source, arguments)


def test_only_the_named_lines_are_touched() -> None:
    source = b"def f(a):\n    b = a + 1\n    return b > 2\n"
    assert {mutant.line for mutant in mutants_of("m.py", source, {3})} == {3}
    assert mutants_of("m.py", source, ()) == ()


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""\n',
        'def f() -> "str": ...\n',
        "@cache(3)\ndef f(a: 'int') -> None: ...\n",
        "import os\n",
        "if __name__ == '__main__':\n    main(1)\n",
        "name: list[3]\n",
    ],
)
def test_what_does_not_run_in_a_test_gets_no_mutant(source: str) -> None:
    assert mutants_of("m.py", source.encode(), range(1, 9)) == ()


def test_the_words_of_an_error_are_left_alone() -> None:
    source = b"def f(a):\n    raise ValueError('no ' + f'{a} way')\n"
    assert [mutant.after for mutant in mutants_of("m.py", source, {2})] == ["pass"]


def test_a_file_that_does_not_parse_gets_no_mutant() -> None:
    for source in (b"def f(:\n", b"\xff\xfe", b"\xef\xbb\xbfx = 1\n", b"x = '\0'\n"):
        assert mutants_of("m.py", source, range(9)) == ()


def test_text_beyond_ascii_and_windows_line_ends_stay_where_they_are() -> None:
    source = "def f(a):\r\n    ä = 'ö' if a else 1\r\n    return ä\r\n".encode()
    planted = [mutant.planted(source) for mutant in mutants_of("m.py", source, {2})]
    assert all(text.endswith(b"\r\n    return \xc3\xa4\r\n") for text in planted)
    assert "    ä = 'ö' if a else 2\r\n".encode() in planted[-1]


def test_an_operator_behind_brackets_and_line_ends_is_found() -> None:
    source = b"def f(a, b):\n    return (\n        (a)\n        not  in\n        [b]\n    )\n"
    (mutant,) = [m for m in mutants_of("m.py", source, range(9)) if m.after == "in"]
    assert b"(a)\n        in\n        [b]" in mutant.planted(source)


def test_an_operator_behind_a_comment_is_passed_over() -> None:
    source = b"def f(a, b):\n    return (a  # not in the list\n        in b)\n"
    found = mutants_of("m.py", source, range(9))
    assert [mutant.text for mutant in found] == ["return None"]


def test_a_negation_over_several_lines_stays_whole() -> None:
    source = b"def f(a, b):\n    return not (\n        a\n        and b\n    )\n"
    (mutant,) = [m for m in mutants_of("m.py", source, {2}) if m.text.startswith("(")]
    assert value_of(mutant.planted(source), (1, 0)) == 0


def test_a_stretch_over_several_lines_is_shown_by_its_first() -> None:
    source = b"def f(a):\n    return max(\n        a,\n        a)\n"
    (mutant,) = [m for m in mutants_of("m.py", source, {2}) if m.text == "return None"]
    assert (mutant.before, mutant.after) == ("return max( …", "return None")


def test_every_line_has_its_turn_before_any_has_two() -> None:
    source = b"def f(a, b):\n    c = a < 1 and b\n    return c\n"
    turns = in_turn(mutants_of("m.py", source, {2, 3}))
    assert [mutant.line for mutant in turns[:2]] == [2, 3]
    assert len(turns) == len(mutants_of("m.py", source, {2, 3}))


def test_the_same_source_gives_the_same_mutants() -> None:
    source = function("return a < 1 and not b").encode()
    assert mutants_of("m.py", source, {2}) == mutants_of("m.py", source, {2})
