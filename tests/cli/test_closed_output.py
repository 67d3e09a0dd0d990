"""Streams that cannot be used: one clear line, never a traceback, and the same exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.session_files import Shelf


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_no_internal_error(
    tmp_path: Path, redirection: str
) -> None:
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = _typed(f"config {redirection}", tmp_path)
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("config 2>&-", 0),
        ("info nope 2>&-", 2),
        ("info nope >&- 2>&- <&-", 2),
        ("take --only , 2>&-", 2),
        ("events latest --digest --raw 2>&-", 2),
    ],
)
def test_without_stderr_the_exit_code_is_the_same(tmp_path: Path, words: str, code: int) -> None:
    done = _typed(words, tmp_path)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("words", ["reset --all", "tell latest -", "answer latest R-001 -"])
def test_without_stdin_there_is_nobody_to_ask(tmp_path: Path, words: str) -> None:
    Shelf(tmp_path).add_story()
    done = _typed(f"{words} <&-", tmp_path)
    assert done.returncode == 2
    assert "internal error" not in done.stderr


@pytest.mark.parametrize("words", ["--help", "--version", "info -h", "take --help", "nope"])
def test_a_help_that_cannot_be_printed_is_one_line(tmp_path: Path, words: str) -> None:
    full = _full()
    done = _typed(f"{words} >{full} 2>{full if words == 'nope' else '&2'}", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == (words != "nope")


@pytest.mark.parametrize("words", ["info nope", "config"])
def test_a_full_stderr_leaves_the_exit_code_alone(tmp_path: Path, words: str) -> None:
    assert _typed(f"{words} 2>{_full()}", tmp_path).returncode == (0 if words == "config" else 2)


def test_what_was_written_is_written_though_it_cannot_be_said(tmp_path: Path) -> None:
    done = _typed(f"init >{_full()}", tmp_path)
    assert (tmp_path / "home" / ".env").exists()
    assert (done.returncode, "it is done, but could not be printed" in done.stderr) == (0, True)


def test_what_was_removed_is_removed_though_it_cannot_be_said(tmp_path: Path) -> None:
    directory = Shelf(tmp_path).add_story()
    done = _typed(f"reset {directory.name} --yes --discard --json >{_full()}", tmp_path)
    assert (done.returncode, directory.exists()) == (0, False)
    assert "it is done, but could not be printed" in done.stderr


def test_a_stderr_that_stays_full_leaves_the_exit_code_alone(tmp_path: Path) -> None:
    end, into = os.pipe()
    os.set_blocking(into, False)
    with suppress(BlockingIOError):
        while True:
            os.write(into, b"-" * 4096)
    done = subprocess.run(
        [sys.executable, "-m", "tilth", "info", "nope"],
        env={"PATH": os.environ["PATH"], "TILTH_HOME": str(tmp_path / "home")},
        stderr=into,
        check=False,
    )
    os.close(into)
    os.close(end)
    assert done.returncode == 2


def test_what_was_printed_is_kept_when_a_file_fails_later() -> None:
    """Into a pipe, lines are held back until there are many of them, or the end."""
    code = (
        "from tilth.cli.edge import guarded\n"
        "def command():\n"
        "    print('line one')\n"
        "    open('/dev/null/file')\n"
        "guarded(command)()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "line one\n"
    assert "tilth: cannot go on: Not a directory: /dev/null/file\n" in done.stderr


def test_a_current_directory_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    script = 'mkdir "$1" && cd "$1" && rmdir "$1" && "$0" -m tilth run .'
    home = {"PATH": os.environ["PATH"], "TILTH_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, str(gone)],
        env={**home, "TILTH_API_KEY": "sk-test-0123456789", "TILTH_WORKER_MODEL": "a-model"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == f"tilth: the current directory {gone} is gone; go to one that is there\n"


def test_no_file_of_ours_takes_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    code = (
        "from tilth.__main__ import hold_streams; hold_streams(); import os; "
        "print([os.fstat(n).st_rdev == os.stat(os.devnull).st_rdev for n in (0, 2)], "
        "os.get_inheritable(0), os.get_inheritable(2), os.open('/', os.O_RDONLY) > 2)"
    )
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" <&- 2>&-', sys.executable, code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[True, True] True True True\n"


def _full() -> str:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    return "/dev/full"


def _typed(words: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$0" -m tilth {words}', sys.executable],
        env={"PATH": os.environ["PATH"], "TILTH_HOME": str(home / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
