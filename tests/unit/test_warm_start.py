"""What forks for others outlives those who ask and are ended before they have said all."""

from __future__ import annotations

import marshal
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.warm_start import warm_python


def whole(script: Path) -> bytes:
    data = marshal.dumps(([str(script)], str(script.parent), dict(os.environb)))
    return len(data).to_bytes(8, "big") + data


@pytest.mark.parametrize("length", [0, 8, 40, None])
@pytest.mark.parametrize("first", [b"", bytes(8)], ids=["at once", "after staying"])
def test_whoever_is_gone_in_the_middle_of_asking_ends_nobody_else(
    tmp_path: Path, length: int | None, first: bytes
) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('served')\n")
    python = warm_python()
    files = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(python.parent.parent / "socket"))
        said = first + whole(script)[:length]
        if said:
            socket.send_fds(link, [said[:8]], files)
            link.sendall(said[8:])
    for file in files:
        os.close(file)
    done = subprocess.run([python, "-I", "-B", script], capture_output=True, text=True, check=True)
    assert done.stdout == "served\n"


def plain(**more: str) -> dict[str, str]:
    """Give the environment without what makes a start cold."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**own, **more}


def run(*words: str | Path, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        [warm_python(), *words],
        cwd=cwd,
        env=plain(**variables),
        input="print('from stdin')",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("program", "code"), [("python -m pytest", 0), ("pytest", 2)])
def test_pytest_starts_warm_and_finds_what_a_cold_one_finds(
    tmp_path: Path, program: str, code: int
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "product.py").write_text("")
    (tmp_path / "tests" / "test_it.py").write_text(
        "import product, sys\n\ndef test_it(): print(sys.flags.isolated, 'by a fork')\n"
    )
    warm = warm_python().parent
    for place, isolated in ((warm, "1"), (Path(sys.executable).parent, "0")):
        line = f"{place}/{program} -q -s -p no:cacheprovider"
        done = subprocess.run(
            line.split(), cwd=tmp_path, env=plain(), capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout
        assert (f"{isolated} by a fork" in done.stdout) == (code == 0)
        assert "warning" not in done.stdout


@pytest.mark.parametrize(
    ("variable", "value", "isolated"),
    [
        ("PYTHONHASHSEED", "0", 0),
        ("PYTHONSAFEPATH", "1", 0),
        ("PYTHONWARNINGS", "ignore", 0),
        ("PYTHONPATH", "", 0),
        ("PYTHONUNBUFFERED", "1", 1),
        ("PYTHONDONTWRITEBYTECODE", "1", 1),
        ("PYTHON_VERSION", "3", 1),
    ],
)
def test_pytest_starts_cold_where_a_variable_means_something_to_python(
    tmp_path: Path, variable: str, value: str, isolated: int
) -> None:
    (tmp_path / "test_it.py").write_text("import sys\n\ndef test_it(): print(sys.flags.isolated)\n")
    words = ("-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_it.py")
    assert run(*words, cwd=tmp_path, **{variable: value}).splitlines()[0] == f"{isolated}"


def test_what_hears_no_variables_starts_warm_whatever_they_say(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('pytest' in sys.modules)\n")
    assert run("-I", "-B", script, cwd=tmp_path, PYTHONHASHSEED="0") == "True\n"


@pytest.mark.parametrize("words", [(), ("-",), ("-W", "error", "-")])
def test_a_start_without_a_script_is_as_a_cold_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert run("-I", "-B", *words, cwd=tmp_path) == "from stdin\n"


@pytest.fixture
def short() -> Iterator[Path]:
    """Give a temporary directory whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


def opened(place: Path, run: str) -> subprocess.Popen[str]:
    """Have something that wants a server in a temporary directory until its input ends.

    Its errors end when the server has ended too.
    """
    words = "import sys; from support import warm_start as warm"
    wait = "print(warm._open('bare', flags=[], loads=[]), flush=True); sys.stdin.read()"
    tests = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", f"{words}; {wait}"],
        env=plain(TMPDIR=str(place), PYTEST_XDIST_TESTRUNUID=run, PYTHONPATH=tests),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_all_runs_leave_one_lock_and_nothing_else(short: Path) -> None:
    for name in ("one", "two"):
        with opened(short, name) as process:
            said, complaints = process.communicate()
        assert (Path(said.strip()).name, complaints) == ("bare", "")
    assert [path.name for path in short.iterdir()] == [f"tilth-warm-{os.getuid()}.lock"]


def test_a_place_that_was_begun_anew_is_left_even_with_the_same_inode(short: Path) -> None:
    with opened(short, "one") as process:
        assert process.stdout is not None
        root = Path(process.stdout.readline().strip()).parents[1]
        shutil.rmtree(root / "bin")
        for path in root.iterdir():
            path.unlink()
        (root / "token").write_text("another's")
        _, complaints = process.communicate()
    assert complaints == ""
    assert os.listdir(root) == ["token"]
