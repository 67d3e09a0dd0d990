"""Benign twins: honest work on ordinary projects passes the same gate, behind the same wall."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, git, submit, task, write
from support.messages_api import Answer, call

CONFTEST = """\
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.last_report = report
    return report


@pytest.fixture
def basket():
    return [1, 2, 3]
"""
PYPROJECT = """\
[project]
name = "shop"
version = "1"

[tool.pytest.ini_options]
addopts = "-ra --strict-markers"

[tool.ruff.lint]
select = ["E", "F", "I"]
"""
BASE = {
    "shop.py": "RATE = 2\n",
    # Violations that stood there before are nobody's fault now.
    "legacy.py": "import sys\nimport os\nl = 1\n",
    "old.py": "VALUE = 1\n",
    "tests/conftest.py": CONFTEST,
    "pyproject.toml": PYPROJECT,
}
TOTAL_TEST = """\
import pytest
from shop import total


@pytest.mark.parametrize(("prices", "expected"), [((1, 2), 3), ((), 0), ((5,), 5)])
def test_total(prices, expected):
    assert total(prices) == expected


@pytest.mark.skip(reason="not on this machine")
def test_later():
    raise AssertionError


@pytest.mark.xfail(reason="known")
def test_known():
    assert total([1]) == 2


@pytest.mark.slow
def test_a_fixture_of_the_project(basket):
    assert total(basket) == 6


