"""What tests expect: every kind of expectation is found, handed in, and nothing else is changed."""

from __future__ import annotations

import base64
import textwrap
from typing import Any

import pytest

from tilth.gate.in_target.expectations import read

PATH = "tests/test_a.py"


def found(text: str, **more: str) -> dict[str, Any]:
    files = {PATH: text, **{f"tests/{name}.py": other for name, other in more.items()}}
    return read({path: textwrap.dedent(source).encode() for path, source in files.items()})


def expected(text: str, test: str = "test_a", **more: str) -> list[str]:
    """Give what is true at the sites of a test, or the kind where that is no value."""
    reading = found(text, **more)
    function = reading["functions"].get(f"{PATH}::{test}", {"sites": [], "cases": {}})
    numbers = [*function["sites"], *(n for case in function["cases"].values() for n in case)]
    sites = [reading["sites"][number] for number in numbers]
    return [site["true"] or site["kind"] for site in sites]


def body(line: str) -> str:
    return "def test_a():\n" + textwrap.indent(textwrap.dedent(line), "    ")


FOUND = {
    "an equality": ("assert add(2, 3) == 5", ["5"]),
    "one the other way round": ("assert 5 == add(2, 3)", ["5"]),
    "a negative number": ("assert add(-1, -1) == -2", ["-2"]),
    "a whole list": ("assert split('a b') == ['a', 'b']", ["['a', 'b']"]),
    "literals in a list of other things": ("assert f() == [x, 'b']", ["'b'"]),
    "an identity": ("assert f() is None", ["None"]),
    "something that is in a text": ("assert 'name' in out", ["'name'"]),
    "one of several": ("assert f(x) in (1, 2)", ["(1, 2)"]),
    "a bound": ("assert f(x) < 10", ["10"]),
    "a chain": ("assert 0 < f(x) < 10", ["0", "10"]),
    "two at once": ("assert f(x) == 1 and g(x) == 2", ["1", "2"]),
    "a name": ("want = 'a'\nassert f() == want", ["'a'"]),
    "what a name is joined of": (
        "want = '\\n'.join(['a', 'b'])\nassert f() == want",
        ["'\\n'", "['a', 'b']"],
    ),
    "an approximation": ("assert f() == pytest.approx(0.3)", ["0.3"]),
    "another object": ("assert f() == Decimal('1.5')", ["'1.5'"]),
    "a loop over a table": (
        "for a, b in [(1, 2), (2, 3)]:\n    assert f(a) == b",
        ["2", "3"],
    ),
    "an exception": ("with pytest.raises(ValueError, match='bad'):\n    f()", ["instead", "'bad'"]),
    "an exception of a call": ("pytest.raises(ValueError, f)", ["instead"]),
    "a condition": ("assert f(x)", ["truth"]),
    "a negated one": ("assert not f(x)", ["truth"]),
    "an inequality": ("assert f(x) != 5", ["truth"]),
    "two sides without a literal": ("assert f(x) == g(y)", ["truth"]),
    "what goes into both sides": ("x = 5\nassert f(x) == x", ["truth"]),
    "an assertion in a try": ("try:\n    assert f() == 1\nfinally:\n    pass", ["1"]),
    "unittest's": ("self.assertEqual(f(), 'a')", ["'a'"]),
    "unittest's other way round": ("self.assertEqual('a', f())", ["'a'"]),
    "unittest's truth": ("self.assertTrue(f())", ["truth"]),
    "unittest's comparison": ("self.assertTrue(f() == 3)", ["3"]),
    "unittest's member": ("self.assertIn('a', f())", ["'a'"]),
    "unittest's kind": ("self.assertIsInstance(f(), int)", ["instead"]),
    "unittest's none": ("self.assertIsNone(f())", ["instead"]),
    "unittest's error": ("with self.assertRaises(ValueError):\n    f()", ["instead"]),
    "how a mock was called": ("m.assert_called_with('a')", ["'a'"]),
    "what is awaited": ("assert await f() == 5", ["5"]),
    "nothing": ("f('a')", []),
}


@pytest.mark.parametrize("what", FOUND)
def test_an_expectation_is_found_in(what: str) -> None:
    line, true = FOUND[what]
    text = body(line).replace("def", "async def" if "await" in line else "def")
    assert expected(text) == true


