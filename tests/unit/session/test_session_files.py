"""The session's smaller files: ledger, progress, learnings, requests, and what corrupts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilth.base.clock import SystemClock
from tilth.base.errors import CorruptSession, UnknownSession
from tilth.config.secrets import Mask, hidden
from tilth.contract.operator_requests import OperatorRequest
from tilth.contract.prd import Plan, Task
from tilth.contract.verdict import Judged, LedgerEntry, Verdict, entry_of
from tilth.session.session import Checkpoint, Session, SessionStatus, branch_of

ID = "20261116-221530-a1b2c3"
KEY = "sk-ant-0123456789abcdef"
NOW = "2026-11-16T22:15:30.000Z"


def task(number: int) -> Task:
    return Task(
        id=f"T-{number:03d}",
        title=f"Title {number}",
        description="…",
        acceptance_criteria=("it works",),
    )


def look(root: Path, key: str = KEY) -> Session:
    return Session.look(root, ID, clock=SystemClock(), mask=Mask([key]))


@pytest.fixture
def session(tmp_path: Path) -> Any:
    checkpoint = Checkpoint(
        session=ID,
        status=SessionStatus.RUNNING,
        source="some/repo",
        branch=branch_of(ID),
        base_commit="a" * 40,
        created=NOW,
        updated=NOW,
    )
    plan = Plan(tasks=(task(1), task(2)))
    made = Session.new(tmp_path, checkpoint, plan, {}, clock=SystemClock(), mask=Mask([KEY]))
    yield made
    made.release()


def entry(concern: str = "Sound.", task_id: str = "T-001") -> LedgerEntry:
    judged = Judged(
        ts=NOW,
        task_id=task_id,
        iter=1,
        tree="a" * 40,
        diff_sha256="b" * 64,
        validators={"pytest": "passed", "ruff": "passed"},
    )
    verdict = Verdict.model_validate({"verdict": "accept", "concern": concern, "score": 90})
    return entry_of(verdict, judged, model="m", threshold=0)


def request(**changes: Any) -> OperatorRequest:
    given = {"ts": NOW, "request": "R-001", "task_id": "T-001", "kind": "blocked", "text": "Which?"}
    return OperatorRequest.model_validate(given | changes)


def test_a_ledger_keeps_its_entries_in_order_for_each_task(session: Session) -> None:
    first, second, other = entry("one"), entry("two\nlines, 漢"), entry("other", "T-002")
    assert [session.append_ledger_entry(each) for each in (first, other, second)] == [1, 1, 2]
    assert session.read_ledger("T-001") == (first, second)
    assert session.read_ledger("T-002") == (other,)
    lines = (session.directory / "ledger" / "T-001.jsonl").read_text("utf-8").splitlines()
    assert list(json.loads(lines[0])) == list(LedgerEntry.model_fields)


def test_a_task_without_a_verdict_has_an_empty_ledger(session: Session) -> None:
    assert session.read_ledger("T-001") == ()


@pytest.mark.parametrize("task_id", ["T-003", "../T-001", "T-001\n", "", "../../prd"])
def test_a_ledger_of_no_task_of_the_plan_is_refused(session: Session, task_id: str) -> None:
    with pytest.raises(UnknownSession, match="has no task"):
        session.read_ledger(task_id)
    with pytest.raises(UnknownSession, match="has no task"):
        session.append_ledger_entry(entry(task_id=task_id))


def test_a_torn_ledger_line_is_passed_over_and_mended(session: Session) -> None:
    session.append_ledger_entry(entry("one"))
    with (session.directory / "ledger" / "T-001.jsonl").open("ab") as file:
        file.write(b'{"ts": "2026')
    assert len(session.read_ledger("T-001")) == 1
    assert session.append_ledger_entry(entry("two")) == 2


@pytest.mark.parametrize("line", ['{"ts": "x"}', "[]", "nonsense", '{"ts": 1, "verdict": "maybe"}'])
def test_a_bad_ledger_line_is_named_with_its_file_and_number(session: Session, line: str) -> None:
    session.append_ledger_entry(entry())
    path = session.directory / "ledger" / "T-001.jsonl"
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(CorruptSession, match=f"{path}: line 2"):
        session.read_ledger("T-001")


def test_a_bad_request_line_is_named_with_its_file_and_number(session: Session) -> None:
    session.append_request(request())
    path = session.directory / "operator-requests.jsonl"
    with path.open("a") as file:
        file.write('{"kind": "shout"}\n')
    with pytest.raises(CorruptSession, match=f"{path}: line 2"):
        session.requests()


def test_requests_and_answers_are_kept_in_order(session: Session) -> None:
    lines = (request(), request(kind="answer", text="The first.\nReally."), request(task_id=None))
    for line in lines:
        session.append_request(line)
    assert session.requests() == lines


def test_no_request_was_made_at_first(session: Session) -> None:
    assert session.requests() == ()


def test_an_answer_of_odd_bytes_from_the_command_line_can_be_kept(session: Session) -> None:
    session.append_request(request(kind="answer", text="odd \udcff"))
    assert session.requests()[0].text == "odd \udcff"


@pytest.mark.parametrize("key", [KEY, "12345678", "pytest"])
def test_a_key_is_hidden_in_every_file(tmp_path: Path, session: Session, key: str) -> None:
    masked = look(tmp_path, key)
    masked.append_ledger_entry(entry(f"<{key}>"))
    masked.append_request(request(text=f"<{key}>"))
    masked.append_progress(f"<{key}>")
    masked.save_summary({"text": f"<{key}>", "number": 12345678})
    masked.save_learnings(task(1), [f"<{key}>"])
    texts = [path.read_text("utf-8") for path in session.directory.rglob("*") if path.is_file()]
    assert not [text for text in texts if f"<{key}>" in text]
    assert sum(f"<{hidden(key)}>" in text for text in texts) == 5
    assert masked.read_ledger("T-001")[0].concern == f"<{hidden(key)}>"


def test_progress_is_one_line_an_outcome_and_the_last_thirty_are_given(session: Session) -> None:
    assert session.progress() == ()
    for number in range(40):
        session.append_progress(f"T-001 done:\n  title\u2028 {number}")
    assert session.progress() == tuple(f"T-001 done: title {number}" for number in range(10, 40))
    assert len((session.directory / "progress.txt").read_text("utf-8").splitlines()) == 40


def test_a_line_of_progress_told_again_stands_once(session: Session) -> None:
    for again in (False, True, True):
        session.append_progress("T-001 done:  title", again=again)
    assert session.progress() == ("T-001 done: title",)
    session.append_progress("T-001 done: title")
    assert len(session.progress()) == 2


def test_the_learnings_of_a_task_are_kept_once(session: Session) -> None:
    session.save_learnings(task(1), ["One."])
    session.save_learnings(task(1), ["One."])
    text = (session.directory / "proposed-learnings.md").read_text("utf-8")
    assert text.count("One.") == 1


def test_learnings_add_up_under_their_tasks(session: Session) -> None:
    session.save_learnings(task(1), ["One.", "Two\n## lines"])
    session.save_learnings(task(2), ["Three."])
    text = (session.directory / "proposed-learnings.md").read_text("utf-8")
    assert text == (
        "# Proposed learnings\n"
        "\n## T-001 Title 1\n\n- One.\n- Two ## lines\n"
        "\n## T-002 Title 2\n\n- Three.\n"
    )


def test_there_is_no_record_of_an_interview_that_was_not_held(session: Session) -> None:
    assert session.seed_meta() == {}
    (session.directory / "seed-meta.json").write_text('{"tldr": "short"}')
    assert session.seed_meta() == {"tldr": "short"}


def replaced(name: str, content: str) -> Callable[[Path], None]:
    return lambda directory: (directory / name).write_text(content) and None


def edited(name: str, **changes: Any) -> Callable[[Path], None]:
    def edit(directory: Path) -> None:
        content = json.loads((directory / name).read_text())
        (directory / name).write_text(json.dumps(content | changes))

    return edit


ONE_TASK = {"id": "T-001", "title": "t", "description": "d", "acceptance_criteria": ["a"]}


@pytest.mark.parametrize(
    ("name", "corrupt"),
    [
        ("checkpoint.json", replaced("checkpoint.json", "{")),
        ("checkpoint.json", replaced("checkpoint.json", "[]")),
        ("checkpoint.json", replaced("checkpoint.json", "null")),
        ("checkpoint.json", edited("checkpoint.json", status="asleep")),
        ("checkpoint.json", edited("checkpoint.json", usage={"worker": {"calls": "many"}})),
        ("checkpoint.json", edited("checkpoint.json", schema_version=2)),
        ("checkpoint.json", edited("checkpoint.json", schema_version=2, status="asleep")),
        ("prd.json", replaced("prd.json", "")),
        ("prd.json", replaced("prd.json", "3")),
        ("prd.json", edited("prd.json", tasks=[])),
        ("prd.json", edited("prd.json", tasks=[ONE_TASK, ONE_TASK])),
        ("prd.json", edited("prd.json", tasks=[ONE_TASK | {"status": "lost"}])),
        ("prd.json", edited("prd.json", tasks=[ONE_TASK | {"id": "../../T-001"}])),
        ("prd.json", lambda directory: (directory / "prd.json").unlink()),
        ("seed-meta.json", replaced("seed-meta.json", "[]")),
        ("seed-meta.json", replaced("seed-meta.json", "{")),
    ],
    ids=range(16),
)
def test_a_corrupt_file_is_named_every_time_it_is_asked_for(
    tmp_path: Path, session: Session, name: str, corrupt: Callable[[Path], None]
) -> None:
    corrupt(session.directory)
    found = look(tmp_path)
    reads: dict[str, Callable[[], object]] = {
        "checkpoint.json": lambda: found.checkpoint,
        "prd.json": lambda: found.plan,
        "seed-meta.json": found.seed_meta,
    }
    for _ in range(2):
        with pytest.raises(CorruptSession, match=str(session.directory / name)) as caught:
            reads[name]()
        assert "\n" not in str(caught.value)


def test_a_newer_checkpoint_says_which_tilth_to_use(tmp_path: Path, session: Session) -> None:
    edited("checkpoint.json", schema_version=9, source=None)(session.directory)
    with pytest.raises(CorruptSession, match=r"schema 9, .* use the newer Tilth"):
        _ = look(tmp_path).checkpoint


def test_a_checkpoint_may_hold_fields_of_later_versions(tmp_path: Path, session: Session) -> None:
    edited("checkpoint.json", mood="good")(session.directory)
    assert look(tmp_path).checkpoint == session.checkpoint


def test_a_line_of_progress_that_is_told_again_stands_once(session: Session) -> None:
    for line in ("T-001 begun", "T-001 done"):
        session.append_progress(line)
    session.append_progress("T-001 done", again=True)
    assert session.progress() == ("T-001 begun", "T-001 done")
    session.append_progress("T-001 begun", again=True)
    session.append_progress("T-001 begun")
    assert session.progress()[2:] == ("T-001 begun", "T-001 begun")
    session.append_progress("T-002 begun")
    assert session.progress("T-002", "T-003") == ("T-002 begun",)


def test_bytes_that_are_no_text_are_no_obstacle(session: Session) -> None:
    with (session.directory / "progress.txt").open("ab") as file:
        file.write(b"T-001 \xff\n")
    assert session.progress() == ("T-001 \ufffd",)
    session.save_report("half a pair: \ud800")
    assert (session.directory / "report.md").read_text() == "half a pair: \\ud800"
