"""Two changes that cannot both land as they are: every kind of conflict, and what becomes of it.

None is recorded as success, none loses work, and each ends in a commit or an honest failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.flow_site import git, submit, write
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.messages_api import Answer, call

GATE = """
[tool.tilth]
defaults = false

[tool.tilth.validators.sums]
command = "./sums"
"""
# Red where both have raised the limit; nothing in the text of the two changes tells of it.
SUMS = "#!/bin/sh\ntest \"$(cat one.txt two.txt | tr '\\n' '+')\" != \"2+2+\"\n"
BASE = {
    "pyproject.toml": GATE,
    "sums": SUMS,
    "one.txt": "1\n",
    "two.txt": "1\n",
    "poem.txt": "".join(f"line {number}\n" for number in range(1, 21)),
}


def sh(command: str) -> Answer:
    return call("bash", command=command)


@dataclass(frozen=True)
class Kind:
    """Say what two tasks do to the same files, and how the second mends it."""

    first: Answer
    second: Answer
    mend: Answer
    cause: str | None
    files: tuple[str, ...] = ()
    left: tuple[tuple[str, str | None], ...] = ()


KINDS = {
    "the same line": Kind(
        sh("sed -i 's/^line 5$/line five/' poem.txt"),
        sh("sed -i 's/^line 5$/LINE 5/' poem.txt"),
        sh("sed -i -e '/^[<=>]\\{7\\}/d' -e '/^line five$/d' -e 's/^LINE 5$/LINE FIVE/' poem.txt"),
        "conflict",
        ("poem.txt",),
        (("poem.txt", "LINE FIVE"),),
    ),
    "the same file elsewhere": Kind(
        sh("sed -i 's/^line 2$/line two/' poem.txt"),
        sh("sed -i 's/^line 18$/line eighteen/' poem.txt"),
        sh("true"),
        None,
        (),
        (("poem.txt", "line two"), ("poem.txt", "line eighteen")),
    ),
    "deleted against edited": Kind(
        sh("rm poem.txt"),
        sh("sed -i 's/^line 5$/LINE 5/' poem.txt"),
        sh("rm -f poem.txt; echo 'LINE 5' > verse.txt"),
        "conflict",
        ("poem.txt",),
        (("poem.txt", None), ("verse.txt", "LINE 5")),
    ),
    "renamed against edited": Kind(
        sh("mv poem.txt song.txt"),
        sh("sed -i 's/^line 5$/LINE 5/' poem.txt"),
        sh("true"),
        None,
        (),
        (("song.txt", "LINE 5"), ("poem.txt", None)),
    ),
    "two new files of one name": Kind(
        write("new.txt", "by the first\n"),
        write("new.txt", "by the second\n"),
        write("new.txt", "by both\n"),
        "conflict",
        ("new.txt",),
        (("new.txt", "by both"),),
    ),
    "green apart and red together": Kind(
        write("one.txt", "2\n"),
        write("two.txt", "2\n"),
        write("two.txt", "3\n"),
        "gate",
        (),
        (("one.txt", "2"), ("two.txt", "3")),
    ),
}


def case(number: int) -> Answer:
    return submit(number, ac_coverage=[{"criterion": "1", "addressed_by": "sums"}])


@pytest.mark.parametrize("name", KINDS)
def test_a_conflict_ends_in_two_commits_and_loses_nothing(name: str, tmp_path: Path) -> None:
    kind, meeting = KINDS[name], Meeting(1, 2)
    steps = {1: [kind.first, case(1)], 2: [kind.second, case(2), kind.mend, case(2)]}
    script = Script(steps, before=lambda number, role: meeting.come(number))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2), BASE)
    _make_runnable(stage)
    run = stage.run(2)
    assert run.code == 0
    assert [subject.partition(":")[0] for subject in run.subjects] == ["T-001", "T-002"]
    refused = [(each["cause"], tuple(each["files"])) for each in run.of("landing_refused")]
    assert refused == ([] if kind.cause is None else [(kind.cause, kind.files)])
    tree = git(run.site.repo, "ls-tree", "-r", "--name-only", run.branch).splitlines()
    for path, text in kind.left:
        if text is None:
            assert path not in tree
        else:
            assert text in git(run.site.repo, "show", f"{run.branch}:{path}").splitlines()


def test_a_case_that_leaves_the_markers_in_goes_back_without_a_review(tmp_path: Path) -> None:
    kind, meeting = KINDS["the same line"], Meeting(1, 2)
    steps = {1: [kind.first, case(1)], 2: [kind.second, case(2), case(2), kind.mend, case(2)]}
    script = Script(steps, before=lambda number, role: meeting.come(number))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2), BASE)
    _make_runnable(stage)
    run = stage.run(2)
    assert run.code == 0
    [marked] = [entry for entry in run.ledger(2) if entry["source"] == "harness"]
    assert "Conflict markers are left in poem.txt" in marked["concern"]
    assert "<<<<<<<" not in git(run.site.repo, "show", f"{run.branch}:poem.txt")


def test_a_worker_that_cannot_settle_it_fails_and_its_work_is_kept(tmp_path: Path) -> None:
    kind, meeting = KINDS["two new files of one name"], Meeting(1, 2)
    quiet = Answer(blocks=({"type": "text", "text": "I cannot."},))
    steps = {1: [kind.first, case(1)], 2: [kind.second, case(2), quiet, quiet, quiet]}
    script = Script(steps, before=lambda number, role: meeting.come(number))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2), BASE)
    _make_runnable(stage)
    run = stage.run(2)
    assert run.code == 1
    assert run.tasks["T-002"]["status"] == "failed"
    assert [subject.partition(":")[0] for subject in run.subjects] == ["T-001"]
    kept = f"refs/tilth/{run.session.name}/T-002"
    assert "by the second" in git(run.site.repo, "show", f"{kept}:new.txt")


def _make_runnable(stage: LaneStage) -> None:
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
    git(stage.site.repo, "update-index", "--chmod=+x", "sums")
    git(stage.site.repo, *who, "commit", "--quiet", "--message=runnable")
    git(stage.site.repo, "checkout", "--quiet", "--", "sums")
