"""Telemetry: a run as a trace at a real collector, and that it never stands in a run's way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import KEY, Run, Site, accept, reject, solve, submit, write
from support.light_gate import LIGHT
from support.messages_api import call
from support.otlp_collector import Collector, GrpcCollector, attributes

from tilth.session import telemetry

HEADER = "a-token-of-the-collector"
PATIENT_S = 120.0  # a busy machine is no collector that hangs
PRIVATE = "a-word-that-only-the-worker-says"


def play(site: Site, url: str, monkeypatch: pytest.MonkeyPatch, **more: str) -> Run:
    """Run one task that is rejected once, with the telemetry the variables ask for."""
    asked = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"x-collector={HEADER}",
        "OTEL_RESOURCE_ATTRIBUTES": "team=night",
        **more,
    }
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    return site.run(
        site.bundle(1),
        worker=[
            solve(1) + submit(1),
            call("bash", command=f"echo {PRIVATE}") + write("feature1.py", "def add1(x):\n  ...\n"),
            submit(1),
        ],
        evaluator=[reject(), accept(score=90)],
        **asked,
    )


PROTOCOLS = {"http/protobuf": Collector, "grpc": GrpcCollector}


@pytest.fixture(scope="module", params=PROTOCOLS)
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Collector, Run]]:
    site = Site.make(tmp_path_factory.mktemp("told"), {"pyproject.toml": LIGHT})
    asked = {"OTEL_EXPORTER_OTLP_PROTOCOL": request.param}
    with PROTOCOLS[request.param]() as collector:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(telemetry, "CLOSING_S", PATIENT_S)
            run = play(site, collector.url, patch, **asked)
        yield collector, run


def one(spans: list[Any]) -> tuple[Any, dict[str, Any]]:
    (span,) = spans
    return span, attributes(span)


def test_a_session_is_one_trace_and_its_tasks_and_calls_stand_below_it(
    told: tuple[Collector, Run],
) -> None:
    collector, run = told
    assert run.code == 0
    assert len({span.trace_id for span in collector.spans}) == 1
    root, about = one(collector.named("invoke_workflow"))
    assert not root.parent_span_id
    assert about["tilth.session"] == run.session.name
    assert about["tilth.stop.reason"] == "all_done"
    assert about["tilth.exit_code"] == 0
    task, about_task = one(collector.named("invoke_agent"))
    assert task.name == "invoke_agent T-001"
    assert task.parent_span_id == root.span_id
    assert about_task["tilth.task.outcome"] == "done"
    assert about_task["tilth.task.iterations"] == 3
    below = [span for span in collector.spans if span.parent_span_id == task.span_id]
    assert sorted({span.name.split()[0] for span in below}) == ["chat", "execute_tool", "validate"]
    assert len({span.span_id for span in collector.spans}) == len(collector.spans)
    for span in below:
        assert root.start_time_unix_nano <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano


def test_model_calls_follow_the_conventions_and_say_what_the_log_says(
    told: tuple[Collector, Run],
) -> None:
    collector, run = told
    calls, spans = run.of("model_call"), collector.named("chat")
    assert [span.name for span in spans] == [f"chat {made['model']}" for made in calls]
    for made, span in zip(calls, spans, strict=True):
        about = attributes(span)
        assert about["gen_ai.operation.name"] == "chat"
        assert about["gen_ai.provider.name"] == "anthropic"
        assert about["gen_ai.response.model"] == about["gen_ai.request.model"] == made["model"]
        assert about["gen_ai.agent.name"] == made["role"]
        assert about["gen_ai.conversation.id"] == made["conversation"]
        assert about["gen_ai.response.finish_reasons"] == [made["stop_reason"]]
        assert about["gen_ai.usage.output_tokens"] == made["usage"]["output_tokens"]
        assert about["gen_ai.usage.input_tokens"] == made["usage"]["input_tokens"]
        assert about["tilth.cost_usd"] == made["cost_usd"]
        lasted = span.end_time_unix_nano - span.start_time_unix_nano
        assert lasted == made["latency_ms"] * 1_000_000


def test_verdicts_stand_on_the_task_as_evaluations(told: tuple[Collector, Run]) -> None:
    collector, _ = told
    task, _ = one(collector.named("invoke_agent"))
    said = [attributes(event) for event in task.events if event.name == "gen_ai.evaluation.result"]
    assert [one["gen_ai.evaluation.score.label"] for one in said] == ["reject", "accept"]
    assert said[0]["tilth.rejection_category"] == "acceptance_gap"
    assert said[1]["gen_ai.evaluation.score.value"] == 90


def test_tokens_cost_and_outcomes_are_measured(told: tuple[Collector, Run]) -> None:
    collector, run = told
    used = {
        attributes(point)["gen_ai.token.type"]: 0.0
        for point in collector.points("gen_ai.client.token.usage")
    }
    for point in collector.points("gen_ai.client.token.usage"):
        used[attributes(point)["gen_ai.token.type"]] += point.sum
    calls = run.of("model_call")
    assert used["output"] == sum(made["usage"]["output_tokens"] for made in calls)
    spent = sum(point.as_double for point in collector.points("tilth.cost"))
    assert spent == pytest.approx(sum(made["cost_usd"] for made in calls))
    assert sum(p.count for p in collector.points("gen_ai.client.operation.duration")) == len(calls)
    (tasks,) = collector.points("tilth.tasks")
    assert (attributes(tasks)["tilth.task.outcome"], tasks.as_int) == ("done", 1)


def test_the_environment_speaks_to_the_collector(told: tuple[Collector, Run]) -> None:
    collector, _ = told
    assert {headers["x-collector"] for headers in collector.headers} == {HEADER}
    for resource in collector.resources:
        assert (resource["service.name"], resource["team"]) == ("tilth", "night")


def test_no_key_no_prompt_and_no_output_is_sent_unless_it_is_asked_for(
    told: tuple[Collector, Run],
) -> None:
    collector, run = told
    sent = collector.raw.decode("utf-8", "replace")
    for text in (KEY, HEADER, PRIVATE, "add1", "Negative numbers", str(run.site.repo)):
        assert text not in sent
    assert HEADER not in (run.session / "events.jsonl").read_text("utf-8")


def test_what_was_said_is_sent_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    asked = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    monkeypatch.setattr(telemetry, "CLOSING_S", PATIENT_S)
    with Collector() as collector:
        run = play(site, collector.url, monkeypatch, **asked)
    assert run.code == 0
    said = [attributes(span) for span in collector.named("chat")]
    answers = [json.loads(about["gen_ai.output.messages"])[0] for about in said]
    parts = [part for answer in answers for part in answer["parts"]]
    assert {"command": f"echo {PRIVATE}"} in [part.get("arguments") for part in parts]
    assert {part["type"] for part in parts} == {"tool_call"}
    prompts = [attributes(span) for span in collector.named("assemble_prompt")]
    assert "# Your task: T-001" in prompts[0]["gen_ai.input.messages"]
    assert json.loads(prompts[0]["gen_ai.system_instructions"])[0]["type"] == "text"
    assert KEY not in collector.raw.decode("utf-8", "replace")


@pytest.mark.parametrize(
    "kind", ["refuses", "hangs", "is not there", "has no such exporter", "is not installed"]
)
def test_a_collector_that_fails_is_a_warning_and_never_an_ending(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(telemetry, "CLOSING_S", 0.5)
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    more = {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"} if "exporter" in kind else {}
    if kind == "is not installed":
        monkeypatch.setitem(sys.modules, "tilth.session.otlp", None)
    with Collector(status=400, hang=kind == "hangs") as collector:
        url = "http://127.0.0.1:1" if kind == "is not there" else collector.url
        run = play(site, url, monkeypatch, **more)
    said = [line for line in capsys.readouterr().err.splitlines() if "telemetry" in line]
    assert run.code == 0
    assert len(said) == 1
    fixes = ("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry-exporter", "`tilth[otel]`")
    assert any(fix in said[0] for fix in fixes)
    assert run.types[-1] == "stop"


def test_without_the_variables_nothing_of_it_is_imported(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "import tilth.session.start, tilth.session.parts, tilth.show.terminal\n"
        "from tilth.session.telemetry import open_telemetry\n"
        "from tilth.log.state import SessionState\n"
        "assert open_telemetry({}, SessionState) is None\n"
        "assert open_telemetry({'OTEL_SDK_DISABLED': 'true',"
        " 'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:1'}, SessionState) is None\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
