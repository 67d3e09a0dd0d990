"""The installed command: answer and eval-check."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from support.flow_site import Site, accept
from support.messages_api import MessagesServer
from support.warm_start import warm_tilth


def tilth(site: Site, url: str, *args: str) -> subprocess.CompletedProcess[str]:
    environ = site.environ(url, PATH=os.environ["PATH"])
    command = [str(warm_tilth()), *args]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, timeout=120
    )


def test_eval_check_prints_one_document_whatever_the_figures(tmp_path: Path) -> None:
    site = Site(tmp_path, {"TILTH_SANDBOX": "auto"})
    with MessagesServer(lambda request: accept()) as server:
        done = tilth(site, server.url, "eval-check", "--json", "--limit", "2")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["false_accept"]["count"] == figures["false_accept"]["of"] == 1
    assert (figures["false_reject"]["count"], figures["false_reject"]["of"]) == (0, 1)


def test_an_answer_to_no_session_is_one_line_and_exit_2(tmp_path: Path) -> None:
    done = tilth(Site(tmp_path), "http://127.0.0.1:1", "answer", "20261116", "R-001", "Yes.")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tilth: no session starts with '20261116'")
    assert len(done.stderr.splitlines()) == 1
