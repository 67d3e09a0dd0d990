"""Probes: what one pytest file of the evaluator's says about a tree, and what it cannot do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, Project, WarmProject

from tilth.contract.evidence import MOST_PROBE_CHARS, Probed, ProbeOutcome
from tilth.contract.prd import Plan

FAILS = "from calc import add\n\n\ndef test_of_three():\n    assert add(add(1, 1), 1) == 4\n"
PASSES = "from calc import add\n\n\ndef test_of_two():\n    assert add(1, 1) == 2\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = WarmProject(tmp_path, {"calc.py": "", "tests/test_t001_add.py": ADD_TEST})
    project.write({"calc.py": RIGHT})
    return project


def probed(project: Project, text: str, **more: object) -> Probed:
    tree = project.workspace.freeze(project.base).tree
    plan = Plan(tasks=project.tasks)
    return project.gate(**more).probe(project.tasks[0], plan, project.base, tree, text)


def test_a_probe_that_fails_says_so_with_what_pytest_printed(project: Project) -> None:
    found = probed(project, FAILS)
    assert found.outcome is ProbeOutcome.FAILED
    assert "assert 3 == 4" in found.output
    assert str(project.root) not in found.output


def test_a_probe_that_passes_proves_nothing(project: Project) -> None:
    assert probed(project, PASSES).outcome is ProbeOutcome.PASSED


@pytest.mark.parametrize(
    "text",
    [
        "this is no Python at all (",
        "",
        "x = 1\n",
        "import nothing_of_that_name\n\n\ndef test_it():\n    assert False\n",
        "def test_it(no_such_fixture):\n    assert False\n",
        "import os\n\n\ndef test_it():\n    os._exit(1)\n",
        "import pytest\n\n\n@pytest.mark.skip\ndef test_it():\n    assert False\n",
        "\ud800",
    ],
)
def test_a_probe_of_which_no_test_ran_is_told_apart(project: Project, text: str) -> None:
    assert probed(project, text).outcome is ProbeOutcome.NOT_COLLECTED


def test_a_probe_that_hangs_is_ended_in_time(project: Project) -> None:
    hangs = "import time\n\n\ndef test_it():\n    time.sleep(600)\n"
    assert probed(project, hangs, timeout_s=3.0).outcome is ProbeOutcome.TIMED_OUT


def test_a_probe_of_five_megabytes_is_not_run(project: Project) -> None:
    found = probed(project, f"{PASSES}\n" + "#" * 5_000_000)
    assert found.outcome is ProbeOutcome.TOO_LONG
    assert str(MOST_PROBE_CHARS) in found.render()


def test_what_a_probe_leaves_running_is_ended(project: Project, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    forks = (
        "import os, time\n\n\ndef test_it():\n"
        f"    if os.fork() == 0:\n        os.setsid()\n"
        f"        open({str(note)!r}, 'w').write(str(os.getpid()))\n        time.sleep(600)\n"
        f"    while not os.path.exists({str(note)!r}) or not open({str(note)!r}).read():\n"
        "        time.sleep(0.01)\n    assert False\n"
    )
    # A cold one: only what it started itself is its to end.
    python = Path(sys.executable)
    assert probed(project, forks, python=python).outcome is ProbeOutcome.FAILED
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_probe_cannot_change_what_is_judged(project: Project) -> None:
    edits = (
        "from pathlib import Path\n\n\ndef test_it():\n"
        "    Path('calc.py').write_text('def add(a, b):\\n    return 7\\n')\n"
        "    Path('left.txt').write_text('here')\n    assert False\n"
    )
    tree = project.workspace.freeze(project.base).tree
    gate, plan = project.gate(), Plan(tasks=project.tasks)
    arguments = (project.tasks[0], plan, project.base, tree)
    assert gate.probe(*arguments, edits).outcome is ProbeOutcome.FAILED
    assert gate.probe(*arguments, PASSES).outcome is ProbeOutcome.PASSED
    kept = gate.files_of(tree)
    assert (kept / "calc.py").read_text() == RIGHT
    assert not (kept / "left.txt").exists()
    assert (project.workspace.path / "calc.py").read_text() == RIGHT


def test_a_probe_of_a_huge_output_is_kept_head_and_tail(project: Project) -> None:
    chatty = "def test_it():\n    print('y' * 10_000_000)\n    assert 'the end' == ''\n"
    found = probed(project, chatty)
    assert found.outcome is ProbeOutcome.FAILED
    assert len(found.output) < 20_000
