"""An interview on a real repository, from the first question to a session that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import Site, accept, git, seed_test, solve, submit
from support.interviews import (
    Person,
    ask,
    files_of,
    read,
    run_prepared,
    sit,
    without_review,
    write_seed,
)
from support.messages_api import MessagesServer, by_role, call, error, say

from tilth.base.errors import UserError
from tilth.log.reader import parse_event
from tilth.log.verification import verify

WRITTEN = "The seed holds and is written. The interview is over."


def test_an_interview_ends_in_a_prepared_session(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    person = Person(answers=["integers only"])
    question = ask("README.md says little: which numbers?", "all", "integers only")
    sitting = sit(site, [read("README.md"), question, write_seed(1)], person=person)
    assert sitting.code == 0
    assert sitting.checkpoint["status"] == "prepared"
    assert sitting.checkpoint["base_commit"] == git(site.repo, "rev-parse", "main")
    assert sitting.subjects == ["seed: 1 task(s), 1 test(s)"]
    assert files_of(sitting.session / "seed-tests") == {"test_t001_add.py": seed_test(1)}
    assert files_of(sitting.session / "workspace" / "tests") == {"test_t001_add.py": seed_test(1)}
    assert list(sitting.tasks) == ["T-001"]
    assert sitting.results[1:] == ["integers only", WRITTEN]
    assert sitting.types[-2:] == ["seed_committed", "session_prepared"]
    assert [(q.question, q.options) for q in person.asked] == [
        ("README.md says little: which numbers?", ("all", "integers only"))
    ]
    assert [summary.next_command for summary in person.shown] == [f"tilth run {site.repo}"]


def test_the_source_checkout_stays_as_it_was(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    (site.repo / "draft.py").write_text("x = 1\n", encoding="utf-8")
    sitting = sit(site, [read("draft.py"), write_seed(1)])
    assert "x = 1" in sitting.results[0]
    assert git(site.repo, "status", "--porcelain") == "?? draft.py"
    assert git(site.repo, "branch", "--show-current") == "main"
    assert "draft.py" not in git(site.repo, "ls-tree", "--name-only", sitting.branch)


def test_the_record_of_an_interview_says_what_was_decided(tmp_path: Path) -> None:
    sitting = sit(Site.make(tmp_path), [write_seed(1, blockers=["a key"])])
    meta = json.loads((sitting.session / "seed-meta.json").read_text("utf-8"))
    assert meta["model"] == "claude-sonnet-5-5"
    assert meta["tokens"]["input_tokens"] == 10
    assert meta["started"] <= meta["prepared"]
    assert meta["tldr"] == "Functions that add."
    assert meta["open_questions"] == ["Negative numbers? Taken as any other."]
    assert meta["blockers"] == ["a key"]
    assert meta["scope_notes"] == "Nothing but integers."
    assert meta["review"]["outcome"] == "skipped"


def test_every_request_of_an_interview_can_be_rebuilt_from_its_log(tmp_path: Path) -> None:
    script = [
        say("Let me think."),
        read("README.md") + call("glob", pattern="**/*.py"),
        ask("One?") + ask("Two?"),
        write_seed(1, tldr=""),
        write_seed(1),
    ]
    sitting = sit(Site.make(tmp_path), script, person=Person(answers=["yes"]))
    found = verify(parse_event(line) for line in sitting.events)
    assert (found.identical, found.requests) == (5, 5)
    assert sitting.code == 0


def test_a_prepared_session_runs_to_its_end(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sitting = sit(site, [write_seed(1, 2)])
    script = by_role(
        worker=[solve(1), submit(1), solve(2), submit(2)], evaluator=[accept(), accept()]
    )
    with MessagesServer(script) as server:
        code = run_prepared(server, site)
    assert code == 0
    assert sitting.subjects == [
        "seed: 2 task(s), 2 test(s)",
        "T-001: Add feature 1",
        "T-002: Add feature 2",
    ]
    first = server.requests[0].body["messages"][0]["content"][0]["text"]
    assert "Nothing but integers." in first
    assert sitting.types.count("seed_committed") == 1


def test_the_seeder_is_told_what_it_starts_from(tmp_path: Path) -> None:
    files = {
        "docs/spec.md": "# Spec\n",
        "AGENTS.md": "Use tabs.\n",
        "tests/test_t004_old.py": "def test_old():\n    assert True\n",
    }
    site = Site.make(tmp_path, files)
    (site.repo / "README.md").write_text("changed\n", encoding="utf-8")
    sitting = sit(site, [write_seed(5)], options=without_review(brief="Add numbers, please."))
    assert sitting.code == 0
    told = sitting.last_user_text("seeder", 0)
    for expected in ("Add numbers, please.", "`docs/spec.md`", "Use tabs.", "T-005", "uncommitted"):
        assert expected in told
    assert sitting.requests[0].tools == {
        "read_file",
        "glob",
        "grep",
        "ask_user",
        "write_seed",
    }


def test_a_brief_can_stand_in_a_file(tmp_path: Path) -> None:
    brief = tmp_path / "brief.md"
    brief.write_text("Sums for everyone.\n", encoding="utf-8")
    options = without_review(brief=None, brief_file=brief)
    sitting = sit(Site.make(tmp_path / "site"), [error(400, "gone")], options=options)
    assert "Sums for everyone." in sitting.last_user_text("seeder", 0)


def test_a_key_never_reaches_the_seeder(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    (site.repo / ".env").write_text("KEY=sk-test-0123456789abcdef\n", encoding="utf-8")
    sitting = sit(site, [read(".env"), write_seed(1)])
    assert "KEY=[hidden: 24 characters]" in sitting.results[0]
    assert "sk-test-0123456789abcdef" not in (sitting.session / "events.jsonl").read_text("utf-8")


def test_a_repository_with_nothing_prepared_says_what_to_do(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with MessagesServer([]) as server, pytest.raises(UserError, match="tilth prep-feature"):
        run_prepared(server, site)


def test_of_several_prepared_sessions_one_must_be_named(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sit(site, [write_seed(1)])
    sit(site, [write_seed(2)], options=without_review(keep_existing=True))
    names = sorted(path.name for path in site.sessions.iterdir())
    with MessagesServer([]) as server, pytest.raises(UserError) as refused:
        run_prepared(server, site)
    assert all(f"tilth resume {name}" in str(refused.value) for name in names)


def test_a_prepared_session_that_was_stopped_is_named_for_resume(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sit(site, [write_seed(1)])
    with MessagesServer(by_role(worker=[solve(1)])) as server:
        assert run_prepared(server, site) == 5
        with pytest.raises(UserError, match=f"tilth resume {site.session().name}"):
            run_prepared(server, site)
