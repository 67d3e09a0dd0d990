"""What a change does to the tools of its own proof is named; honest code is not spoken of."""

from __future__ import annotations

import pytest

from tilth.base.hidden_characters import escaped
from tilth.gate.proof_notes import proof_notes
from tilth.gate.tampering import MOST_OF_A_KIND
from tilth.git.changes import Change

TESTS, PRODUCT = "tests/test_aaa.py", "calc.py"
FILES = frozenset({TESTS, PRODUCT, "shop/__init__.py", "shop/cart.py"})
ENDS = "reaches for the end or a copy of the process"
FRAMES = "reaches into the running interpreter"
KNOWS = "product code knows of tests"
CHANGES = "changes what it imports, for others too"
TEXT = "runs code from a text"
SKIPS = "skips a test or expects it to fail"
SILENT = "silences a check"


def notes(after: str | bytes, before: str | None = None, path: str = PRODUCT) -> tuple[str, ...]:
    old = None if before is None else before.encode()
    new = after if isinstance(after, bytes) else after.encode()
    change = Change(status="A" if before is None else "M", path=path)
    return proof_notes([change], FILES, lambda _: old, lambda _: new)


NAMED = {
    "os._exit(0)": ENDS,
    "from os import path, _exit": ENDS,
    "getattr(os, '_exit')(0)": ENDS,
    "os._ex\u1d62t(0)": ENDS,
    "import atexit": ENDS,
    "os.execv('/bin/true', [])": ENDS,
    "pid = os.fork()": ENDS,
    "f = sys._getframe(1)": FRAMES,
    "f = e.__traceback__.tb_frame": FRAMES,
    "c = add.__code__": FRAMES,
    "add.__code__ = other": FRAMES,
    "seen = code.co_consts": FRAMES,
    "vars(frame)['f_back']": FRAMES,
    "gc.get_objects()": FRAMES,
    "from _pytest import runner": FRAMES,
    "import pytest": KNOWS,
    "from unittest import mock": KNOWS,
    "from tests.helpers import table": KNOWS,
    "import conftest": KNOWS,
    "text = open('tests/test_t001_add.py').read()": KNOWS,
    "under = 'PYTEST_CURRENT_TEST' in os.environ": KNOWS,
    "t = builtins._tilth_expected": KNOWS,
    "t = getattr(builtins, '_tilth_expected')": KNOWS,
    "text = inspect.getsource(caller)": KNOWS,
    "exec('x = 1')": TEXT,
    "pytest.skip('later')": SKIPS,
    "@unittest.skipUnless(0, '')\ndef f(): ...": SKIPS,
    "raise SkipTest": SKIPS,
    "x = 1  # noqa: E501": SILENT,
    "# ruff: noqa": SILENT,
    "# ruff: file-ignore[F401]": SILENT,
    "x = f()  # type: ignore[arg-type]": SILENT,
    "x = f()  # pyright: ignore": SILENT,
}


@pytest.mark.parametrize("line", NAMED)
def test_it_is_named_with_its_place(line: str) -> None:
    first = escaped(line.split("\n", maxsplit=1)[0])
    assert f"{PRODUCT}:1: {NAMED[line]}: {first}" in notes(f"{line}\n")


INNOCENT = [
    "skip = 1",
    "sys.exit(1)",
    "x = 'ignore type'",
    "def skip_row(): ...",
    "reader.skip(3)",
    "'''Say how pytest finds tests/ and conftest.'''",
    "pattern = re.compile('x')",
    "name = 'the tested value'",
    "clear = self.clear()",
]


@pytest.mark.parametrize("line", INNOCENT)
def test_an_innocent_line_is_not(line: str) -> None:
    assert notes(f"{line}\n") == ()


