"""A kill at every step of a fresh start, and one resume that begins the task anew all the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from support.commands import resume
from support.crash_stage import Stage, die_at, fork, reap
from support.flow_site import git

STEPS = (
    "before keeping work aside",
    "after keeping work aside",
    "after telling what begins anew",
)


@pytest.mark.parametrize("step", STEPS)
def test_a_fresh_start_that_is_killed_keeps_the_old_work_and_is_finished(
    step: str, tmp_path: Path
) -> None:
    stage = Stage(tmp_path, tasks=1)
    with stage.server:
        # In the middle of its work: there is a file, and it was not handed in.
        assert stage.begin(die_at("before appending to T-001.jsonl", 1)) == -9
        name, environ = stage.site.session().name, stage.site.environ(stage.server.url)
        body = partial(resume, name, {}, fresh=True, environ=environ)
        assert reap(fork(body, die_at(step, 1))) == -9
        told = step == STEPS[-1]
        assert stage.go_on() == 0
    stage.check()
    kept = git(stage.site.repo, "for-each-ref", "--format=%(refname)", f"refs/tilth/{name}")
    assert kept == ("" if step == STEPS[0] else f"refs/tilth/{name}/T-001.fresh")
    resets = [line for line in stage.acknowledged() if b'"context_reset"' in line]
    # Before it was told the conversation goes on; afterwards another has taken its place.
    assert len(resets) == 1 + told
