"""Patches: a file of tests that changes what it imports is named, one that undoes it is not."""

from __future__ import annotations

import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from tilth.gate.patches import patch_notes, patches_in
from tilth.git.changes import Change, Status

PATH = "tests/test_aaa.py"
ON_IMPORT = "changes what it imports, for other tests too, when it is imported"
WHILE_IT_RUNS = "changes what it imports, for other tests too, while it runs"


def notes(after: str, before: str | None = None, path: str = PATH) -> tuple[str, ...]:
    status: Status = "A" if before is None else "M"
    old = None if before is None else before.encode()
    return patch_notes([Change(status=status, path=path)], lambda _: old, lambda _: after.encode())


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("import calc", "calc.double = lambda x: x + x"),
        ("import shop.calc", "shop.calc.double = None"),
        ("import shop.calc as c", "c.double, x = None, 1"),
        ("from shop import Cart", "Cart.total = property(lambda self: 5)"),
        ("import calc", "calc.double += 1"),
        ("import calc", "del calc.double"),
        ("import calc", "for calc.double in [1]: pass"),
        ("import calc", "x = [0 for calc.double in [1]]"),
        ("import calc", "if calc: calc.double = 1"),
        ("import calc", "setattr(calc, 'double', 1)"),
        ("import builtins\nimport calc", "builtins.setattr(calc, 'double', 1)"),
        ("import calc", "type(calc).__setattr__(calc, 'double', 1)"),
        ("import calc", "calc.__dict__['double'] = 1"),
        ("import calc", "vars(calc)['double'] = 1"),
        ("import calc", "vars(calc).update(double=1)"),
        ("import sys", "sys.modules['calc'] = object()"),
        ("import sys", "sys.modules['calc'].double = 1"),
        ("from sys import modules", "modules['calc'].double = 1"),
        ("from sys import modules", "modules['calc'] = 1"),
        ("import sys", "sys.modules.pop('calc')"),
        ("import sys", "sys.path.insert(0, 'elsewhere')"),
        ("import sys", "sys.meta_path.append(1)"),
        ("import importlib", "importlib.import_module('calc').double = 1"),
        ("", "__import__('calc').double = 1"),
        ("import calc\nc = calc\nd = c", "d.double = 1"),
        ("import calc\nx = (c := calc)", "c.double = 1"),
        ("import calc", "getattr(calc, 'Cart').total = 1"),
        ("import pytest", "mp = pytest.MonkeyPatch()"),
        ("from x import mp\nimport calc", "mp.setattr(calc, 'double', 1)"),
        ("from unittest import mock", "mock.patch('calc.double').start()"),
        ("from unittest.mock import patch\nimport calc", "patch.object(calc, 'double').start()"),
        ("import calc", "class A: calc.double = 1"),
        ("import calc", "calc.TABLE[2] = 4"),
        ("import calc", "calc.TABLE[2] += 4"),
        ("import calc", "del calc.TABLE[2]"),
        ("from calc import TABLE", "TABLE[2] = 4"),
        ("import calc\nt = calc.ROWS[0]", "t[2] = 4"),
        ("import calc", "calc.TABLE.__setitem__(2, 4)"),
        ("import calc, operator", "operator.setitem(calc.TABLE, 2, 4)"),
        ("import calc", "calc.double.__globals__.update(K=2)"),
        ("import calc", "calc.double.__globals__['K'] = 2"),
        ("import calc", "globals()['calc'].double = 1"),
        ("import calc\ng = globals()['calc']", "g.double = lambda x: 2 * x"),
        ("import calc\ng = vars().get('calc')", "g.double = 1"),
    ],
)
def test_what_is_changed_on_import_is_named(head: str, line: str) -> None:
    number = len(head.splitlines()) + 1
    assert notes(f"{head}\n{line}\n".lstrip("\n")) == (f"{PATH}:{number}: {ON_IMPORT}: {line}",)


