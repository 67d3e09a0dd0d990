"""The night: limits are slept out, a deadline is kept, and how far it will get is said before."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, solve, submit
from support.light_gate import LIGHT
from support.messages_api import MessagesServer, Reply, Request, by_role, error
from support.night_clock import EVENING, NightClock

from tilth.base.clock import stamp
from tilth.base.errors import UserError
from tilth.replay.run import replay
from tilth.session.frontend import Frontend
from tilth.session.resume import resume
from tilth.session.start import start
from tilth.show.info import info

LIMIT = error(429, "This request would exceed your limit", "rate_limit_error", retry_after="14400")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.make(tmp_path, {"pyproject.toml": LIGHT})


class Night:
    """Run sessions on one site by one clock, each model answer taking some time of it."""

    def __init__(self, site: Site, answer_s: float = 0.0) -> None:
        self.site = site
        self.clock = NightClock()
        self.answer_s = answer_s
        self.told: list[str] = []
        self.interrupt = self.clock.interrupt()

    def run(self, *numbers: int, until: str | None = None, **scripts: Any) -> Run:
        with self.server(**scripts) as server:
            return self.begin(server, *numbers, until=until)

    def begin(self, server: MessagesServer, *numbers: int, until: str | None = None) -> Run:
        """Run at an endpoint that stands."""
        bundle, environ = self.site.bundle(*numbers), self.site.environ(server.url)
        how = {"new": True, "ping": False, "frontend": self.frontend(), "clock": self.clock}
        result = start(bundle, self.site.repo, {}, until=until, environ=environ, **how)
        return Run(self.site, result.exit_code, tuple(server.requests))

    def resume(self, **scripts: Any) -> Run:
        with self.server(**scripts) as server:
            return self.go_on(server)

    def go_on(self, server: MessagesServer) -> Run:
        """Resume at an endpoint that stands."""
        how = {"frontend": self.frontend(), "clock": self.clock}
        result = resume(self.site.session().name, environ=self.site.environ(server.url), **how)
        return Run(self.site, result.exit_code, tuple(server.requests))

    def server(self, *, worker: Iterable[Reply], evaluator: Iterable[Reply] = ()) -> MessagesServer:
        scripted = by_role(worker=worker, evaluator=evaluator)

        def reply(request: Request) -> Reply:
            self.clock.advance(self.answer_s)
            return scripted(request)

        return MessagesServer(reply)

    def frontend(self) -> Frontend:
        self.interrupt = self.clock.interrupt()
        return Frontend(tell=self.told.append, interrupt=self.interrupt)


def accepts(count: int) -> list[Reply]:
    return [accept() for _ in range(count)]


def works(*numbers: int) -> list[Reply]:
    return [answer for number in numbers for answer in (solve(number), submit(number))]


def test_a_limit_with_a_reset_in_four_hours_is_slept_out_and_all_five_tasks_are_done(
    site: Site,
) -> None:
    night = Night(site, answer_s=60)
    run = night.run(
        1, 2, 3, 4, 5, worker=[*works(1), LIMIT, *works(2, 3, 4, 5)], evaluator=accepts(5)
    )
    assert run.code == 0
    (wait,) = run.of("quota_wait")
    assert wait["wait_s"] == 14400
    assert wait["role"] == "worker"
    assert wait["until"].startswith("2026-11-17T02:0")
    assert night.clock.now() - EVENING > timedelta(hours=4)
    assert run.of("model_retry") == []
    assert [done["iterations"] for done in run.of("task_done")] == [2, 2, 2, 2, 2]
    assert run.of("stop")[0]["reason"] == "all_done"


def test_one_word_is_sent_for_a_wait_and_one_for_the_end(site: Site) -> None:
    words = site.root / "words.jsonl"
    site.settings["TILTH_NOTIFY_COMMAND"] = f"tee --append {words}"
    night = Night(site)
    with night.server(worker=[LIMIT, *works(1)], evaluator=accepts(1)) as server:
        night.clock.heard = lambda: night.interrupt.wish()
        assert night.begin(server, 1).code == 130
        night.clock.heard = lambda: None
        assert night.go_on(server).code == 0
    kinds = [json.loads(line)["kind"] for line in words.read_text(encoding="utf-8").splitlines()]
    assert kinds == ["quota_wait", "end", "end"]


def test_the_evaluator_waits_like_the_worker(site: Site) -> None:
    night = Night(site)
    run = night.run(1, worker=works(1), evaluator=[LIMIT, accept()])
    assert run.code == 0
    assert [wait["role"] for wait in run.of("quota_wait")] == ["evaluator"]


def test_a_reset_that_only_a_header_or_the_message_names_is_slept_out(site: Site) -> None:
    reset = (EVENING + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    spent = {"anthropic_ratelimit_tokens_remaining": "0", "anthropic_ratelimit_tokens_reset": reset}
    by_header = error(429, "limit", **spent)
    by_words = error(529, "Overloaded. Please try again in 20 minutes.")
    night = Night(site)
    run = night.run(1, worker=[by_header, by_words, *works(1)], evaluator=accepts(1))
    assert run.code == 0
    assert [round(wait["wait_s"]) for wait in run.of("quota_wait")] == [3600, 1200]


def test_a_short_wait_is_a_retry_like_any_other(site: Site) -> None:
    soon = error(429, "slow down", retry_after="0.01")
    run = Night(site).run(1, worker=[soon, *works(1)], evaluator=accepts(1))
    assert run.of("quota_wait") == []
    assert len(run.of("model_retry")) == 1


@pytest.mark.parametrize(
    ("reply", "minutes"),
    [
        (LIMIT, "239"),
        (LIMIT, "0"),
        (error(429, "later", retry_after="315360000"), "360"),
        (error(429, "later", retry_after="1e300"), "360"),
    ],
)
def test_a_wait_beyond_the_limit_stops_at_once_and_can_be_resumed(
    site: Site, reply: Reply, minutes: str
) -> None:
    night = Night(site)
    site.settings["TILTH_WAIT_FOR_QUOTA_MINUTES"] = minutes
    run = night.run(1, worker=[reply])
    assert run.code == 5
    assert night.clock.slept == 0
    assert run.of("quota_wait") == []
    (stop,) = run.of("stop")
    assert stop["reason"] == "provider_failure"
    assert "TILTH_WAIT_FOR_QUOTA_MINUTES" in stop["detail"]
    assert "\n" not in stop["detail"]
    assert night.resume(worker=works(1), evaluator=accepts(1)).code == 0


def test_waits_of_one_call_are_added_up(site: Site) -> None:
    run = Night(site).run(1, worker=[LIMIT, LIMIT, *works(1)])
    assert run.code == 5
    assert len(run.of("quota_wait")) == 1


def test_a_wait_past_the_deadline_ends_the_night_as_the_wall_clock_would(site: Site) -> None:
    night = Night(site)
    run = night.run(1, until="2026-11-17T01:00Z", worker=[LIMIT])
    assert run.code == 3
    assert night.clock.slept == 0
    assert run.of("quota_wait") == []
    (stop,) = run.of("stop")
    assert stop["reason"] == "wall_clock"
    assert "--until" in stop["detail"]


@pytest.mark.parametrize("until", [None, "2026-11-16T22:00:02Z"])
def test_no_pause_before_another_try_outlasts_the_time(site: Site, until: str | None) -> None:
    night = Night(site)
    site.settings["TILTH_MAX_WALL_CLOCK_MINUTES"] = "0.02" if until is None else "10"
    down = error(503, "down for a while", retry_after="3")
    run = night.run(1, until=until, worker=[down, *works(1)], evaluator=accepts(1))
    assert run.code == 3
    assert night.clock.slept == 0
    assert len(run.of("model_retry")) == 1
    (stop,) = run.of("stop")
    assert stop["reason"] == "wall_clock"
    assert ("--until" if until else "TILTH_MAX_WALL_CLOCK_MINUTES") in stop["detail"]
    site.settings["TILTH_MAX_WALL_CLOCK_MINUTES"] = "10"
    assert night.resume(worker=works(1), evaluator=accepts(1)).code == 0


def test_time_slept_counts_toward_the_deadline_alone(site: Site) -> None:
    night = Night(site, answer_s=60)
    site.settings["TILTH_MAX_WALL_CLOCK_MINUTES"] = "10"
    run = night.run(1, worker=[LIMIT, *works(1)], evaluator=accepts(1))
    assert run.code == 0
    assert run.of("cap_warning") == []
    late = Night(Site.make(site.root / "other", {"pyproject.toml": LIGHT}), answer_s=60)
    run = late.run(1, until="2026-11-17T02:02Z", worker=[LIMIT, *works(1)], evaluator=accepts(1))
    assert run.code == 3
    assert len(run.of("quota_wait")) == 1
    assert run.of("stop")[0]["reason"] == "wall_clock"
    assert run.of("cap_warning")[0]["cap"] == "wall_clock"


def test_a_wish_to_stop_is_heard_in_the_middle_and_a_resume_goes_on_sleeping(site: Site) -> None:
    night = Night(site)

    def stop_after_an_hour() -> None:
        if night.clock.now() > EVENING + timedelta(hours=1):
            night.interrupt.wish()

    night.clock.heard = stop_after_an_hour
    with night.server(worker=[LIMIT, *works(1)], evaluator=accepts(1)) as server:
        assert night.begin(server, 1).code == 130
        assert night.clock.now() < EVENING + timedelta(hours=1, minutes=5)
        night.clock.heard = lambda: None
        night.clock.advance(600)
        run = night.go_on(server)
    assert run.code == 0
    first, second = run.of("quota_wait")
    assert second["until"] == first["until"] == stamp(EVENING + timedelta(hours=4))
    assert second["resumed"] is True
    assert "resumed" not in first
    assert night.clock.now() >= EVENING + timedelta(hours=4)


def test_a_resume_after_the_recorded_end_sleeps_no_more(site: Site) -> None:
    night = Night(site)
    night.clock.heard = lambda: night.interrupt.wish()
    with night.server(worker=[LIMIT, *works(1)], evaluator=accepts(1)) as server:
        assert night.begin(server, 1).code == 130
        night.clock.heard = lambda: None
        night.clock.advance(5 * 3600)
        slept = night.clock.slept
        run = night.go_on(server)
    assert run.code == 0
    assert night.clock.slept == slept
    assert len(run.of("quota_wait")) == 1


def test_replay_plays_a_night_with_a_wait_without_sleeping(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    night = Night(site)
    run = night.run(1, worker=[LIMIT, *works(1)], evaluator=accepts(1))
    environ = site.environ("http://127.0.0.1:9", TILTH_SANDBOX="auto")
    assert replay(run.session.name, verify_only=False, environ=environ) == 0
    assert "identical" in capsys.readouterr().out


def test_the_deadline_takes_the_place_of_the_wall_clock_cap(site: Site) -> None:
    night = Night(site, answer_s=3600)
    site.settings["TILTH_MAX_WALL_CLOCK_MINUTES"] = "10"
    run = night.run(1, until="2026-11-17T07:00Z", worker=works(1), evaluator=accepts(1))
    assert run.code == 0
    assert run.of("session_start")[0]["until"] == "2026-11-17T07:00:00.000Z"
    over = Night(Site.make(site.root / "other", {"pyproject.toml": LIGHT}), answer_s=3600)
    run = over.run(1, until="2026-11-16T23:30Z", worker=works(1), evaluator=accepts(1))
    assert run.code == 3
    (stop,) = run.of("stop")
    assert stop["reason"] == "wall_clock"
    assert "--until" in stop["detail"]


@pytest.mark.parametrize("until", ["25:00", "soon", "2020-01-01T07:00"])
def test_a_deadline_that_cannot_be_meant_leaves_nothing_behind(site: Site, until: str) -> None:
    with pytest.raises(UserError, match="--until"):
        Night(site).run(1, until=until, worker=[])
    assert not site.sessions.exists()


def test_with_no_history_the_forecast_says_so(site: Site) -> None:
    run = Night(site).run(1, until="2026-11-17T07:00Z", worker=works(1), evaluator=accepts(1))
    (said,) = run.of("forecast")
    assert said["basis"] == 0
    assert said["done"] is None
    assert "Nothing was foreseen" in (run.session / "report.md").read_text(encoding="utf-8")


def test_a_forecast_comes_from_this_session_and_from_earlier_ones_on_this_repo(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    night = Night(site, answer_s=60)
    first = night.run(1, 2, worker=works(1, 2), evaluator=accepts(2))
    assert [said["basis"] for said in first.of("forecast")] == [1]
    night.clock.advance(60)
    second = night.run(
        3, 4, 5, until="2026-11-17T07:00Z", worker=works(3, 4, 5), evaluator=accepts(3)
    )
    assert second.code == 0
    said = second.of("forecast")
    assert [each["basis"] for each in said] == [2, 3, 4]
    assert [each["remaining"] for each in said] == [3, 2, 1]
    assert said[0]["task_seconds"] == {"low": 90.0, "high": 360.0}
    assert said[0]["done"] == {"low": 3.0, "high": 3.0}
    assert said[0]["cost_usd"]["low"] > 0
    report = (second.session / "report.md").read_text(encoding="utf-8")
    assert "from 2 done tasks: 3 of 3 tasks" in report
    assert "it held" in report
    info(second.session.name, as_json=True, environ=site.environ("http://127.0.0.1:9"))
    shown = json.loads(capsys.readouterr().out)
    assert shown["forecast"]["basis"] == 4
    assert shown["until"] == "2026-11-17T07:00:00.000Z"


def test_no_task_is_begun_that_the_forecast_gives_no_chance(site: Site) -> None:
    night = Night(site, answer_s=1200)
    run = night.run(1, 2, 3, until="2026-11-17T00:20Z", worker=works(1, 2, 3), evaluator=accepts(3))
    assert run.code == 3
    assert [done["iterations"] for done in run.of("task_done")] == [2, 2]
    assert [said["chance"] for said in run.of("forecast")] == [True, True, False]
    (stop,) = run.of("stop")
    assert stop["reason"] == "wall_clock"
    assert "no task is begun" in stop["detail"]
    assert run.types[-2:] != ["context_reset", "stop"]
    assert run.tasks["T-003"]["status"] == "pending"


def test_time_asleep_and_between_two_starts_is_no_part_of_a_tasks_pace(site: Site) -> None:
    night = Night(site, answer_s=60)
    night.run(1, worker=[LIMIT, *works(1)], evaluator=accepts(1))
    summary = json.loads((site.session() / "summary.json").read_text(encoding="utf-8"))
    assert 180 <= summary["tasks"]["T-001"]["seconds"] <= 300
