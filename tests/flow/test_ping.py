"""Before the night: every model is asked for one token, and what stands in the way is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, solve, submit, task
from support.light_gate import LIGHT
from support.measurements import measured
from support.messages_api import Answer, MessagesServer, Reply, Request, error, html, say
from support.night_clock import NightClock

from tilth.base.errors import UserError
from tilth.session.frontend import Frontend
from tilth.session.readiness import Ground, hindrances
from tilth.session.start import start

OK = say("H")
STRICT = '[strict]\nmodel = "claude-opus-5"\n'


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    (tmp_path / "home").mkdir(mode=0o700)
    return site


class Evening:
    """Start a session at an endpoint whose pings follow a script of their own."""

    def __init__(self, site: Site, *pings: Reply) -> None:
        self.site = site
        self.clock = NightClock()
        self.told: list[str] = []
        self.task: dict[str, object] = {}
        self._pings = iter(pings)
        self._work: Iterator[Reply] = iter([solve(1), submit(1), accept()])

    def start(self, **how: object) -> Run:
        tasks = [task(1, **self.task)]
        with MessagesServer(self.reply) as server:
            self.url = server.url
            result = start(
                self.site.bundle(1, tasks=tasks),
                self.site.repo,
                {},
                environ=self.site.environ(server.url),
                frontend=Frontend(tell=self.told.append, interrupt=self.clock.interrupt()),
                clock=self.clock,
                **how,  # type: ignore[arg-type]  # what a test asks for
            )
        return Run(self.site, result.exit_code, tuple(server.requests))

    def reply(self, request: Request) -> Reply:
        return next(self._pings) if request.role == "ping" else next(self._work)


def refused(evening: Evening) -> str:
    with pytest.raises(UserError) as told:
        evening.start()
    assert not evening.site.sessions.exists()
    assert "session/" not in evening.site.repo.joinpath(".git", "HEAD").read_text()
    assert "\n" not in str(told.value)
    return str(told.value)


def test_one_model_for_both_roles_is_asked_once_for_one_token_without_tools(site: Site) -> None:
    run = Evening(site, OK).start()
    assert run.code == 0
    (ping,) = run.asked("ping")
    assert ping.body["max_tokens"] == 1
    assert not ping.tools
    assert sum(payload["usage"]["input_tokens"] for payload in run.of("model_call")) == 30
    assert run.requests[0] is ping


def test_every_model_the_plan_needs_is_asked(site: Site) -> None:
    (site.root / "home" / "evaluators.toml").write_text(STRICT, encoding="utf-8")
    site.settings["TILTH_EVALUATOR_MODEL"] = "claude-opus-5-1"
    evening = Evening(site, OK, OK, OK)
    evening.task = {"reviewer": "strict"}
    asked = [ping.body["model"] for ping in evening.start().asked("ping")]
    assert asked == ["claude-sonnet-5-5", "claude-opus-5-1", "claude-opus-5"]


def test_an_evaluator_that_is_not_used_is_not_asked(site: Site) -> None:
    site.settings.update(TILTH_EVALUATOR_MODEL="claude-opus-5-1", TILTH_EVALUATE="off")
    assert len(Evening(site, OK).start().asked("ping")) == 1


def test_no_ping_asks_nobody(site: Site) -> None:
    run = Evening(site).start(ping=False)
    assert run.code == 0
    assert run.asked("ping") == []


@pytest.mark.parametrize(
    ("status", "kind", "fix"),
    [
        (401, "authentication_error", "TILTH_API_KEY"),
        (404, "not_found_error", "TILTH_WORKER_MODEL"),
        (403, "permission_error", "TILTH_API_KEY"),
        (400, "invalid_request_error", "TILTH_WORKER_MODEL"),
    ],
)
def test_a_wrong_key_or_model_is_named_and_nothing_is_left_behind(
    site: Site, status: int, kind: str, fix: str
) -> None:
    said = refused(Evening(site, error(status, "no such thing", kind)))
    assert "the worker cannot be asked" in said
    assert fix in said


def test_the_evaluators_own_variables_are_named(site: Site) -> None:
    site.settings["TILTH_EVALUATOR_MODEL"] = "claude-opus-5-1"
    said = refused(Evening(site, OK, error(404, "no such model")))
    assert "the evaluator cannot be asked" in said
    assert "TILTH_EVALUATOR_MODEL" in said


def test_a_reviewer_is_named_by_its_table(site: Site) -> None:
    (site.root / "home" / "evaluators.toml").write_text(STRICT, encoding="utf-8")
    evening = Evening(site, OK, error(401, "no"))
    evening.task = {"reviewer": "strict"}
    assert "check [strict] in evaluators.toml" in refused(evening)


def test_an_address_where_nobody_speaks_the_messages_api_is_named(site: Site) -> None:
    assert "TILTH_BASE_URL" in refused(Evening(site, html()))
    site.settings["TILTH_BASE_URL"] = "http://127.0.0.1:9"
    assert "TILTH_BASE_URL" in refused(Evening(site))


@pytest.mark.parametrize("busy", [error(529, "Overloaded"), error(429, "x", retry_after="20")])
def test_what_may_pass_is_tried_again_for_a_minute_and_then_only_warned_about(
    site: Site, busy: Reply
) -> None:
    evening = Evening(site, *[busy] * 20)
    run = evening.start()
    assert run.code == 0
    assert 1 < len(run.asked("ping")) < 10
    assert 20 < evening.clock.slept <= 60
    assert any("the worker does not answer yet" in line for line in evening.told)


def test_an_endpoint_that_comes_back_within_the_minute_is_not_spoken_of(site: Site) -> None:
    evening = Evening(site, error(503, "starting"), OK)
    assert evening.start().code == 0
    assert not any("does not answer" in line for line in evening.told)


def test_an_answer_of_one_token_may_be_empty(site: Site) -> None:
    assert Evening(site, Answer(stop_reason="max_tokens")).start().code == 0


def test_one_line_says_what_stands_between_the_user_and_a_good_night(site: Site) -> None:
    evening = Evening(site, OK)
    evening.start(until="2026-11-16T22:40Z")
    (line,) = [line for line in evening.told if line.startswith("before the night: ")]
    assert "the worker's own model judges its work" in line
    assert "the evaluator was never measured" in line
    assert "the deadline is in 40 minutes" in line


def test_the_line_names_each_hindrance_and_is_silent_without_one() -> None:
    assert list(hindrances(Ground())) == []
    many = Ground(
        measured=False,
        untested=("T-002", "T-003"),
        undeclared=4,
        suite_s=40.2,
        free_bytes=6_000_000_000,
        seconds_left=2400,
    )
    assert list(hindrances(many)) == [
        "the evaluator was never measured (`tilth eval-check`)",
        "2 tasks have no seed test (T-002, T-003)",
        (
            "4 jobs, but no task says what it depends on: all begin from the same commit "
            "(`depends_on`)"
        ),
        "the suite takes 40 s a gate",
        "6.0 GB of disk are free",
        "the deadline is in 40 minutes",
    ]
    assert list(hindrances(Ground(evaluate=False, measured=False))) == [
        "no evaluator: validators alone decide"
    ]


def test_a_measured_evaluator_is_not_called_unmeasured(site: Site) -> None:
    measured(site.root / "home", "claude-sonnet-5-5")
    evening = Evening(site, OK)
    evening.start()
    assert not any("never measured" in line for line in evening.told)