@pytest.mark.parametrize(
    "line",
    [
        "(lambda m, **k: m.__dict__.update(k))(calc, double=abs)",
        "(lambda *, m: setattr(m, 'double', abs))(m=calc)",
        "f = lambda x, /, m: m.__dict__.update(x); f({}, calc)",
    ],
)
def test_what_a_lambda_does_to_what_it_is_given_is_named(line: str) -> None:
    assert notes(f"import calc\n{line}\n") == (f"{PATH}:2: {WHILE_IT_RUNS}: {line}",)


def test_what_a_helper_does_to_what_it_is_given_is_named_where_that_is_imported() -> None:
    text = "import calc\n\n\ndef put(m):\n    m.x = 1\n\n\ndef other(m):\n    m.x = 1\n\n\n{}\n"
    assert notes(text.format("put(calc)\nother(calc.Cart())")) == (
        f"{PATH}:5: {WHILE_IT_RUNS}: m.x = 1",
    )


def test_a_name_that_a_function_gives_to_all_others_is_looked_at() -> None:
    text = "import calc\n\ng = None\n\n\ndef f():\n    global g\n    g = calc\n    g.x = 1\n"
    assert notes(text) == (f"{PATH}:9: {WHILE_IT_RUNS}: g.x = 1",)


def test_code_from_a_text_is_named() -> None:
    assert notes("exec('import calc')\n") == (
        f"{PATH}:1: runs code from a text when it is imported: exec('import calc')",
    )


def test_what_a_test_changes_and_leaves_is_named() -> None:
    text = "def test_a():\n    import calc\n\n    calc.double = 1\n"
    assert notes(text) == (f"{PATH}:4: {WHILE_IT_RUNS}: calc.double = 1",)


@pytest.mark.parametrize(
    "text",
    [
        "import calc\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(calc, 'x', 1)\n",
        "from unittest import mock\n\n\n@mock.patch('calc.double')\ndef test_a(d):\n    pass\n",
        "from unittest import mock\n\n\ndef test_a():\n    with mock.patch('a.b'):\n        pass\n",
        "import pytest\n\nmp = pytest.MonkeyPatch()\nmp.undo()\n",
        "import os\n\nos.environ['A'] = 'b'\n",
        "import calc\n\ncart = calc.Cart()\ncart.total = 5\n",
        "import calc\n\n\ndef test_a(calc):\n    calc.total = 5\n",
        "import calc\n\n\nclass TestA:\n    def test_a(self):\n        self.total = calc.double\n",
        "import calc\n\nrows = []\nrows.append(calc.double(1))\ndouble = calc.double\n",
        "import calc\n\ncalc.TABLE.get('x')\n",
        "import threading\n\nthreading.Thread(target=print).start()\n",
        "import calc\n\n\ndef test_a():\n    table = {}\n    table[2] = calc.double(1)\n",
        "from calc import table\n\n\ndef test_a():\n    table = {}\n    table[2] = 4\n",
        "import c\n\n\ndef a():\n    t = c.T\n\n\ndef b():\n    t = [1]\n    u = t\n    u[0] = 2\n",
        "import calc\n\nrows = calc.rows()\nrows[0] = 1\ncalc.rows()[0] = 2\n",
        "import calc\n\n\ndef test_a(table):\n    table[2] = calc.double(1)\n",
        "import calc\n\n\ndef test_a():\n    for row in calc.rows():\n        row['a'] = 1\n",
        "from os import environ as e\n\ne['A'] = 'b'\ndel e['A']\n",
        "import os\n\nenv = os.environ\nenv['A'] = 'b'\nos.environ.pop('A')\n",
        "import calc\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setitem(calc.T, 2, 4)\n",
        "import calc\n\nfor n in (1, 2):\n    globals()[f'test_{n}'] = lambda n=n: None\n",
        "import calc\n\nx = globals()['rows']\nx.append(1)\nx.size = calc.double(1)\n",
        "import c\n\n\nclass A:\n    def a(self, **k):\n        self.__dict__.update(k, x=c.x)\n",
        "import calc\n\nput = lambda m: m.update(a=1)\nput(calc.rows())\n",
        "import os\n\n\ndef test_a(tmp_path):\n    os.remove(tmp_path / 'a')\n",
    ],
)
def test_what_is_undone_or_belongs_to_the_test_is_no_patch(text: str) -> None:
    assert notes(text) == ()