class TestTools:
    def test_fixtures_of_pytest(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setenv("CURRENCY", "EUR")
        monkeypatch.setattr("builtins.len", lambda _: 3)
        (tmp_path / "prices").write_text("1 2")
        print(total(map(int, (tmp_path / "prices").read_text().split())))
        assert capsys.readouterr().out == "3\\n"
"""
UNIT_TEST = """\
import unittest

from shop import double


class Doubling(unittest.TestCase):
    def setUp(self):
        self.two = 2

    def test_doubles(self):
        for number in (0, 1, -1):
            with self.subTest(number=number):
                self.assertEqual(double(number), number * self.two)

    @unittest.skipIf(True, "not here")
    def test_never(self):
        self.fail()
"""
SYSTEM_TEST = """\
import asyncio
import http.server
import multiprocessing
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.request

from shop import triple


def test_a_program():
    argv = [sys.executable, "-c", "import shop; print(shop.triple(2))"]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "6\\n"


def test_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(triple, [1, 2]) == [3, 6]


def test_a_database(tmp_path):
    base = sqlite3.connect(tmp_path / "shop.db")
    base.execute("create table prices (price)")
    base.execute("insert into prices values (?)", (triple(3),))
    assert base.execute("select price from prices").fetchall() == [(9,)]
    base.close()


def test_sockets():
    here, there = socket.socketpair()
    with here, there:
        here.sendall(bytes([triple(1)]))
        assert there.recv(1) == b"\\x03"


def test_a_server():
    handler = http.server.SimpleHTTPRequestHandler
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/shop.py") as page:
            assert b"triple" in page.read()
        server.shutdown()


def test_a_loop():
    async def later():
        await asyncio.sleep(0)
        return triple(4)

    assert asyncio.run(later()) == 12
"""
NAMES_TEST = """\
import importlib.util
import pathlib

import shop
from größe import maß


def test_names():
    here = pathlib.Path(shop.__file__).parent
    assert maß() == (here / "données à lire.txt").read_text(encoding="utf-8").strip()
    assert importlib.util.find_spec("old") is None
"""
STEER_TEST = """\
import pytest
from shop import quadruple


@pytest.mark.marked_by_the_task
def test_quadruples(seven):
    assert quadruple(seven) == 28
"""
HANDLERS_TEST = """\
import logging
import signal

from shop import watch


def test_handlers(caplog):
    with caplog.at_level(logging.INFO):
        watch()
    assert "watching" in caplog.text
    assert signal.getsignal(signal.SIGUSR1) is not signal.SIG_DFL
"""
FIXTURE = "\n\n@pytest.fixture\ndef seven(request):\n    return 7\n"
HOOK = "\n\ndef pytest_report_header(config):\n    return 'hello'\n"
MARKER = 'addopts = "-ra --strict-markers"\nmarkers = ["marked_by_the_task: by hand"]\n'
SHOP = {
    1: "RATE = 2\n\n\ndef total(prices):\n    return sum(prices)\n",
    2: "\n\ndef double(number):\n    return number * RATE\n",
    5: "\n\ndef quadruple(number):\n    return number * 4\n",
    3: "\n\ndef watch():\n    atexit.register(logging.shutdown)\n"
    '    signal.signal(signal.SIGUSR1, lambda *_: None)\n    logging.info("watching")\n',
    6: "\n\ndef triple(number):\n    return number * 3\n",
}
# The slow ones last: what is done is run again with every later task.
TESTS = {
    1: TOTAL_TEST,
    2: UNIT_TEST,
    3: HANDLERS_TEST,
    4: NAMES_TEST,
    5: STEER_TEST,
    6: SYSTEM_TEST,
}
SHAPES = {
    "own fixtures, hooks, parametrised tests and a marked skip": 1,
    "unittest classes": 2,
    "programs, processes, a database and servers in its tests": 6,
    "files in many letters, and a file to delete": 4,
    "a task that may change what steers the gate": 5,
    "handlers that stay": 3,
}


def case(path: str) -> Answer:
    return submit(1, ac_coverage=[{"criterion": "1", "addressed_by": path}])


def shop(*numbers: int, head: str = "") -> str:
    return head + "".join(SHOP[number] for number in numbers)


def work() -> list[Answer]:
    """Do the six tasks as an honest worker would."""
    conftest = CONFTEST + FIXTURE + HOOK
    pyproject = PYPROJECT.replace('addopts = "-ra --strict-markers"\n', MARKER)
    measure = 'def maß():\n    return "ein Meter"\n'
    imports = "import atexit\nimport logging\nimport signal\n\n"
    return [
        write("shop.py", shop(1)) + case("shop.py:total"),
        write("shop.py", shop(1, 2)) + case("shop.py:double"),
        write("shop.py", shop(1, 2, 3, head=imports)) + case("shop.py:watch"),
        write("größe.py", measure)
        + write("données à lire.txt", "ein Meter\n")
        + call("bash", command="rm old.py")
        + case("größe.py:maß"),
        write("tests/conftest.py", conftest)
        + write("pyproject.toml", pyproject.replace('version = "1"', 'version = "2"'))
        + write("shop.py", shop(1, 2, 3, 5, head=imports))
        + case("shop.py:quadruple"),
        write("shop.py", shop(1, 2, 3, 5, 6, head=imports)) + case("shop.py:triple"),
    ]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    site = Site.make(tmp_path_factory.mktemp("benign") / "site", BASE)
    more: dict[int, dict[str, Any]] = {5: {"may_change": ["conftest.py", "pyproject.toml"]}}
    plan = [task(number, **more.get(number, {})) for number in TESTS]
    bundle = site.bundle(tasks=plan)
    for number, text in TESTS.items():
        (bundle / "tests" / f"test_t{number:03d}_it.py").write_text(text)
    return site.run(bundle, worker=work(), evaluator=[accept()] * 6, TILTH_SANDBOX="auto")


@pytest.mark.parametrize("shape", SHAPES)
def test_honest_work_passes_in_a_project_with(shape: str, worked: Run) -> None:
    task_id = f"T-{SHAPES[shape]:03d}"
    reports = [
        event["payload"]
        for event in worked.events
        if event["type"] == "validator_run"
        and event["task_id"] == task_id
        and event["payload"]["phase"] == "case"
    ]
    assert [report["passed"] for report in reports] == [True, True], reports
    assert worked.tasks[task_id]["status"] == "done"


def test_honest_work_is_not_called_tampering(worked: Run) -> None:
    assert worked.code == 0
    assert worked.of("seed_tampered") == []
    assert worked.of("case_parse_error") == []
    log = git(worked.site.repo, "ls-tree", "-r", "--name-only", "-z", worked.branch)
    assert "old.py" not in log.split("\0")
    assert "données à lire.txt" in log.split("\0")


SRC_TEST = """\
from importlib.metadata import version

from shop.prices import double


def test_doubles():
    assert double(2) == 4


def test_is_installed():
    assert version("shop") == "1.0"
"""


def installed(site: Site) -> None:
    """Install the project as it stands into the repository's own virtual environment."""
    venv = site.repo / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    (packages / "__editable__.shop.pth").write_text(f"{site.repo}/src\n")
    about = packages / "shop-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")


def test_honest_work_passes_in_an_installed_package_with_a_src_layout(tmp_path: Path) -> None:
    base = {
        "src/shop/__init__.py": "",
        ".gitignore": ".venv\n",
        "tests/__init__.py": "",
        "tests/conftest.py": "import shop\n",
        "setup.cfg": "[tool:pytest]\naddopts = --import-mode=importlib\n",
    }
    site = Site.make(tmp_path / "site", base)
    installed(site)
    folder = site.bundle(tasks=[task(1)])
    (folder / "tests" / "test_t001_double.py").write_text(SRC_TEST)

    run = site.run(
        folder,
        worker=[
            write("src/shop/prices.py", "def double(x):\n    return 2 * x\n"),
            call("bash", command="python -m pytest -q") + case("src/shop/prices.py:double"),
        ],
        evaluator=[accept()],
        TILTH_SANDBOX="auto",
    )

    assert run.code == 0
    (proved,) = [item["content"] for item in run.of("tool_result") if item["name"] == "bash"]
    assert "2 passed" in proved
    assert run.of("seed_tampered") == []
    assert not (site.repo / "src" / "shop" / "prices.py").exists()
