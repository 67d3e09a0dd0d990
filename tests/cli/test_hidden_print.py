"""What is printed hides the keys that are known by then, whichever command prints it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.flow_site import KEY, Site, accept, solve, submit, write
from support.light_gate import light_site
from support.warm_start import warm_tilth

# No key when it was committed; one by the time that somebody looks.
LATER = "sk-later-9876543210fedcba"
TOKEN = "later-token-of-the-remote-12345"  # a made-up one


def tilth(site: Site, *args: str) -> subprocess.CompletedProcess[str]:
    plain = {"TILTH_API_KEY": LATER, "TILTH_SANDBOX": "auto", "TILTH_PYTHON": sys.executable}
    environ = {**site.environ("http://127.0.0.1:1"), **plain}
    return subprocess.run(
        [str(warm_tilth()), *args],
        env={**environ, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_diff_of_a_replay_hides_a_key_that_is_known_by_now(tmp_path: Path) -> None:
    site = light_site(tmp_path)
    leak = write("leak.txt", f"{LATER}\n{TOKEN}\n")
    run = site.run(site.bundle(1), worker=[leak + solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    log = run.session / "events.jsonl"
    # Nobody knows whether it was done, so the replay leaves it out and has another tree.
    cut = re.compile(r'("name":"write_file"[^\n]*)"interrupted":false')
    log.write_text(cut.sub(r'\1"interrupted":true', log.read_text(), count=1))
    with (site.repo / ".git" / "config").open("a") as config:
        config.write(f'[remote "x"]\n\turl = https://u:{TOKEN}@example.org/x\n')
    done = tilth(site, "replay", "latest")
    assert "T-001: differs" in done.stdout, done
    assert "leak.txt" in done.stdout
    assert f"[hidden: {len(LATER)} characters]" in done.stdout
    assert f"[hidden: {len(TOKEN)} characters]" in done.stdout
    assert not any(secret in done.stdout + done.stderr for secret in (LATER, TOKEN, KEY))


@pytest.mark.parametrize("args", [("info", LATER), ("check", LATER)])
def test_an_error_does_not_repeat_a_key(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = tilth(Site(tmp_path), *args)
    assert done.returncode == 2
    assert LATER not in done.stdout + done.stderr
