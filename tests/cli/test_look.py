"""The commands that look, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.event_samples import SESSION, session_start, tool_result
from support.session_files import Shelf, append_line, log_of, snapshot
from support.warm_start import warm_tilth

TILTH = str(Path(sys.executable).with_name("tilth"))
HEAVY = """
import contextlib, io, json, os, sys
from pathlib import Path
from tilth.config import init
from tilth.show import config, doctor, events, info, overview, task
environ = dict(os.environ)
with contextlib.redirect_stdout(io.StringIO()):
    overview.welcome(environ=environ)
    info.info(None, as_json=False, environ=environ)
    info.info("latest", as_json=False, environ=environ)
    task.show("latest", "T-001", as_json=False, environ=environ)
    events.events("latest", environ=environ)
    config.config(as_json=False, environ=environ)
    doctor.doctor(online=False, as_json=False, environ=environ)
    init.init(environ=environ)
print(json.dumps([name for name in ("anthropic", "starlette", "httpx2") if name in sys.modules]))
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def tilth(shelf: Shelf, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(warm_tilth()), *args],
        env={**shelf.environ, **environ},
        cwd=shelf.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_bare_tilth_says_where_things_stand(shelf: Shelf) -> None:
    shelf.add_story()
    done = tilth(shelf)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == (
        f"{SESSION} is failed · 1 of 3 tasks done · failed: T-002"
    )
    assert done.stdout.splitlines()[-1] == f"next  tilth resume {SESSION}"


def test_a_command_nobody_knows_is_wrong_usage(shelf: Shelf) -> None:
    assert tilth(shelf, "inof").returncode == 2


@pytest.mark.parametrize(
    "args",
    [
        ("info", "2025"),
        ("info", "20261116-221530-ffffff"),
        ("info", "2026"),
        ("show", "2025", "T-001"),
        ("show", "20261116", "T-009"),
        ("events", "2025"),
        ("events", "20261116", "--type", "nothing"),
    ],
)
def test_bad_input_is_one_line_and_exit_2_and_changes_nothing(
    shelf: Shelf, args: tuple[str, ...]
) -> None:
    shelf.add_story()
    shelf.add("20261115-010101-0a0a0a")
    before = snapshot(shelf.root)
    done = tilth(shelf, *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("tilth: ")
    assert done.stderr.count("\n") == 1
    assert snapshot(shelf.root) == before


@pytest.mark.parametrize("args", [("info", "latest"), ("show", "latest", "T-001"), ("events",)])
def test_a_corrupt_log_is_one_line_and_exit_2(shelf: Shelf, args: tuple[str, ...]) -> None:
    append_line(shelf.add(events=log_of(session_start())), "junk\n{}\n")
    done = tilth(shelf, *args)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "events.jsonl: line 2 is not JSON" in done.stderr


@pytest.mark.parametrize(
    "args", [("info",), ("info", "latest"), ("show", "latest", "T-001"), ("config",)]
)
def test_json_is_one_document_and_nothing_else(shelf: Shelf, args: tuple[str, ...]) -> None:
    shelf.add_story()
    done = tilth(shelf, *args, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert isinstance(json.loads(done.stdout), dict)


def test_init_writes_once_and_refuses_the_second_time(shelf: Shelf) -> None:
    first = tilth(shelf, "init")
    assert first.returncode == 0
    assert Path(first.stdout.strip()).is_file()
    again = tilth(shelf, "init")
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_a_reader_that_goes_away_is_no_error(shelf: Shelf) -> None:
    shelf.add(events=log_of(*[tool_result("bash", "x" * 200)] * 3000))
    command = [TILTH, "events"]
    with subprocess.Popen(
        command, env=shelf.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""


def test_a_reader_that_was_never_there_is_no_error(shelf: Shelf) -> None:
    shelf.add_story()
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [TILTH, "info"], env=shelf.environ, stdout=writes, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_ends_following_cleanly(shelf: Shelf) -> None:
    shelf.add(status="running", events=log_of(session_start()))
    command = [TILTH, "events", "--follow"]
    with (
        shelf.held(),
        subprocess.Popen(
            command, env=shelf.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert "session_start" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == "tilth: interrupted\n"


def test_looking_imports_no_sdk_and_no_server(shelf: Shelf) -> None:
    shelf.add_story()
    done = subprocess.run(
        [sys.executable, "-B", "-c", HEAVY],
        env={**shelf.environ, "TILTH_SANDBOX": "off"},
        cwd=shelf.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