def test_only_what_a_change_adds_is_named() -> None:
    before = "import calc\ncalc.double = 1\n"
    assert notes(f"# moved\n{before}", before) == ()
    added = f"{before}calc.double = 1\n"
    assert notes(added, before) == (f"{PATH}:3: {ON_IMPORT}: calc.double = 1",)


@pytest.mark.parametrize("path", ["tests/helpers.py", "pkg/test_a.py", "tests/conftest.py"])
def test_all_that_runs_with_the_tests_is_looked_at(path: str) -> None:
    assert notes("import calc\ncalc.x = 1\n", path=path) != ()


@pytest.mark.parametrize("path", ["src/a.py", "tests/data.txt"])
def test_what_does_not_run_with_the_tests_is_not(path: str) -> None:
    assert notes("import calc\ncalc.x = 1\n", path=path) == ()
    gone = [Change(status="D", path=PATH)]
    assert patch_notes(gone, lambda _: b"import a\na.b = 1\n", lambda _: None) == ()


@pytest.mark.parametrize("text", ["def (", "\0", "x = " + "-" * 100_000 + "1", "# é\n" * 500_001])
def test_a_file_that_cannot_be_read_is_said_to_be(text: str) -> None:
    said = f"{PATH}: it cannot be read as Python, so what it replaces is not known"
    assert notes(text) == (said,)


def test_what_python_warns_of_in_a_file_is_no_matter(recwarn: pytest.WarningsRecorder) -> None:
    assert notes("x = '\\d'\nimport calc\ncalc.x = 1\n") != ()
    assert len(recwarn) == 0


def test_threads_leave_the_warnings_of_the_process_as_they_were() -> None:
    text = ("import calc\n" + "x = '\\d'\n" * 300).encode()
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(patches_in, [text] * 40))
    assert warnings.filters == before


def test_a_long_function_needs_no_more_room_than_its_text() -> None:
    names = ",".join(f"a{number}" for number in range(1_000))
    text = f"import {names}\ndef f(x):\n" + " 0\n" * 1_000
    tracemalloc.start()
    try:
        patches_in(text.encode())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_parameter_hides_a_name_in_its_function_alone() -> None:
    text = "import calc\n\n\ndef f(calc):\n    g = lambda calc: 0\n    calc.x = 1\n\n\ncalc.y = 1\n"
    assert notes(text) == (f"{PATH}:9: {ON_IMPORT}: calc.y = 1",)


@pytest.mark.parametrize(
    ("after", "named"),
    [
        ('# \f\n"""\ncalc.x = 1\n"""; calc.run = 2\n', '5: {}: """; calc.run = 2'),
        ("# \u2028\ncalc.x = 2\n", "3: {}: calc.x = 2"),
        ("calc.x = 1; calc.run = 2\n", "2: {}: calc.x = 1; calc.run = 2"),
        ("calc.x = (\n1)\ncalc.x = (\n2)\n", "4: {}: calc.x = ("),
        ("for calc.x in [2]:\n    pass\n", "2: {}: for calc.x in [2]:"),
    ],
)
def test_a_new_patch_does_not_pass_for_an_old_one(after: str, named: str) -> None:
    before = "import calc\ncalc.x = 1\nfor calc.x in [1]:\n    pass\n"
    assert notes(f"import calc\n{after}", before) == (f"{PATH}:{named.format(ON_IMPORT)}",)


def test_a_patch_that_is_laid_out_anew_is_the_same() -> None:
    before = "import calc\nfor calc.x in [1]:\n    pass\n"
    assert notes("import calc\nfor calc.x in [\n    1]:\n    print()\n", before) == ()


def test_a_base_that_could_not_be_read_hides_nothing() -> None:
    assert notes("import calc\ncalc.x = 1\n", "def (") != ()


def test_a_file_of_another_encoding_is_read_by_its_word() -> None:
    [patch] = patches_in("# coding: latin-1\nimport a\na.ä = 1\n".encode("latin-1"))
    assert patch.number == 3
