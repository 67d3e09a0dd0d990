"""Sessions of earlier versions: the command of today reads, replays, resumes and removes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest
from support.messages_api import Answer, MessagesServer, Reply, Request, call, error, say
from support.old_sessions import NAMES, OldSession, git, lay_out
from support.warm_start import warm_tilth

SEED = "seed: 2 task(s), 2 test(s)"
FIRST, SECOND = "T-001: Add feature 1", "T-002: Add feature 2"
REJECTED = "Negative numbers are not handled."
ACCEPT = call("submit_verdict", verdict="accept", rejection_category=None, concern="Sound.")


@dataclass(frozen=True)
class Look:
    """Say how a kept session must look: its state, tasks done of all, a task and words on it."""

    status: str
    done: int
    of: int
    task: str | None = None
    says: str = ""


LOOKS = {
    "below_bar": Look("done", 2, 2, "T-001", REJECTED),
    "done": Look("done", 3, 3, "T-002", REJECTED),
    "failed": Look("failed", 1, 2, "T-002", "assert 1 == 3"),
    "interrupted": Look("stopped", 1, 2, "T-002", REJECTED),
    "interview": Look("interviewing", 0, 0),
    "killed": Look("interrupted", 0, 1, "T-001", "None yet."),
    "killed_in_review": Look("interrupted", 0, 1, "T-001", "+def add1(x):"),
    "prepared": Look("prepared", 0, 2, "T-002", "add2(x) gives x + 2"),
    "skipped": Look("failed", 1, 3, "T-001", "+def add1(x):"),
    "troubled": Look("done", 1, 1, "T-001", "seed test was changed"),
    "waiting": Look("waiting", 1, 2, "T-002", "Criterion 1 contradicts AGENTS.md."),
}


def solve(number: int) -> Answer:
    """Write a module that meets a task and hand it in."""
    content = f"def add{number}(x):\n    return x + {number}\n"
    covered = [{"criterion": "1", "addressed_by": f"feature{number}.py:add{number}"}]
    return call("write_file", path=f"feature{number}.py", content=content) + call(
        "submit_case", summary=f"Added add{number}.", ac_coverage=covered
    )


class Endpoint:
    """Answer each role from its own script, and keep what was asked."""

    def __init__(self, **scripts: list[Reply]) -> None:
        self.scripts = scripts
        self.asked: dict[str, list[Request]] = {}

    def __call__(self, request: Request) -> Reply:
        if not request.tools:
            return say("I am here.")
        self.asked.setdefault(request.role, []).append(request)
        script = self.scripts.get(request.role)
        return script.pop(0) if script else error(400, f"nothing is left for the {request.role}")

    def shown(self, role: str) -> str:
        """Give all that a role's first request held."""
        return json.dumps(self.asked[role][0].body["messages"], ensure_ascii=False)


@contextmanager
def at_work(name: str, root: Path, endpoint: Endpoint) -> Iterator[OldSession]:
    """Lay a session out at the endpoint it knows; in the end all was asked and all holds."""
    with MessagesServer(endpoint) as server:
        old = lay_out(name, root, endpoint=server.url)
        before = (old.directory / "events.jsonl").read_bytes()
        yield old
    assert not any(endpoint.scripts.values()), f"nobody asked for {endpoint.scripts}"
    assert (old.directory / "events.jsonl").read_bytes().startswith(before)
    verify(old)


def verify(old: OldSession) -> None:
    """See every request of the log rebuilt as it was sent."""
    replayed = old.tilth("replay", old.id, "--verify-only")
    calls = sum(event["type"] == "model_call" for event in old.events)
    assert re.search(rf"\b{calls}/{calls}\b.* identical", replayed.stdout), replayed
    assert replayed.returncode == 0


def finish(old: OldSession, *args: str) -> None:
    """Run a command that ends with all tasks done."""
    ran = old.tilth(*args)
    assert ran.returncode == 0, ran.stderr
    assert old.status == "done"
    assert set(old.tasks.values()) == {"done"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OldSession]:
    """Lay every session out on one machine, to be looked at only."""
    return lay_out_all(tmp_path_factory.mktemp("machine"))


def lay_out_all(root: Path) -> dict[str, OldSession]:
    return {name: lay_out(name, root / name, home=root / "home") for name in NAMES}


def test_old_sessions_are_listed_as_they_stood(shelf: dict[str, OldSession]) -> None:
    told = json.loads(shelf["done"].tilth("info", "--json").stdout)["sessions"]
    stood = {row["session"]: (row["status"], row["tasks_done"], row["tasks_total"]) for row in told}
    wanted = {name: (look.status, look.done, look.of) for name, look in LOOKS.items()}
    assert {name: stood.get(old.id) for name, old in shelf.items()} == wanted
    assert len(stood) == len(NAMES)


