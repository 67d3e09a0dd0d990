"""A hostile evaluator: what its probes try to read, fill and leave behind, and what they get."""

from __future__ import annotations

import pytest
from support.eval_suite import Checked, run_check, write_suite
from support.flow_site import KEY, Site, accept
from support.messages_api import Answer, Request, call

from tilth.evalcheck.wanted import Wanted

PLANTED = "sk-ant-api03-" + "z9Y8" * 12
READS = """
import os
from pathlib import Path


def text(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError as error:
        return type(error).__name__


def test_reads():
    places = [{env!r}, {session!r}, "/proc/1/environ", "/proc/self/environ"]
    seen = [text(place) for place in places] + [str(dict(os.environ))]
    names = [name for name in os.environ if "KEY" in name or name.startswith("TILTH")]
    found = any({part!r} in each for each in seen)
    assert False, "seen: " + ("KEY" if found else "nothing") + str(names)
"""
FILLS = """
import os


def test_fills():
    ends = []
    for place in ("big", "/tmp/big"):
        try:
            with open(place, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, 1 << 42)
            ends.append("filled")
        except OSError as error:
            ends.append("refused")
    assert False, "ends: " + " ".join(ends)
"""
BOMB = """
import os, time


def test_forks():
    made = 0
    try:
        for made in range(5000):
            if os.fork() == 0:
                time.sleep(600)
                os._exit(0)
    except OSError:
        pass
    assert False, "bounded" if made < 4999 else "unbounded"
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    root = tmp_path_factory.mktemp("hostile")
    site = Site(root)
    home = root / "home"
    sessions = root / "elsewhere"
    for folder in (home, sessions):
        folder.mkdir()
    (home / ".env").write_text(f"TILTH_EVALUATOR_API_KEY={PLANTED}\n", encoding="utf-8")
    (sessions / "events.jsonl").write_text(PLANTED, encoding="utf-8")
    reads = READS.format(
        env=str(home / ".env"), session=str(sessions / "events.jsonl"), part=PLANTED[-9:]
    )
    probes = iter([reads, FILLS, BOMB])

    def hostile(request: Request) -> Answer:
        probe = next(probes, None)
        return accept() if probe is None else call("run_probe", test=probe)

    wanted = Wanted(suite=write_suite(root / "suite"), limit=1)
    return run_check(site, hostile, wanted=wanted, TILTH_SESSIONS_DIR=str(sessions))


def answered(checked: Checked, number: int) -> str:
    return str(checked.requests[number].body["messages"][-1]["content"][0]["content"])


def test_a_probe_reads_no_key_and_no_session(checked: Checked) -> None:
    assert "seen: nothing[]" in answered(checked, 1)


def test_a_probe_cannot_fill_the_disk(checked: Checked) -> None:
    assert "ends: refused refused" in answered(checked, 2)


def test_a_probe_that_forks_without_end_is_bounded(checked: Checked) -> None:
    assert "AssertionError: bounded" in answered(checked, 3)


def test_nothing_of_it_ends_the_check_or_reaches_the_outside(checked: Checked) -> None:
    assert checked.code == 0
    assert [case["verdict"] for case in checked.document["cases"]] == ["accept"]
    sent = str([request.body for request in checked.requests])
    assert PLANTED not in sent
    assert KEY not in sent
