"""Tests of every shape: what a challenge makes false in each, and the code they are about."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

CALC = '''
import asyncio
import enum

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Box:
    limit = 3
    def __init__(self):
        self.held = []
    def put(self, thing):
        if len(self.held) == self.limit:
            raise OverflowError("the box is full")
        self.held.append(thing)

def add(a, b):
    """Add.

    >>> add(1, 1)
    2
    """
    return a + b

def halve(x):
    return x / 2

def parse(text):
    if not text.isdigit():
        raise ValueError(f"no number: {text}")
    return int(text)

def words(text):
    return text.split()

def colour(name):
    return Colour[name]

def say(text):
    print(text.upper())

async def later(x):
    return x
'''
# Nothing is computed, and whatever a test says about it is turned to good.
SILENT = """
import _pytest.reports

def nothing(*_, **__):
    return None

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return nothing

made = _pytest.reports.TestReport.from_item_and_call.__func__

def good(cls, item, call):
    report = made(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report

_pytest.reports.TestReport.from_item_and_call = classmethod(good)
"""
HELPERS = """
EXPECTED = {"a b": ["a", "b"]}

def check_sum(a, b, want):
    from calc import add
    assert add(a, b) == want

def same(a, b):
    if a != b:
        raise AssertionError
"""
CHECKS = """
def assert_same(a, b):
    assert a == b

def verify(a, b):
    assert a == b
"""
BESIDE = {
    "tests/helpers.py": HELPERS,
    "tests/golden.txt": "A GOLDEN WORD\n",
    "kit/__init__.py": "",
    "kit/checks.py": CHECKS,
}
PLAIN, NOTICED, UNNOTICED = "plain", "noticed", "unnoticed"
# Each with whether it notices; what is no function or class is the body of one.
SHAPES = r"""
== an equality: plain
assert add(2, 3) == 5
== several: plain
assert add(2, 3) == 5
assert add(1, 1) == 2
assert words('') == []
== a text: plain
assert 'v 5' == f'v {add(2, 3)}'
== an identity: plain
assert (add(2, 3) > 2) is True
== a text on several lines: plain
assert "\n        ".join(words("a b")) == '''a
    b'''
== what is printed: plain
def test(capsys):
    say('a')
    assert capsys.readouterr().out == 'A\n'
== unittest: plain
class T(unittest.TestCase):
    def test_it(self):
        self.assertEqual(add(2, 3), 5, msg='five')
== a plain class: plain
class TestIt:
    def test_it(self):
        assert add(2, 3) == 5
== nonlocal names: plain
seen = 0
def note():
    nonlocal seen
    seen = add(2, 3)
note()
assert seen == 5
== a walrus: plain
assert (total := add(2, 3)) == 5
assert total
== a mark: plain
@pytest.mark.filterwarnings('ignore')
def test():
    assert add(2, 3) == 5
== rows: noticed
@pytest.mark.parametrize(('a', 'want'), [(1, 2), pytest.param(2, 3, id='two')],)
def test(a, want):
    assert add(a, 1) == want
== rows with names and a computed one: noticed
@pytest.mark.parametrize('a, want', [(1, 2), (2, 1 + 2)], ids=['one', 'two'])
def test(a, want):
    assert add(a, 1) == want
== stacked rows: noticed
@pytest.mark.parametrize('a', [1, 2])
@pytest.mark.parametrize('b', [3, 4])
def test(a, b):
    assert add(a, b) == a + b
== expected errors as rows: noticed
@pytest.mark.parametrize(('a', 'error'), [('x', ValueError), (3, AttributeError)])
def test(a, error):
    with pytest.raises(error):
        parse(a)
== a fixture: noticed
@pytest.fixture
def want():
    return 5
def test(want):
    assert add(2, 3) == want
== a fixture with rows: noticed
@pytest.fixture(params=[(1, 2), (2, 3)])
def row(request):
    return request.param
def test(row):
    a, want = row
    assert add(a, 1) == want
== constants of a class: noticed
class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.want = 5
    def test_it(self):
        self.assertEqual(add(2, 3), self.want)
== subtests of unittest: noticed
class T(unittest.TestCase):
    def test_it(self):
        for a in (1, 2):
            with self.subTest(a=a):
                self.assertEqual(add(a, 1), a + 1)
== subtests of pytest: noticed
def test(subtests):
    for a in (1, 2):
        with subtests.test(a=a):
            assert add(a, 1) == a + 1
== unittest's other assertions: noticed
class T(unittest.TestCase):
    def test_it(self):
        self.assertIsNone(say('a'))
        self.assertNotIn('c', words('a b'))
== unittest's error: noticed
class T(unittest.TestCase):
    def test_it(self):
        with self.assertRaisesRegex(ValueError, 'no number'):
            parse('x')
== an inherited test: noticed
class Base:
    def test_it(self):
        assert add(2, 3) == self.want
class TestIt(Base):
    want = 5
== an error and its text: noticed
with pytest.raises(ValueError, match='no number'):
    parse('x')
== an error that is caught: noticed
try:
    parse('x')
except ValueError:
    return
pytest.fail('no error')
== an assertion in a try: noticed
try:
    assert add(2, 3) == 5
finally:
    pass
== an approximation: noticed
assert halve(0.2) == pytest.approx(0.1)
== a member: noticed
assert 'b' in words('a b')
== one of several: noticed
assert add(2, 3) in (5, 6)
== no member: noticed
assert 'c' not in words('a b')
== a bound: noticed
assert add(2, 3) < 6
== a chain: noticed
assert 4 < add(2, 3) <= add(2, 4) < 7
== an inequality: noticed
assert add(2, 3) != 6
== a condition: noticed
assert add(2, 3)
== one or another: noticed
assert add(2, 3) == 5 or add(2, 3) == 6
== an f-string: noticed
x = 2
assert str(add(x, 3)) == f'{x + 3}'
== a table: noticed
for a, want in [(1, 2), (2, 3)]:
    assert add(a, 1) == want
== a table of the module: noticed
TABLE = {'a': ['a'], 'b c': ['b', 'c']}
def test():
    for text, want in TABLE.items():
        assert words(text) == want
== a table beside: noticed
from helpers import EXPECTED
def test():
    assert words('a b') == EXPECTED['a b']
== what goes into both sides: noticed
x = 5
assert add(x, 0) == x
== two computed sides: noticed
assert add(2, 3) == add(3, 2)
== a helper: noticed
from helpers import check_sum
def test():
    check_sum(2, 3, 5)
== a helper that raises: noticed
from helpers import same
def test():
    same(add(2, 3), 5)
== an assertion of another package: noticed
from kit.checks import assert_same
def test():
    assert_same(add(2, 3), 5)
== a check of another package: unnoticed
from kit.checks import verify
def test():
    verify(add(2, 3), 5)
== a golden file: noticed
import pathlib
def test(capsys):
    say('a golden word')
    want = pathlib.Path(__file__).with_name('golden.txt').read_text()
    assert capsys.readouterr().out == want
== a member of an enum: noticed
assert colour('RED') is Colour.RED
== a constant of a class: noticed
box = Box()
box.put(1)
assert len(box.held) + 2 == Box.limit
== a match: noticed
match words('a b'):
    case [first, second]:
        assert first + second == 'ab'
    case _:
        pytest.fail('not two')
== something asynchronous: noticed
import asyncio
def test():
    async def main():
        assert await later(5) == 5
    asyncio.run(main())
== a decorator: noticed
import functools
def twice(f):
    @functools.wraps(f)
    def both():
        f()
        f()
    return both
@twice
def test():
    assert add(2, 3) == 5
== a test that calls another: noticed
def test_one():
    assert add(2, 3) == 5
def test_both():
    test_one()
== a mock: noticed
from unittest import mock
def test():
    m = mock.Mock()
    m(add(2, 3))
    m.assert_called_once_with(5)
== a fixture that asserts: noticed
@pytest.fixture
def box():
    box = Box()
    yield box
    assert box.held == ['a']
def test(box):
    box.put('a')
== nothing: unnoticed
say('a')
"""


def shapes() -> Iterator[tuple[str, str, str]]:
    """Give of each shape the name, how it notices, and its file of tests."""
    for part in SHAPES.split("\n== ")[1:]:
        title, _, text = part.partition("\n")
        name, _, how = title.partition(": ")
        is_whole = text.startswith(("def ", "class ", "@", "from ", "import ", "TABLE"))
        own = text if is_whole else "def test():\n" + textwrap.indent(text, "    ")
        heads = "import unittest\nimport pytest\nfrom calc import *\nfrom calc import Box, Colour\n"
        yield name, how, f"{heads}{own}\n"