CHANGED = [
    ("import calc", "calc.double = lambda x: x + x"),
    ("import shop.cart as c", "c.double, x = None, 1"),
    ("from shop import Cart", "Cart.total = property(lambda self: 5)"),
    ("import calc", "calc.double += 1"),
    ("import calc", "del calc.double"),
    ("import calc", "setattr(calc, 'double', 1)"),
    ("import builtins\nimport calc", "builtins.setattr(calc, 'double', 1)"),
    ("import calc", "type(calc).__setattr__(calc, 'double', 1)"),
    ("import calc", "vars(calc)['double'] = 1"),
    ("import calc", "vars(calc).update(double=1)"),
    ("import sys", "sys.modules['calc'] = object()"),
    ("import sys", "sys.path.insert(0, 'elsewhere')"),
    ("import calc\nc = calc\nd = c", "d.double = 1"),
    ("import calc", "getattr(calc, 'Cart').total = 1"),
    ("import calc", "calc.TABLE[2] = 4"),
    ("import calc, operator", "operator.setitem(calc.TABLE, 2, 4)"),
    ("import calc", "calc.TABLE.update({2: 4})"),
    ("import decimal", "decimal.getcontext().prec = 1"),
]


@pytest.mark.parametrize(("head", "line"), CHANGED)
def test_what_tests_change_of_what_they_import_is_named(head: str, line: str) -> None:
    number = len(head.splitlines()) + 1
    said = f"{TESTS}:{number}: {CHANGES}: {line}"
    assert notes(f"{head}\n{line}\n", path=TESTS) == (said,)


OWN = [
    "import calc\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(calc, 'x', 1)\n",
    "import os\n\nos.environ['A'] = 'b'\nos.environ.pop('A')\n",
    "from os import environ\n\nenviron['A'] = 'b'\n",
    "import calc\n\ncart = calc.Cart()\ncart.total = 5\n",
    "import calc\n\nrows = []\nrows.append(calc.double(1))\n",
    "import calc\n\ncalc.rows()[0] = 2\n",
]


@pytest.mark.parametrize("text", OWN)
def test_what_is_undone_or_belongs_to_the_test_is_not(text: str) -> None:
    assert notes(text, path=TESTS) == ()


def test_product_code_is_named_for_changing_what_is_foreign_not_what_is_its_own() -> None:
    assert notes("import json\njson.dumps = None\n") == (
        f"calc.py:2: {CHANGES}: json.dumps = None",
    )
    own = "import calc\nfrom shop import cart\nfrom . import x\ncalc.a = cart.b = x.c = 1\n"
    assert notes(own) == ()


def test_only_what_a_change_brings_is_named() -> None:
    before = "import os\nos._exit(0)\n"
    assert notes(f"# moved\n{before}", before) == ()
    assert notes(f"{before}os._exit(0)\n", before) == (f"calc.py:3: {ENDS}: os._exit(0)",)
    assert notes(before, "def (") != ()


def test_a_flood_of_harmless_notes_hides_no_grave_one() -> None:
    told = notes("x = 1  # noqa\n" * 100 + "os._exit(0)\n")
    assert told[0] == f"calc.py:101: {ENDS}: os._exit(0)"
    assert len(told) == MOST_OF_A_KIND + 2
    assert told[-1].startswith("… and 90 more of the same kind, in calc.py")


@pytest.mark.parametrize("text", ["def (", "\0", "x = " + "-" * 100_000 + "1", "# é\n" * 500_001])
def test_a_file_that_cannot_be_read_is_said_to_be(text: str) -> None:
    why = "it cannot be read as Python, so what it does to its own proof is not known"
    assert notes(text) == (f"{PRODUCT}: {why}",)


def test_what_is_quoted_hides_nothing_and_an_encoding_is_taken_by_its_word() -> None:
    [note] = notes("x = 1  # noqa twenty\u00a0apples")
    assert note.endswith("twenty\\xa0apples")
    assert notes("# coding: latin-1\nx = 'ä'\nos._exit(0)\n".encode("latin-1"))[0].startswith(
        "calc.py:3: "
    )


def test_other_files_and_deleted_ones_are_not_read() -> None:
    gone = [Change(status="D", path=PRODUCT), Change(status="A", path="tests/data.txt")]
    assert proof_notes(gone, FILES, lambda _: b"import a", lambda _: b"os._exit(0)") == ()