# The others are verified where they are played again or resumed.
@pytest.mark.parametrize("name", ["below_bar", "troubled"])
def test_an_old_session_holds(name: str, shelf: dict[str, OldSession]) -> None:
    verify(shelf[name])


@pytest.mark.parametrize("name", [name for name, look in LOOKS.items() if look.task])
def test_an_old_task_is_shown(name: str, shelf: dict[str, OldSession]) -> None:
    old, look = shelf[name], LOOKS[name]
    shown = old.tilth("show", old.id, str(look.task))
    assert shown.returncode == 0
    assert look.says in shown.stdout + shown.stderr


@pytest.mark.parametrize("name", LOOKS)
def test_an_old_session_is_reported(name: str, shelf: dict[str, OldSession]) -> None:
    old, look = shelf[name], LOOKS[name]
    told = old.tilth("report", old.id)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(f"# Session {old.id}")
    assert "\n## What to look at first\n" in told.stdout
    data = json.loads(old.tilth("report", old.id, "--json").stdout)
    assert len(data["tasks"]) == look.of
    landed = [task["id"] for task in data["tasks"] if task["ending"].startswith(("done", "below"))]
    assert (data["landed"]["commits"], len(landed)) == (look.done, look.done)


@pytest.mark.parametrize("name", LOOKS)
def test_an_old_session_is_exported_for_the_browser(
    name: str, shelf: dict[str, OldSession], tmp_path: Path
) -> None:
    old, look = shelf[name], LOOKS[name]
    done = old.tilth("visualize", old.id, "--export", str(tmp_path / "old.html"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "old.html").read_text("utf-8")
    (data,) = re.findall(r'id="session-data">(.*?)</script>', page)
    assert len(json.loads(data)["tasks"]) == look.of
    (rows,) = re.findall(r'id="session-rows">(.*?)</script>', page, re.DOTALL)
    log = (old.directory / "events.jsonl").read_bytes()
    assert len(rows.splitlines()) == len(log.splitlines())


def test_an_old_session_is_told_to_an_agent(shelf: dict[str, OldSession]) -> None:
    old = shelf["waiting"]
    told = old.tilth("events", "--digest", old.id)
    assert (told.returncode, told.stderr) == (0, "")
    assert "  doubt +60 failed: failed (blocked): " in told.stdout
    assert "    blocker: Criterion 1 contradicts AGENTS.md. | ruling: It does.\n" in told.stdout
    refused = old.tilth("events", "--digest", "--raw", old.id)
    assert refused.returncode == 2


# Together they hold every type of event that the kept sessions have.
@pytest.mark.parametrize("name", ["below_bar", "done", "prepared", "troubled", "waiting"])
def test_an_old_log_is_printed_line_by_line(name: str, shelf: dict[str, OldSession]) -> None:
    old = shelf[name]
    lines = old.tilth("events", old.id).stdout.splitlines()
    types = [event["type"] for event in old.events]
    assert len(lines) == len(types)
    assert [kind for kind, line in zip(types, lines, strict=True) if kind not in line] == []


def test_work_below_the_bar_stays_told_from_clean_work(shelf: dict[str, OldSession]) -> None:
    old = shelf["below_bar"]
    told = json.loads(old.tilth("info", old.id, "--json").stdout)
    assert (told["status"], told["below_bar"]) == ("done", ["T-001"])


def test_old_sessions_are_removed_without_a_trace(tmp_path: Path) -> None:
    sessions = lay_out_all(tmp_path)
    for name, old in sessions.items():
        if name != "interview":
            # What was accepted stands on another branch too, so nothing is lost.
            git(old.repo, "branch", "taken", old.branch)
    removed = sessions["done"].tilth("reset", "--all", "--yes")
    assert removed.returncode == 0, removed.stderr
    for old in sessions.values():
        assert not old.directory.exists()
        refs = git(old.repo, "for-each-ref", "--format=%(refname)").splitlines()
        assert set(refs) <= {"refs/heads/main", "refs/heads/taken"}
        assert len(git(old.repo, "worktree", "list").splitlines()) == 1


def test_an_old_session_played_again_comes_to_the_same_trees(tmp_path: Path) -> None:
    old = lay_out("done", tmp_path)
    played = old.tilth("replay", old.id, TILTH_SANDBOX="auto")
    assert played.returncode == 0, played.stdout + played.stderr
    assert "15/15" in played.stdout
    assert re.findall(r"(T-\d+): equal", played.stdout) == ["T-001", "T-002", "T-003"]


def test_an_interrupted_task_goes_on_in_its_own_conversation(tmp_path: Path) -> None:
    endpoint = Endpoint(worker=[solve(2)], evaluator=[ACCEPT])
    with at_work("interrupted", tmp_path, endpoint) as old:
        assert (old.directory / "workspace" / "notes.txt").read_text() == "begun\nended\n"
        finish(old, "resume", old.id)
    assert REJECTED in endpoint.shown("worker")
    assert "echo begun" in endpoint.shown("worker")
    assert REJECTED in endpoint.shown("evaluator")
    assert old.subjects == [SEED, FIRST, SECOND]
    assert git(old.repo, "show", f"{old.branch}:notes.txt") == "begun\nended"


def test_a_call_that_was_killed_is_not_made_again(tmp_path: Path) -> None:
    endpoint = Endpoint(worker=[solve(1)], evaluator=[ACCEPT])
    with at_work("killed", tmp_path, endpoint) as old:
        finish(old, "resume", old.id)
    assert "interrupted" in endpoint.shown("worker")
    assert (old.directory / "workspace" / "notes.txt").read_text() == "begun\n"
    calls = [event["payload"] for event in old.events if event["type"] == "tool_call"]
    assert [one["name"] for one in calls].count("bash") == 1


def test_a_review_that_was_killed_is_held_without_the_worker(tmp_path: Path) -> None:
    endpoint = Endpoint(worker=[], evaluator=[ACCEPT])
    with at_work("killed_in_review", tmp_path, endpoint) as old:
        finish(old, "resume", old.id)
    assert "Added add1." in endpoint.shown("evaluator")
    assert old.subjects == ["seed: 1 task(s), 1 test(s)", FIRST]


def test_an_old_question_is_answered_and_the_work_goes_on(tmp_path: Path) -> None:
    endpoint = Endpoint(worker=[solve(2)], evaluator=[ACCEPT])
    with at_work("waiting", tmp_path, endpoint) as old:
        answered = old.tilth("answer", old.id, "R-001", "Criterion 1 goes first.")
        assert answered.returncode == 0, answered.stderr
        finish(old, "resume", old.id)
    assert "Criterion 1 goes first." in endpoint.shown("worker")
    assert "Criterion 1 goes first." in endpoint.shown("evaluator")
    assert old.subjects == [SEED, FIRST, SECOND]


def test_a_failed_task_is_tried_again_from_its_partial_work(tmp_path: Path) -> None:
    endpoint = Endpoint(worker=[solve(2)], evaluator=[ACCEPT])
    with at_work("failed", tmp_path, endpoint) as old:
        assert old.subjects[-1] == f"FAILED (iter_cap) {SECOND}"
        finish(old, "resume", old.id)
    assert old.subjects == [SEED, FIRST, SECOND]


def test_a_task_that_was_skipped_is_taken_up_and_what_depends_on_it(tmp_path: Path) -> None:
    look = call("bash", command="cat feature1.py")
    endpoint = Endpoint(worker=[look, solve(1), solve(2)], evaluator=[ACCEPT, ACCEPT])
    with at_work("skipped", tmp_path, endpoint) as old:
        finish(old, "resume", old.id)
    assert "def add1(x):\\n    return x\\n" in json.dumps(endpoint.asked["worker"][1].body)
    assert old.subjects == ["seed: 3 task(s), 3 test(s)", "T-003: Add feature 3", FIRST, SECOND]


def test_a_session_prepared_long_ago_runs(tmp_path: Path) -> None:
    endpoint = Endpoint(worker=[solve(1), solve(2)], evaluator=[ACCEPT, ACCEPT])
    with at_work("prepared", tmp_path, endpoint) as old:
        finish(old, "run", str(old.repo))
    assert old.subjects == [SEED, FIRST, SECOND]


def test_an_interview_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    test = "from feature1 import add1\n\n\ndef test_adds():\n    assert add1(1) == 2\n"
    task = {
        "id": "T-001",
        "title": "Add feature 1",
        "description": "A function in feature1.py that adds 1.",
        "acceptance_criteria": ["add1(x) gives x + 1"],
    }
    seed = call(
        "write_seed",
        prd_entries=[task],
        test_files={"test_t001_add.py": test},
        tldr="A function that adds.",
        open_questions=[],
        blockers=[],
        scope_notes="",
    )
    review = call("submit_review", contradictions=[])
    endpoint = Endpoint(seeder=[seed], evaluator=[review])
    with at_work("interview", tmp_path, endpoint) as old:
        answer_on_a_terminal(old, "What is out of scope", "Floats.")
    assert "feature1.py" in endpoint.shown("seeder")
    assert "Floats." in endpoint.shown("seeder")
    assert old.status == "prepared"
    assert old.tasks == {"T-001": "pending"}


def answer_on_a_terminal(old: OldSession, question: str, answer: str) -> None:
    """Resume in a pseudo-terminal, answer the one question that is asked, and approve."""
    child = pexpect.spawn(
        str(warm_tilth()),
        ["resume", old.id],
        env={**old.environ(), "TERM": "xterm"},
        cwd=str(old.root),
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 100),
    )
    try:
        child.expect(question)
        child.expect("> ")
        child.sendline(answer)
        child.expect("Nothing is written until you approve it")
        child.expect("> ")
        child.sendline("1")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert child.exitstatus == 0
