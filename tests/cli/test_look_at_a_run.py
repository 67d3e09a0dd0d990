"""What a real run left behind, looked at with the real commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import KEY, Run, Site, accept, git, reject, solution, solve, submit, write
from support.session_files import snapshot

from tilth.show.events import events
from tilth.show.info import info
from tilth.show.task import show

BETTER = '"""Adds."""\n\n\n' + solution(1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    site = Site.make(tmp_path_factory.mktemp("site"))
    worker = [solve(1) + submit(1), write("feature1.py", BETTER) + submit(1), solve(2) + submit(2)]
    evaluator = [reject(score=55), accept(resolved=["C1"], score=92), accept(score=80)]
    return site.run(site.bundle(1, 2), worker=worker, evaluator=evaluator)


@pytest.fixture
def environ(run: Run) -> dict[str, str]:
    return {"HOME": str(run.site.root), "TILTH_HOME": str(run.site.root / "home")}


def test_the_list_and_the_detail_agree_with_the_run(
    run: Run, environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    def document(wanted: str | None) -> Any:
        assert info(wanted, as_json=True, environ=environ) == 0
        return json.loads(capsys.readouterr().out)

    (row,) = document(None)["sessions"]
    whole = document("latest")
    usage = run.checkpoint["usage"].values()
    assert (row["status"], row["tasks_done"], row["tasks_total"]) == ("done", 2, 2)
    assert row["cost_usd"] == pytest.approx(sum(spend["cost_usd"] for spend in usage))
    assert whole["cost_usd"] == pytest.approx(row["cost_usd"])
    assert whole["last_stop"]["reason"] == "all_done"
    assert [task["spent"]["iterations"] for task in whole["tasks"]] == [2, 1]
    assert whole["summary"]["by_role"].keys() == {"worker", "evaluator"}
    saved = json.loads((run.session / "summary.json").read_text())
    assert whole["summary"] == {key: saved[key] for key in saved if key != "tasks"}


def test_the_diff_shown_is_the_commits_own(
    run: Run, environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert show("latest", "T-001", as_json=False, environ=environ) == 0
    out = capsys.readouterr().out
    commit = run.tasks["T-001"]["commit"]
    patch = git(run.site.repo, "diff", "--full-index", f"{commit}^", commit)
    assert patch in out
    assert "C1  reject · acceptance_gap · score 55 · by evaluator" in out
    assert "settled by C2" in out


def test_every_event_of_a_run_has_its_line(
    run: Run, environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert events("latest", environ=environ) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in lines] == run.types
    assert not any("{" in line for line in lines if " tool_result " not in line)


def test_no_key_is_shown_and_nothing_is_changed(
    run: Run, environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(Path(run.site.root))
    info(None, as_json=False, environ=environ)
    info("latest", as_json=False, environ=environ)
    show("latest", "T-002", as_json=False, environ=environ)
    events("latest", raw=True, environ=environ)
    said = capsys.readouterr()
    assert KEY not in said.out + said.err
    assert snapshot(Path(run.site.root)) == before
