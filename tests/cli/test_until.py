"""The installed command: `--until` and the ping, refused in one line with nothing left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.flow_site import Site
from support.messages_api import MessagesServer, error
from support.warm_start import warm_tilth


def tilth(site: Site, url: str, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    environ = {**site.environ(url, PATH=os.environ["PATH"]), **environ}
    command = [str(warm_tilth()), *args]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("command", "until"),
    [
        ("run", "25:00"),
        ("run", "2020-01-01T07:00"),
        ("resume", "whenever"),
        # The clocks of Berlin are put forward over this hour.
        ("run", "2037-03-29T02:30"),
    ],
)
def test_a_time_that_cannot_be_meant_is_exit_2_with_one_line(
    tmp_path: Path, command: str, until: str
) -> None:
    site = Site.make(tmp_path)
    target = [str(site.bundle(1)), "--repo", str(site.repo)] if command == "run" else []
    done = tilth(site, "http://127.0.0.1:1", command, *target, "--until", until, TZ="Europe/Berlin")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("tilth: --until ")
    assert not site.sessions.exists()


def test_a_wrong_key_is_exit_2_before_anything_is_made(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer(lambda request: error(401, "bad key", "authentication_error")) as server:
        done = tilth(site, server.url, "run", str(site.bundle(1)), "--repo", str(site.repo))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("bad key; check TILTH_API_KEY")
    assert not site.sessions.exists() or not list(site.sessions.iterdir())
    assert len(server.requests) == 1