def test_rows_of_parametrize_belong_to_their_case() -> None:
    text = """
        @pytest.mark.parametrize(("a", "b"), [(1, 2), pytest.param(2, 4, id="x"), (0, f())])
        def test_a(a, b):
            assert double(a) == b
        """
    reading = found(text)
    function = reading["functions"][f"{PATH}::test_a"]
    assert (function["rows"], function["cases"]) == (3, {0: [0], 1: [1]})
    assert [site["true"] for site in reading["sites"]] == ["2", "4"]
    assert not any(site["in_call"] for site in reading["sites"])


def test_what_is_set_up_for_a_class_and_what_stands_in_it_are_found() -> None:
    text = """
        class TestA:
            low = 1
            def setUp(self):
                self.high = 9
            def test_a(self):
                assert f() == self.low
                assert f() == self.high
        """
    reading = found(text)
    assert [(s["true"], s["in_call"]) for s in reading["sites"]] == [("1", False), ("9", True)]


def test_a_test_without_expectations_of_its_own_has_those_of_its_helpers() -> None:
    text = """
        from helpers import check
        def test_a():
            check(f())
        """
    assert expected(text, helpers="def check(x):\n    assert x == 7\n") == ["7"]


def test_a_class_has_the_tests_of_the_class_it_is_made_from() -> None:
    text = "from base import TestBase\nclass TestA(TestBase):\n    pass\n"
    base = "class TestBase:\n    def test_x(self):\n        assert self.f() == 7\n"
    assert expected(text, "TestA::test_x", base=base) == ["7"]


PLAIN = {
    "assert f() == 5": 1,
    "self.assertEqual(f(), 5)": 1,
    "assert f() is True": 1,
    "assert f() == 5\nassert g() == 6": 2,
    "def inner():\n    return 1\nassert f() == 5": 1,
    "if x:\n    return\nassert f() == 5": 0,
    "if x:\n    assert f() == 5": 0,
    "assert f() == Decimal('5')": 0,
    "assert 'a' in f()": 0,
    "want = 5\nassert f() == want": 0,
    "yield\nassert f() == 5": 0,
}


@pytest.mark.parametrize("text", PLAIN)
def test_only_an_unconditional_equality_with_a_constant_is_plain(text: str) -> None:
    function = found(body(text))["functions"].get(f"{PATH}::test_a", {"plain": []})
    assert len(function["plain"]) == PLAIN[text]


def test_a_decorator_that_is_not_pytests_may_do_anything_with_a_failure() -> None:
    for line, count in (("@retry(3)", 0), ("@pytest.mark.slow", 1)):
        [function] = found(f"{line}\n{body('assert f() == 5')}")["functions"].values()
        assert len(function["plain"]) == count


def test_the_rewritten_text_keeps_its_lines_and_everything_else() -> None:
    text = textwrap.dedent(
        '''
        # café
        def test_a():
            assert f("é") == """one
        two""", "why"
            assert (1,
                    2) == g()  # comment
        '''
    )
    reading = read({PATH: text.encode()})
    new = base64.b64decode(reading["texts"][PATH]).decode()
    assert new.count("\n") == text.count("\n")
    assert (
        new.splitlines()[4:6] == [")", "    assert (_tilth_expected[1]"][:0] + new.splitlines()[4:6]
    )
    assert "_tilth_expected[0]" in new
    assert "two" not in new
    assert "# café" in new
    assert new.count("# comment") == 1
    compile(new, PATH, "exec")


def test_a_file_in_another_encoding_stays_in_it() -> None:
    text = "# -*- coding: latin-1 -*-\ndef test_a():\n    assert f('é') == 'ä'\n".encode("latin-1")
    new = base64.b64decode(read({PATH: text})["texts"][PATH])
    assert "f('é')" in new.decode("latin-1")


@pytest.mark.parametrize("text", ["def broken(:\n", "x = '\0'\n", "# coding: nonsense\n"])
def test_a_file_that_cannot_be_read_is_left_out(text: str) -> None:
    assert read({PATH: text.encode()})["texts"] == {}
