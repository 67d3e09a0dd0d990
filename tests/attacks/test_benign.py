"""Benign twins that need the wall: honest work on ordinary projects passes behind it.

What needs no wall stands in the table of tricks, as honest twins (`test_tricks.py`).
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, submit, task, write
from support.messages_api import Answer, call

BASE = {"shop.py": "RATE = 2\n", "old.py": "VALUE = 1\n"}
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
TESTS = {1: NAMES_TEST, 2: SYSTEM_TEST}
SHAPES = {
    "files in many letters, and a file to delete": 1,
    "programs, processes, a database and servers in its tests": 2,
}


def case(path: str) -> Answer:
    return submit(1, ac_coverage=[{"criterion": "1", "addressed_by": path}])


def work() -> list[Answer]:
    """Do the tasks as an honest worker would."""
    return [
        write("größe.py", 'def maß():\n    return "ein Meter"\n')
        + write("données à lire.txt", "ein Meter\n")
        + call("bash", command="rm old.py")
        + case("größe.py:maß"),
        write("shop.py", "RATE = 2\n\n\ndef triple(number):\n    return number * 3\n")
        + case("shop.py:triple"),
    ]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    site = Site.make(tmp_path_factory.mktemp("benign") / "site", BASE)
    bundle = site.bundle(tasks=[task(number) for number in TESTS])
    for number, text in TESTS.items():
        (bundle / "tests" / f"test_t{number:03d}_it.py").write_text(text)
    return site.run(bundle, worker=work(), evaluator=[accept()] * 2, TILTH_SANDBOX="auto")


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


INI_TEST = """\
from importlib.metadata import version

import iniconfig


def test_names():
    assert iniconfig.names(iniconfig.IniConfig("x.ini", data="[a]\\n[b]\\n")) == ["a", "b"]


def test_is_installed():
    assert version("iniconfig") == "99.0"
"""
NAMES = "\n\ndef names(ini):\n    return [section.name for section in ini]\n"


def files_of(package: str) -> dict[str, str]:
    """Give the source of a package that is installed here."""
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    own = Path(found.origin).parent
    return {f"src/{package}/{file.name}": file.read_text("utf-8") for file in own.glob("*.py")}


def installed(site: Site) -> None:
    """Install the project as it stands into the repository's own virtual environment."""
    venv = site.repo / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    # By the order of their names it is found before the one that pytest brought along.
    (packages / "__editable__.iniconfig.pth").write_text(f"{site.repo}/src\n")
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    about = packages / "iniconfig-99.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: iniconfig\nVersion: 99.0\n")


def test_honest_work_passes_on_an_installed_package_that_pytest_itself_imports(
    tmp_path: Path,
) -> None:
    base = {
        **files_of("iniconfig"),
        ".gitignore": ".venv\n",
        "tests/__init__.py": "",
        "tests/conftest.py": "import iniconfig\n",
        "setup.cfg": "[tool:pytest]\naddopts = --import-mode=importlib\n",
    }
    site = Site.make(tmp_path / "site", base)
    installed(site)
    folder = site.bundle(tasks=[task(1)])
    (folder / "tests" / "test_t001_names.py").write_text(INI_TEST)
    init = "src/iniconfig/__init__.py"

    run = site.run(
        folder,
        worker=[
            write(init, base[init] + NAMES)
            + call("bash", command="python -m pytest -q")
            + case(f"{init}:names"),
        ],
        evaluator=[accept()],
        TILTH_SANDBOX="auto",
    )

    assert run.code == 0
    (proved,) = [item["content"] for item in run.of("tool_result") if item["name"] == "bash"]
    assert "2 passed" in proved
    assert run.of("seed_tampered") == []
    assert "def names" not in (site.repo / init).read_text("utf-8")
