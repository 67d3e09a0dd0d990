"""An interview on a real repository, from the first question to a session that runs."""

from __future__ import annotations

import json
from pathlib import Path

from interviews import Person, ask, files_of, read, review, sit, without_review, write_seed
from messages_api import call, say
from sites import Site, git, seed_test

from tilth.cli.preparing import Wishes


def test_an_interview_ends_in_a_prepared_session(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    head = git(site.repo, "rev-parse", "HEAD")
    person = Person(answers=["integers only"])
    script = [read("README.md"), ask("README.md says little: which numbers?", "all"), write_seed(1)]
    sitting = sit(site, script, person=person)
    assert sitting.code == 0
    assert sitting.checkpoint["status"] == "prepared"
    assert sitting.checkpoint["base_commit"] == head
    assert sitting.subjects == ["seed: 1 task(s), 1 test(s)"]
    assert git(site.repo, "status", "--porcelain") == ""
    assert (sitting.session / "workspace" / "tests" / "test_t001_add.py").exists()
    assert files_of(sitting.session / "seed-tests") == {"test_t001_add.py": seed_test(1)}
    assert list(sitting.tasks) == ["T-001"]
    assert sitting.results == [
        sitting.results[0],
        "integers only",
        "The seed holds and is written. The interview is over.",
    ]
