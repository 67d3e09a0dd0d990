"""`tilth show`: one task with its verdicts, case, reports and the diff from git."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.event_samples import SESSION, case, rejection, session_start, validator, verdict
from support.git_repo import Repo
from support.session_files import HOSTILE, Shelf, append_line, log_of, snapshot, task

from tilth.base.errors import CorruptSession, UserError
from tilth.contract.outcomes import FailReason
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import Committed, ContextReset, SeedTampered, TaskFailed
from tilth.show.task import show


class Bench:
    """Hold a shelf with one session on a real repository of two commits."""

    def __init__(self, root: Path) -> None:
        self.shelf = Shelf(root)
        self.repo = Repo(root / "repo", {"app.py": "x = 1\n", "Makefile": "all:\n\ttrue\n"})
        self.base = self.repo.head()
        self.commit = self.repo.commit_files({"app.py": "x = 2\n"})
        self.tree = self.repo.git("rev-parse", "HEAD^{tree}").strip()

    def add(self, status: str, *payloads: Any, **changes: Any) -> Path:
        start = [session_start(), ContextReset(agent="w", base=self.base, reason="")]
        return self.shelf.add(
            tasks=[task(1, status, **changes), task(2)], events=log_of(*start, *payloads)
        )

    def submitted(self, **changes: Any) -> Any:
        return case(**changes).model_copy(update={"tree": self.tree})

    def landed(self, kind: str = "done") -> Committed:
        return Committed(
            commit=self.commit,
            tree=self.tree,
            parent=self.base,
            kind="done" if kind == "done" else "failed",
            subject="T-001",
            ref="",
        )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def shown(bench: Bench, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    assert show("latest", "T-001", as_json=False, environ=bench.shelf.environ) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def document(bench: Bench, capsys: pytest.CaptureFixture[str]) -> Any:
    assert show("latest", "T-001", as_json=True, environ=bench.shelf.environ) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def keep(directory: Path, *entries: LedgerEntry) -> None:
    fields = LedgerEntry.model_fields
    lines = [json.dumps(entry.model_dump(mode="json", include=set(fields))) for entry in entries]
    (directory / "ledger" / "T-001.jsonl").write_text("".join(f"{line}\n" for line in lines))


def test_a_done_task_shows_its_commit_against_its_parent(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add("done", bench.submitted(), bench.landed(), commit=bench.commit, score=91)
    out, err = shown(bench, capsys)
    assert "-x = 1\n+x = 2\n" in out
    assert err.startswith("T-001 Part 1\n")
    assert f"done · commit {bench.commit[:7]} · score 91" in err
    assert "Part 1" not in out


def test_verdicts_have_ids_and_say_what_they_settled(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = bench.add("done", bench.submitted(), commit=bench.commit)
    keep(directory, rejection(), rejection(score=70), verdict(resolved=("C1",)))
    out, _ = shown(bench, capsys)
    first, second, third = (
        line for line in out.splitlines() if line[:1] == "C" and line[1:2] in "123"
    )
    assert first.startswith("C1  reject · acceptance_gap · score 55")
    assert first.endswith("settled by C3")
    assert "settled" not in second
    assert third.startswith("C3  accept")
    assert "    settles: C1" in out
    said = document(bench, capsys)["verdicts"]
    assert [entry["id"] for entry in said] == ["C1", "C2", "C3"]
    assert [entry["settled_by"] for entry in said] == ["C3", None, None]


def test_only_the_last_submissions_reports_are_shown(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    red = validator(passed=False, exit_code=1, output="E  old trouble", tests={"failed": 1})
    green = validator(output="all well", tests={"passed": 4, "failed": 0})
    base = validator(phase="base", passed=False, output="red on the base")
    bench.add(
        "done",
        bench.submitted(summary="First try."),
        red,
        bench.submitted(summary="Second try.", uncertainties=("The ß.",)),
        base,
        validator("ruff"),
        green,
        commit=bench.commit,
    )
    out, _ = shown(bench, capsys)
    assert "Second try." in out
    assert "- The ß." in out
    assert "pytest: passed · 4 passed · 0.8 s\nall well" in out
    for gone in ("First try.", "old trouble", "red on the base"):
        assert gone not in out
    assert [each["name"] for each in document(bench, capsys)["validators"]] == ["ruff", "pytest"]


def test_tampering_is_shown_loudly(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    notes = SeedTampered(files=("conftest.py",), notes=("conftest.py was changed",))
    bench.add("done", bench.submitted(), notes, commit=bench.commit)
    assert "## TAMPERING\n\n- conftest.py\n- conftest.py was changed" in shown(bench, capsys)[0]


def test_a_failed_task_shows_its_partial_work_and_why_it_failed(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = TaskFailed(reason=FailReason.ITER_CAP, detail="32 are used up", iterations=32)
    bench.add("failed", bench.landed("failed"), failed)
    out, err = shown(bench, capsys)
    assert f"failed (iter_cap) · commit {bench.commit[:7]}" in err
    assert "## Why it failed\n\niter_cap\n32 are used up" in out
    assert f"Partial work, kept as commit {bench.commit}" in out
    assert "+x = 2" in out


def test_an_unfinished_task_shows_the_tree_of_its_last_case(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add("in_progress", bench.submitted())
    out, err = shown(bench, capsys)
    assert "in_progress · no commit" in err
    assert "The tree of the last case against the task's base" in out
    assert "+x = 2" in out


def test_a_task_without_a_case_says_where_the_work_is(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add("in_progress")
    said = document(bench, capsys)
    assert said["diff"] is None
    assert said["diff_about"].startswith("no case was submitted yet")
    assert said["case"] is None


@pytest.mark.parametrize("lost", ["tree", "repository"])
def test_a_diff_that_cannot_be_read_is_said_and_the_rest_is_shown(
    bench: Bench, capsys: pytest.CaptureFixture[str], lost: str
) -> None:
    gone = case().model_copy(update={"tree": "f" * 40})
    bench.add("in_progress", gone if lost == "tree" else bench.submitted())
    if lost == "repository":
        bench.repo.root.rename(bench.repo.root.with_name("moved"))
    out, _ = shown(bench, capsys)
    assert "The diff cannot be read: " in out
    assert "slugify() folds accents" in out


def test_a_task_that_came_as_done_has_no_diff(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add("done")
    assert document(bench, capsys)["diff_about"] == "the task came as done: there is no commit"


def test_what_names_no_git_object_never_reaches_git(bench: Bench) -> None:
    bench.add("done", commit="--output=/tmp/x")
    with pytest.raises(CorruptSession, match="names no git object"):
        show("latest", "T-001", as_json=False, environ=bench.shelf.environ)


def test_a_wrong_task_id_lists_the_tasks_there_are(bench: Bench) -> None:
    bench.add("done")
    with pytest.raises(UserError, match=r"has no task 'T-009'; it has T-001, T-002"):
        show(SESSION, "T-009", as_json=False, environ=bench.shelf.environ)


def test_tabs_of_a_diff_stay_and_hostile_text_does_not_act(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = bench.repo.commit_files({"Makefile": f"all:\n\techo {HOSTILE}\n"})
    directory = bench.add("done", bench.submitted(summary=HOSTILE), commit=commit, title=HOSTILE)
    keep(directory, rejection(concern=HOSTILE))
    out, err = shown(bench, capsys)
    assert "+\techo \\x1b[31mred" in out
    for text in (out, err):
        assert "[bold]loud[/bold]" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("events.jsonl", "junk\n{}\n", r"events\.jsonl: line 3 is not JSON"),
        ("ledger/T-001.jsonl", "{}\n", r"ledger/T-001\.jsonl: line 1"),
    ],
)
def test_a_bad_line_is_named(bench: Bench, file: str, text: str, said: str) -> None:
    path = bench.add("done", commit=bench.commit) / file
    path.write_text((path.read_text() if path.exists() else "") + text)
    with pytest.raises(CorruptSession, match=said):
        show("latest", "T-001", as_json=False, environ=bench.shelf.environ)


def test_showing_changes_nothing(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    append_line(bench.add("done", bench.submitted(), commit=bench.commit), '{"torn')
    before = snapshot(bench.shelf.root)
    shown(bench, capsys)
    assert snapshot(bench.shelf.root) == before
