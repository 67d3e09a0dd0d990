"""Leftovers: what remains after the last task buys second opinions, and they change nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.commands import resume, start
from support.flow_site import Run, Site, accept, reject, solve, submit, task
from support.light_gate import LIGHT
from support.messages_api import MessagesServer, Reply, Request, by_role, call, error, say
from support.replays import play, say_of, standings

from tilth.base.errors import UserError
from tilth.show.report_page import report as print_report
from tilth.show.task import show

STRICT = "claude-opus-5-5"
GAP = reject(concern="Zero is not handled.", next_step="Handle zero.", score=30)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    define(site, strict=STRICT)
    return site


def define(site: Site, **reviewers: str) -> None:
    home = site.root / "home"
    home.mkdir(exist_ok=True)
    tables = [f'[{name}]\nmodel = "{model}"\n' for name, model in reviewers.items()]
    (home / "evaluators.toml").write_text("\n".join(tables), encoding="utf-8")


def works(*numbers: int) -> list[Reply]:
    return [answer for number in numbers for answer in (solve(number), submit(number))]


def server(
    worker: Iterable[Reply], evaluator: Iterable[Reply], other: Iterable[Reply]
) -> MessagesServer:
    """Serve two evaluators, told apart by their models."""
    first, second = by_role(worker=worker, evaluator=evaluator), by_role(evaluator=other)

    def answer(request: Request) -> Reply:
        return (second if request.body["model"] == STRICT else first)(request)

    return MessagesServer(answer)


def run_on(site: Site, served: MessagesServer, target: Path, **settings: str) -> Run:
    environ = site.environ(served.url, **settings)
    code = start(target, site.repo, {}, new=True, spend_leftovers=True, environ=environ)
    return Run(site, code, tuple(served.requests))


def go_on(site: Site, served: MessagesServer, **settings: str) -> Run:
    code = resume(None, {}, fresh=False, environ=site.environ(served.url, **settings))
    return Run(site, code, tuple(served.requests))


def asked_about(run: Run) -> list[str]:
    """Name the tasks that the other reviewer was asked about, in that order."""
    opened = [event for event in run.events if event["type"] == "prompt_assembled"]
    return [event["task_id"] for event in opened if event["payload"].get("second")]


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run three tasks; of the two in doubt the other reviewer would reject one."""
    site = Site.make(tmp_path_factory.mktemp("night"), {"pyproject.toml": LIGHT})
    define(site, strict=STRICT)
    first = [accept(score=95), reject(), accept(score=80), accept(score=88)]
    worker = [*works(1, 2), solve(2), submit(2), *works(3)]
    looks = call("read_file", path="feature3.py")
    other = [accept(score=90), looks, GAP, accept(score=91)]
    with server(worker, first, other) as served:
        return run_on(site, served, site.bundle(1, 2, 3))


def test_done_tasks_are_judged_again_by_the_other_reviewer_the_most_doubtful_first(
    night: Run,
) -> None:
    assert night.code == 0
    assert asked_about(night) == ["T-002", "T-003", "T-001"]
    opinions = night.of("second_opinion")
    assert [said["verdict"] for said in opinions] == ["accept", "reject", "accept"]
    assert [said["agrees"] for said in opinions] == [True, False, True]
    assert {said["reviewer"] for said in opinions} == {"strict"}
    assert {said["model"] for said in opinions} == {STRICT}
    assert night.types.index("second_opinion") > night.types.index("task_done")
    assert night.of("session_start")[0]["spend_leftovers"] is True


def test_the_other_reviewer_is_asked_exactly_what_the_first_was(night: Run) -> None:
    evaluated = [r.body for r in night.asked("evaluator") if len(r.body["messages"]) == 1]
    first = [body for body in evaluated if body["model"] != STRICT]
    again = [body for body in evaluated if body["model"] == STRICT]
    assert len(again) == 3
    for body in again:
        assert {**body, "model": first[0]["model"]} in first


def test_it_may_look_as_the_first_could(night: Run) -> None:
    (looked,) = night.of("evaluator_tool")
    assert looked["name"] == "read_file"
    assert "return x + 3" in looked["content"]


def test_a_disagreement_changes_nothing(night: Run) -> None:
    assert {entry["status"] for entry in night.tasks.values()} == {"done"}
    assert night.tasks["T-003"]["score"] == 88
    assert len(night.ledger(3)) == 1
    assert len(night.subjects) == 4  # the seed and three tasks
    assert night.of("stop")[0]["reason"] == "all_done"


