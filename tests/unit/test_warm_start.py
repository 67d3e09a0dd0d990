"""What forks for others outlives those who ask and are ended before they have said all."""

from __future__ import annotations

import marshal
import os
import socket
import subprocess
import sys
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
    # With it, a start is always cold.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for place, isolated in ((warm, "1"), (Path(sys.executable).parent, "0")):
        line = f"{place}/{program} -q -s -p no:cacheprovider"
        done = subprocess.run(
            line.split(), cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout
        assert (f"{isolated} by a fork" in done.stdout) == (code == 0)
        assert "warning" not in done.stdout
