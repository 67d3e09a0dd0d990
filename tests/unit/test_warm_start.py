"""What forks for others outlives those who ask and are ended before they have said all."""

from __future__ import annotations

import marshal
import os
import socket
import subprocess
from pathlib import Path

import pytest
from support.warm_start import warm_python


def whole(script: Path) -> bytes:
    data = marshal.dumps(([str(script)], str(script.parent), dict(os.environb)))
    return len(data).to_bytes(8, "big") + data


@pytest.mark.parametrize("length", [0, 8, 40, None])
def test_whoever_is_gone_in_the_middle_of_asking_ends_nobody_else(
    tmp_path: Path, length: int | None
) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('served')\n")
    python = warm_python()
    files = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(python.parent.parent / "socket"))
        said = whole(script)[:length]
        if said:
            socket.send_fds(link, [said[:8]], files)
            link.sendall(said[8:])
    for file in files:
        os.close(file)
    done = subprocess.run([python, "-I", "-B", script], capture_output=True, text=True, check=True)
    assert done.stdout == "served\n"
