"""What tests expect: every kind of expectation is found, looked up, and nothing else is changed."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest

from tilth.gate.in_target.expectations import read

PATH = "tests/test_a.py"


def found(text: str, **more: str) -> dict[str, Any]:
    files = {PATH: text, **{f"tests/{name}.py": other for name, other in more.items()}}
    return read({path: textwrap.dedent(source).encode() for path, source in files.items()})


def rewritten(text: str, **more: str) -> str:
    """Give the new text, with the literals at their places again and a short name of the table."""
    reading = found(text, **more)
    new = reading["texts"][PATH].encode("latin-1").decode()
    assert new.count("\n") == textwrap.dedent(text).count("\n")
    new = re.sub(r"_tilth_expected\.own\((\d+)\)", r"own[\1]", new)
    new = re.sub(r'_tilth_expected\.of\("(\w+)", ', r"\1(", new)
    new = new.replace("_tilth_expected", "").replace(".call(", "call(")
    return re.sub(r"\[(\d+)\]", lambda n: f"<{reading['literals'][int(n[1])]}>", new)


def body(line: str) -> str:
    return "def test_a():\n" + textwrap.indent(textwrap.dedent(line), "    ")


FOUND = {
    "assert add(2, 3) == 5": "assert add((<2>), (<3>)) == (own<5>)",
    "assert 5 == add(2, 3)": "assert (own<5>) == add((<2>), (<3>))",
    "assert add(-1, -1) == -2": "assert add((<-1>), (<-1>)) == (own<-2>)",
    "assert split('a b') == ['a', 'b']": "assert split((<'a b'>)) == (own<['a', 'b']>)",
    "assert f() == [x, 'b']": "assert f() == (value([x, (<'b'>)]))",
    "assert f() is None": "assert f() is (own<None>)",
    "assert 'name' in out": "assert (unlike((<'name'>))) in out",
    "assert f(x) in (1, 2)": "assert f(x) in (unlike((<(1, 2)>)))",
    "assert f(x) in g(x)": "assert f(x) in (unlike(g(x)))",
    "assert f(x) < 10": "assert f(x) < (unlike((<10>)))",
    "assert 0 < f(x) <= 10": "assert (unlike((<0>))) < f(x) <= (unlike((<10>)))",
    "assert f(x) == 1 and g(x) == 2": "assert f(x) == (own<1>) and g(x) == (own<2>)",
    "assert f(x) == 1 or x": "assert (truth(f(x) == (<1>) or x))",
    "assert f() == pytest.approx(0.3)": "assert f() == pytest.approx((own<0.3>))",
    "assert f(x)": "assert (truth(f(x)))",
    "assert not f(x)": "assert (truth(not f(x)))",
    "assert f(x) != 5": "assert (truth(f(x) != (<5>)))",
    "assert f(x) == g(y)": "assert f(x) == (value(g(y)))",
    "assert f(x) == f'{x} is'": "assert f(x) == (value(f'{x} is'))",
    "assert f() == (x := 5)": "assert f() == ((value(x := (<5>))))",
    "assert (y := f())": "assert ((truth(y := f())))",
    "assert f() == Colour.RED": "assert f() == (value(Colour.RED))",
    "assert await f() == 5": "assert await f() == (own<5>)",
    "assert(5==f())": "assert((own<5>)==f())",
    "assert'a'in f()": "assert(unlike((<'a'>)))in f()",
    "assert all(f(a) for a in 'xy')": "assert (truth(all(f(a) for a in (<'xy'>))))",
    "with pytest.raises(ValueError, match='bad'): f()": (
        "with pytest.raises((error(ValueError)), match=(<'bad'>)): f()"
    ),
    "pytest.raises(ValueError, f)": "pytest.raises((error(ValueError)), f)",
    "self.assertEqual(f(), 'a', msg='why')": "self.assertEqual(f(), (own<'a'>), msg=(<'why'>))",
    "self.assertEqual('a', f())": "self.assertEqual((own<'a'>), f())",
    "self.assertListEqual(f(), want)": "self.assertListEqual(f(), (value(want)))",
    "self.assertTrue(f())": "self.assertTrue((truth(f())))",
    "self.assertTrue(f() == 3)": "self.assertTrue(f() == (own<3>))",
    "self.assertFalse(f())": "(call(self.assertFalse))(f())",
    "self.assertIn('a', f())": "self.assertIn((unlike((<'a'>))), f())",
    "self.assertNotEqual(f(), 5)": "(call(self.assertNotEqual))(f(), (<5>))",
    "self.assertAlmostEqual(f(), 0.5)": "(call(self.assertAlmostEqual))(f(), (<0.5>))",
    "with self.assertRaises(KeyError): f()": "with self.assertRaises((error(KeyError))): f()",
    "with self.assertLogs('a') as logs: f()": "with (call(self.assertLogs))((<'a'>)) as logs: f()",
    "m.assert_called_with('a')": "(call(m.assert_called_with))((<'a'>))",
    "if f() != 5: pytest.fail('no')": "if (truth(f() != (<5>))): pytest.fail((<'no'>))",
    "if f() != 5: raise AssertionError('no')": (
        "if (truth(f() != (<5>))): raise AssertionError((<'no'>))"
    ),
    "if f() != 5: raise KeyError": "if f() != (<5>): raise KeyError",
    "want = 'a'; assert f() == want": "want = (<'a'>); assert f() == (value(want))",
    "x = 5; y = x; assert f() == y": "x = (<5>); y = x; assert f() == (value(y))",
    "self.a = 5; assert f() == self.a": "self.a = (<5>); assert f() == (value(self.a))",
    "other = 5; assert f() == g()": "other = (<5>); assert f() == (value(g()))",
    "yield; assert f() == 5": "yield; assert f() == (own<5>)",
    "f('a')": "f((<'a'>))",
    "'why'; f(f'{1} is')": "'why'; f(f'{1} is')",
    "x: 'A' = 1; f(x, None)": "x: 'A' = (<1>); f(x, None)",
}


@pytest.mark.parametrize("line", FOUND)
def test_an_expectation_is_looked_up_in(line: str) -> None:
    text = body(line).replace("def", "async def" if "await" in line else "def")
    assert rewritten(text).partition("\n    ")[2] == FOUND[line]


BLOCKS = {
    "for a, b in [(1, 2), (2, 3)]:\n    assert f(a) == b": (
        "for a, b in (<[(1, 2), (2, 3)]>):\n    assert f(a) == (value(b))"
    ),
    "try:\n    f()\nexcept ValueError as e:\n    assert str(e) == 'bad'": (
        "try:\n    f()\nexcept (error(ValueError)) as e:\n    assert str(e) == (own<'bad'>)"
    ),
    "match f():\n    case 5:\n        pass\n    case _:\n        assert False": (
        "match f():\n    case 5:\n        pass\n    case _:\n        assert (truth(False))"
    ),
    "def inner():\n    return 5\nassert f() == inner()": (
        "def inner():\n    return (<5>)\nassert f() == (value(inner()))"
    ),
}


@pytest.mark.parametrize("text", BLOCKS)
def test_an_expectation_is_looked_up_where_it_is_made(text: str) -> None:
    assert textwrap.dedent(rewritten(body(text)).partition("\n")[2]) == BLOCKS[text]


def test_rows_of_parametrize_and_of_fixtures_stand_nowhere_in_the_text() -> None:
    text = """
        @pytest.fixture(params=["one", "two"])
        def word(request):
            return request.param
        @pytest.mark.parametrize(("a", "b"), [(1, 2), pytest.param(2, 4, id="x"), (0, f())])
        def test_a(a, b, word):
            assert double(a) == b
            assert spell() == word
        """
    new = rewritten(text)
    assert 'params=(<["one", "two"]>)'.replace('"', "'") in new
    assert "[(<(1, 2)>), pytest.param((<2>), (<4>), id=(<'x'>)), ((<0>), f())]" in new


def test_what_is_set_up_for_a_class_and_what_stands_in_it_is_handed_in() -> None:
    text = """
        class TestA:
            low = 1
            def setUp(self):
                self.high = 9
            def test_a(self):
                assert f() == self.low
                assert f() == self.high
        """
    new = rewritten(text)
    assert "low = (<1>)" in new
    assert "self.high = (<9>)" in new


def test_what_a_helper_is_told_to_expect_is_handed_in_and_false_where_it_is_compared() -> None:
    text = "from helpers import check\ndef test_a():\n    check(f(), 7)\n"
    helper = "def check(x, want):\n    assert x == want\n"
    assert "check(f(), (<7>))" in rewritten(text, helpers=helper)
    reading = found(text, helpers=helper)
    has = reading["functions"][f"{PATH}::test_a"]
    assert (has["sites"], has["plain"], has["more"]) == ([], [], True)
    new = reading["texts"]["tests/helpers.py"].encode("latin-1").decode()
    assert 'x == (_tilth_expected.of("value", want))' in new


def test_an_assertion_that_the_tests_define_is_false_within() -> None:
    text = "def assert_same(a, b):\n    assert a == b\ndef test_a():\n    assert_same(f(), 5)\n"
    assert "assert_same(f(), (<5>))" in rewritten(text)


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
    assert len(found(body(text))["functions"][f"{PATH}::test_a"]["plain"]) == PLAIN[text]


MARKS = {"@retry(3)": 0, "@pytest.mark.slow": 1}


@pytest.mark.parametrize("mark", MARKS)
def test_a_decorator_that_is_not_pytests_may_do_anything_with_a_failure(mark: str) -> None:
    [function] = found(f"{mark}\n{body('assert f() == 5')}")["functions"].values()
    assert len(function["plain"]) == MARKS[mark]
    whole = f"{mark}\nclass TestA:\n    def test_a(self):\n        assert f() == 5\n"
    [method] = found(whole)["functions"].values()
    assert len(method["plain"]) == MARKS[mark]


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
    assert rewritten(text).split("\n") == [
        "",
        "# café",
        "def test_a():",
        "    assert f((<'é'>)) == (own<'one\\ntwo'>",
        "), (<'why'>)",
        "    assert (own<(1, 2)>",
        ") == g()  # comment",
        "",
    ]


def test_a_file_in_another_encoding_stays_in_it() -> None:
    text = "# -*- coding: latin-1 -*-\ndef test_a():\n    assert fé() == 'ä'\n".encode("latin-1")
    reading = read({PATH: text})
    assert "fé()" in reading["texts"][PATH]
    assert reading["literals"] == ["'ä'"]


UNREADABLE = ["def broken(:\n", "x = '\0'\n", "# coding: nonsense\n", "x = 1\ry = 2\n"]
UNREADABLE += [f"assert {'a + ' * 5000}b\n", f"assert 0x{'f' * 10000} == x\n"]


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_file_that_cannot_be_read_is_left_out(text: str) -> None:
    beside = {"tests/test_b.py": b"def test_b():\n    assert f() == 5\n"}
    reading = read({PATH: text.encode(), **beside})
    assert set(reading["texts"]) == set(beside)
    assert reading["literals"] == ["5"]
