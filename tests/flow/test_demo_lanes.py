"""The demo with lanes: ten recorded tasks side by side, a conflict, its rework, ten commits."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from support.demo_lanes_script import PARTS
from support.flow_site import git
from support.warm_start import warm_python

from tilth.base.errors import UserError
from tilth.config.settings import SandboxChoice
from tilth.demo import material
from tilth.demo.play import demonstrate
from tilth.log.events import LandingRefused
from tilth.log.reader import read_events
from tilth.log.verification import verify
from tilth.replay.run import replay


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = demonstrate(
            keep=False,
            fast=True,
            jobs="4",
            environ={"TILTH_HOME": str(home)},
            sandbox=SandboxChoice.OFF,
            python=warm_python(),
        )
    assert code == 0
    (home / "out.txt").write_text(out.getvalue(), encoding="utf-8")
    return home


def test_every_request_of_the_recording_is_true() -> None:
    assert verify(read_events(material.recording_path(lanes=True))).holds


def test_the_recording_names_no_place_of_any_machine() -> None:
    text = material.recording_path(lanes=True).read_text("utf-8")
    assert not re.findall(r"/(?:tmp|home|root|work|usr/local)/[\w.-]+", text)


def test_ten_commits_stand_in_the_order_of_one_job(home: Path) -> None:
    repo = home / "demo" / "last" / "invoices"
    log = git(repo, "log", "--reverse", "--format=%s", "main..", "--branches=session/*")
    subjects = [line for line in log.splitlines() if line.startswith("T-")]
    assert subjects == [f"{part.id}: {part.title}" for part in PARTS]


def test_the_conflict_and_its_rework_are_shown(home: Path) -> None:
    said = (home / "out.txt").read_text("utf-8")
    assert "not landed: in conflict with what has landed in invoices/__init__.py" in said
    assert "T-003 was accepted, but collided with T-002" in said
    [log] = (home / "demo" / "last" / "sessions").glob("*/events.jsonl")
    refused = [each for each in read_events(log) if isinstance(each.payload, LandingRefused)]
    assert [event.task_id for event in refused] == ["T-003"]


def test_its_own_log_is_true(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"TILTH_HOME": str(home / "demo" / "last")}
    assert replay("latest", verify_only=True, environ=environ) == 0
    assert "requests identical" in capsys.readouterr().out


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_a_number_of_jobs_that_is_none_is_refused(jobs: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--jobs"):
        demonstrate(keep=False, fast=True, jobs=jobs, environ={"TILTH_HOME": str(tmp_path)})
    assert not (tmp_path / "demo").exists()
