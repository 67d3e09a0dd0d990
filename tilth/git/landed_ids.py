"""The ids of tasks that have landed: what the trailers of a branch's commits name. Read only."""

from __future__ import annotations

from tilth.git.command import Git, scratch
from tilth.git.commits import TASK_TRAILER, read_commit
from tilth.git.source import SourceRepo


def landed_ids(source: SourceRepo) -> frozenset[str]:
    """Name the tasks of the commits below the repository's HEAD; failed work is none."""
    with scratch(source.git_dir, source.head) as lent:
        git: Git = lent.git(lent.root)
        asked = ("rev-list", "--fixed-strings", f"--grep={TASK_TRAILER}:", source.head)
        ids = git.line(*asked).split()
        records = [*map(read_commit, ids, git.read_objects(ids))]
    return frozenset(task for record in records if not record.failed for task in record.tasks)
