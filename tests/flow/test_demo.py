"""The demo: its recording, its play, and what it leaves behind.

Here it is played without a wall; `tests/cli/test_installed.py` plays it behind one, as it is found.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import demo_script
from support.warm_start import warm_python, with_warm_gate

from tilth.base.errors import UserError
from tilth.config.settings import SandboxChoice
from tilth.demo import material
from tilth.demo.play import OPENING, demonstrate
from tilth.log.events import EvaluatorVerdict, ValidatorRun
from tilth.log.reader import read_events
from tilth.log.state import fold
from tilth.log.verification import verify
from tilth.replay.run import replay

KEPT = "20250101-000000-abcdef"
AGAIN = "make it again with `.venv/bin/python tests/support/demo_script.py`"


class Shown:
    """Hold one demo: where it was played and what it said."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.environ = {"TILTH_HOME": str(home), **settings}
        self.out = self.err = ""

    def show(self) -> int:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = demonstrate(
                keep=False,
                fast=True,
                environ=dict(self.environ),
                sandbox=SandboxChoice.OFF,
                python=warm_python(),
            )
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    @property
    def commands(self) -> list[str]:
        return re.findall(r"(?m)^  ([^# ].*)$", self.out)

    def typed(self, command: str) -> str:
        """Type a command as it was printed; the viewer is left by Ctrl-C."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec env {command}"],
            env={**self.environ, "PATH": "/usr/local/bin:/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            first = ""
            if " visualize " in command:
                assert process.stdout is not None
                first = process.stdout.readline()
                process.send_signal(signal.SIGINT)
            rest, complaints = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == 0, (command, complaints)
        return first + rest


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    home = tmp_path_factory.mktemp("a home")
    (home / ".env").write_text("TILTH_MAX_TOKENS=many\n", encoding="utf-8")
    for place in ("last", KEPT):
        (home / "demo" / place).mkdir(parents=True)
        (home / "demo" / place / "old.txt").write_text("old", encoding="utf-8")
    made = Shown(home, TILTH_SESSIONS_DIR=str(home / "elsewhere"))
    made.environ["TILTH_ON_EXHAUSTED"] = "nonsense"
    assert made.show() == 0
    del made.environ["TILTH_ON_EXHAUSTED"]
    return made


def test_the_recording_goes_the_way_its_script_goes_today() -> None:
    kept = demo_script.essence(material.RECORDING.read_text("utf-8"))
    made = demo_script.essence(demo_script.record(with_warm_gate))
    assert demo_script.first_change(kept, made) is None, AGAIN
    assert len(kept) == len(made), AGAIN


def test_its_introduction_breaks_no_word_on_a_common_terminal() -> None:
    assert max(map(len, OPENING.splitlines())) < 80


def test_every_request_of_the_recording_is_true() -> None:
    found = verify(read_events(material.RECORDING))
    assert found.holds
    assert found.requests == 13


def test_the_recording_names_no_place_of_any_machine() -> None:
    text = material.RECORDING.read_text("utf-8")
    places = {str(Path(sys.prefix)), str(Path(sys.base_prefix)), str(Path.home()), "/tmp/"}
    assert [place for place in places if place in text] == []
    assert "127.0.0.1" not in text


def test_the_demo_shows_a_failing_gate_a_rejection_a_fix_and_an_accept(shown: Shown) -> None:
    [log] = shown.home.glob("demo/last/sessions/*/events.jsonl")
    story = []
    for event in read_events(log):
        payload = event.payload
        if isinstance(payload, ValidatorRun) and payload.phase == "case":
            if payload.name == "pytest":
                story.append((event.task_id, "green" if payload.passed else "red"))
        elif isinstance(payload, EvaluatorVerdict):
            story.append((event.task_id, payload.rejection_category or "accept"))
    assert story == [
        ("T-001", "red"),
        ("T-001", "green"),
        ("T-001", "accept"),
        ("T-002", "green"),
        ("T-002", "tests_pass_but_wrong"),
        ("T-002", "green"),
        ("T-002", "accept"),
    ]


def test_what_happened_and_the_commands_go_to_stdout_the_rest_to_stderr(shown: Shown) -> None:
    assert "evaluator ✗ rejects" in shown.out
    assert "rejects" not in shown.err
    assert len(shown.commands) >= 4
    assert "next      " not in shown.out


def test_the_commands_it_closes_with_work_as_they_are_printed(shown: Shown) -> None:
    said = "\n".join(shown.typed(command) for command in shown.commands)
    assert "http://127.0.0.1:" in said
    assert "T-002: Work out the due date from the payment terms" in said
    assert "tests_pass_but_wrong" in said
    assert "13/13 requests identical" in said


def test_its_own_session_replays(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"TILTH_HOME": str(shown.home / "demo" / "last")}
    assert replay("latest", verify_only=True, environ=environ) == 0
    assert "13/13 requests identical" in capsys.readouterr().out


def test_a_demo_takes_the_place_of_the_last_one_but_not_of_one_that_was_kept(shown: Shown) -> None:
    assert not (shown.home / "demo" / "last" / "old.txt").exists()
    assert (shown.home / "demo" / KEPT / "old.txt").exists()


@pytest.mark.parametrize("fault", ["missing", "torn", "middle", "newer", "changed"])
def test_a_recording_that_cannot_be_played_leaves_the_last_demo_alone(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = tmp_path / "events.jsonl"
    lines = material.RECORDING.read_text("utf-8").splitlines(keepends=True)
    start = json.loads(lines[0])
    start["payload"]["schema_version"] = 99
    spoiled = {
        "torn": [*lines[:-1], lines[-1][:50]],
        "middle": [*lines[:5], "{\n", *lines[6:]],
        "newer": [f"{json.dumps(start)}\n", *lines[1:]],
        "changed": [line.replace("3 passed", "9 passed") for line in lines],
    }
    if fault in spoiled:
        recording.write_text("".join(spoiled[fault]), encoding="utf-8")
    monkeypatch.setattr(material, "RECORDING", recording)
    (tmp_path / "demo" / "last").mkdir(parents=True)
    with pytest.raises(UserError, match="install Tilth again") as caught:
        demonstrate(keep=False, fast=True, environ={"TILTH_HOME": str(tmp_path)})
    assert len(str(caught.value).splitlines()) == 1
    assert (tmp_path / "demo" / "last").is_dir()


def test_the_project_is_the_same_everywhere(tmp_path: Path) -> None:
    one = material.lay_out_project(tmp_path / "one")
    two = material.lay_out_project(tmp_path / "two")
    start = fold(read_events(material.RECORDING)).start
    assert start is not None
    assert one.head == two.head == start.base_commit