def test_a_disagreement_stands_at_the_top_of_the_report(
    night: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (night.session / "report.md").read_text(encoding="utf-8")
    head, _, rest = text.partition("## What to look at first")
    assert "Another reviewer disagrees on T-003" in head
    first = rest.strip().splitlines()[0]
    assert first.startswith("1. **T-003**")
    assert "reviewer strict (claude-opus-5-5) would reject it" in first
    assert "Zero is not handled" in first
    environ = night.site.environ("http://127.0.0.1:9")
    print_report(night.session.name, as_json=True, environ=environ)
    data = json.loads(capsys.readouterr().out)
    assert data["look_first"][0] == "T-003"
    assert [entry["second"]["agrees"] for entry in data["tasks"]] == [True, True, False]


def test_show_has_both_verdicts(night: Run, capsys: pytest.CaptureFixture[str]) -> None:
    environ = night.site.environ("http://127.0.0.1:9")
    show(night.session.name, "T-003", environ=environ)
    shown = capsys.readouterr().out
    assert "## Second opinions" in shown
    assert "next step: Handle zero." in shown


def test_what_second_opinions_cost_is_counted(night: Run) -> None:
    calls = [call for call in night.of("model_call") if call["model"] == STRICT]
    assert len(calls) == 4
    summary = json.loads((night.session / "summary.json").read_text(encoding="utf-8"))
    counted = sum(role["model_calls"] for role in summary["by_role"].values())
    assert counted == len(night.of("model_call"))


def test_the_forecast_is_about_the_work_and_not_about_second_opinions(night: Run) -> None:
    summary = json.loads((night.session / "summary.json").read_text(encoding="utf-8"))
    again = sum(call["cost_usd"] for call in night.of("model_call") if call["model"] == STRICT)
    assert sum(entry["second_usd"] for entry in summary["tasks"].values()) == pytest.approx(again)
    report = (night.session / "report.md").read_text(encoding="utf-8")
    assert ": it held." in report


def test_a_session_with_second_opinions_replays(night: Run) -> None:
    code, said = say_of(night.site)
    assert code == 0
    assert "requests identical" in said
    assert set(standings(play(night.site)).values()) == {"equal"}


def test_a_cap_ends_the_asking_and_the_run_ends_as_it_would_have(site: Site) -> None:
    usage = {"input_tokens": 400, "output_tokens": 0}
    with server(works(1, 2), [accept(), accept()], [accept().but(usage=usage)]) as served:
        run = run_on(site, served, site.bundle(1, 2), TILTH_MAX_TOKENS="300")
    assert run.code == 0
    assert len(run.of("second_opinion")) == 1
    (stop,) = run.of("stop")
    assert stop["reason"] == "all_done"
    assert "second opinions ended at a cap" in stop["detail"]


def test_an_endpoint_that_refuses_ends_the_asking_and_not_the_run(site: Site) -> None:
    with server(works(1), [accept()], [error(401, "no such key")]) as served:
        run = run_on(site, served, site.bundle(1))
    assert run.code == 0
    assert run.of("second_opinion") == []
    assert "no such key" in run.of("stop")[0]["detail"]


def test_an_opinion_that_cannot_be_read_is_on_record_as_such(site: Site) -> None:
    with server(works(1), [accept()], [say("Fine."), say("Fine.")]) as served:
        run = run_on(site, served, site.bundle(1))
    assert run.code == 0
    (said,) = run.of("second_opinion")
    assert said["verdict"] is None
    assert said["agrees"] is None
    assert len(run.of("evaluator_verdict")) == 1


def test_without_another_reviewer_one_line_says_so_and_the_run_goes_on(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    define(site, twin="claude-sonnet-5-5")
    with server(works(1), [accept()], []) as served:
        run = run_on(site, served, site.bundle(1))
    assert run.code == 0
    assert run.of("second_opinion") == []
    (line,) = [x for x in capsys.readouterr().err.splitlines() if "--spend-leftovers" in x]
    assert "no reviewer but worker and evaluator is configured" in line
    assert "evaluators.toml" in line


def test_a_reviewer_without_its_key_is_named_before_anything_is_made(site: Site) -> None:
    toml = site.root / "home" / "evaluators.toml"
    toml.write_text(f'[strict]\nmodel = "{STRICT}"\napi_key_env = "STRICT_KEY"\n', "utf-8")
    with server([], [], []) as served, pytest.raises(UserError, match="STRICT_KEY"):
        run_on(site, served, site.bundle(1))
    assert not site.sessions.exists()


def test_a_reviewer_of_its_own_is_seconded_by_the_evaluator_of_all_others(site: Site) -> None:
    target = site.bundle(1, tasks=[task(1, reviewer="strict")])
    with server(works(1), [accept()], [accept()]) as served:
        run = run_on(site, served, target, TILTH_EVALUATOR_MODEL="claude-haiku-4-5")
    (said,) = run.of("second_opinion")
    assert said["reviewer"] == "default"
    assert said["model"] == "claude-haiku-4-5"


def test_tasks_that_were_worked_on_at_once_are_judged_again_and_replayed(site: Site) -> None:
    def answer(request: Request) -> Reply:
        opening = request.body["messages"][0]["content"][0]["text"]
        if request.role == "evaluator":
            doubts = request.body["model"] == STRICT and "add2" in opening
            return GAP if doubts else accept(score=95)
        number = int(opening.split("# Your task: T-")[1][:3])
        return solve(number) if len(request.body["messages"]) == 1 else submit(number)

    with MessagesServer(answer) as served:
        run = run_on(site, served, site.bundle(1, 2), TILTH_JOBS="2")
    assert run.code == 0
    assert sorted(said["agrees"] for said in run.of("second_opinion")) == [False, True]
    assert say_of(site)[0] == 0
    played = play(site)
    assert (standings(played), played.notes) == ({"T-001": "equal", "T-002": "equal"}, ())
