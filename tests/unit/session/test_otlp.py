"""OpenTelemetry's own variables where they cannot be read: passed over, told of, never shown."""

from __future__ import annotations

import pytest

from tilth.log.state import SessionState
from tilth.session import telemetry
from tilth.session.otlp import Exporting
from tilth.session.telemetry import Telemetry, WantedExporters

TOKEN = "sk-collector-0123456789abcdef"
MISREAD = {
    "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization: Bearer {TOKEN}",
    "OTEL_EXPORTER_OTLP_TIMEOUT": f"{TOKEN} seconds",
    "OTEL_RESOURCE_ATTRIBUTES": f"team=night,{TOKEN}",
}


@pytest.mark.parametrize("name", MISREAD)
def test_a_variable_that_cannot_be_read_is_not_shown(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(name, MISREAD[name])
    exporting = Exporting("otlp_proto_http", "otlp_proto_http")
    assert exporting.misread
    assert TOKEN not in caplog.text


def test_variables_that_can_be_read_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"x-token={TOKEN}")
    assert not Exporting("otlp_proto_http", "otlp_proto_http").misread


def test_a_run_says_at_its_end_that_a_variable_was_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", MISREAD["OTEL_EXPORTER_OTLP_HEADERS"])
    monkeypatch.setattr(telemetry, "CLOSING_S", 120.0)
    said = Telemetry(WantedExporters("otlp_proto_http", None), SessionState).finish()
    assert said == (
        "telemetry: a variable of OpenTelemetry could not be read and was passed over: "
        "check OTEL_EXPORTER_OTLP_HEADERS and its like"
    )
