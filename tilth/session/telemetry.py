"""Telemetry: a run as OpenTelemetry traces and metrics, told from the events alone.

It is a sink beside the log, there only where the environment names an exporter in OpenTelemetry's
own variables, and everything of OpenTelemetry is imported in a thread of its own. An exporter that
fails or hangs slows no run and ends none: what cannot be sent is dropped, and said once at the end.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tilth.log.events import Event
from tilth.log.spans import Point, Span, points_of, spans_of
from tilth.log.state import SessionState

CLOSING_S = 5.0
_FLUSH_S = 5.0
_MOST_WAITING = 20_000
_CHECK = "check OTEL_EXPORTER_OTLP_ENDPOINT"
_MISREAD = (
    "a variable of OpenTelemetry could not be read and was passed over: "
    "check OTEL_EXPORTER_OTLP_HEADERS and its like"
)
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ASKED = frozenset({"true", "1", "span_only", "span_and_event"})
_PROTOCOLS = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}


class SendFault(StrEnum):
    """Say why something was not sent."""

    NOT_INSTALLED = "not_installed"
    NO_EXPORTER = "no_exporter"
    UNSENT = "unsent"
    MISREAD = "misread"


@dataclass(frozen=True)
class WantedExporters:
    """Name the exporters that the environment asks for, by OpenTelemetry's own names."""

    traces: str | None
    metrics: str | None
    content: bool = False

    @classmethod
    def by(cls, environ: Mapping[str, str]) -> WantedExporters | None:
        """Read the variables; None where nothing is asked for."""
        if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            return None
        traces, metrics = _exporter(environ, "TRACES"), _exporter(environ, "METRICS")
        if traces is None and metrics is None:
            return None
        return cls(traces, metrics, environ.get(_CONTENT, "").strip().lower() in _ASKED)

    @property
    def exporters(self) -> dict[str, str]:
        """Give the exporters' names by what they send."""
        asked = {"traces": self.traces, "metrics": self.metrics}
        return {signal: name for signal, name in asked.items() if name is not None}

    def missing(self) -> tuple[str, ...]:
        """Name the exporters that are not installed; nothing of them is imported."""
        from importlib.metadata import entry_points

        return tuple(
            name
            for signal, name in self.exporters.items()
            if not entry_points(group=f"opentelemetry_{signal}_exporter", name=name)
        )


def _exporter(environ: Mapping[str, str], signal: str) -> str | None:
    def said(*names: str) -> str:
        return next((text for name in names if (text := environ.get(name, "").strip())), "")

    named = said(f"OTEL_{signal}_EXPORTER").partition(",")[0].strip()
    addressed = said(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    if named == "none" or not (named or addressed):
        return None
    if named not in ("", "otlp"):
        return named
    protocol = said(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    return _PROTOCOLS.get(protocol or "http/protobuf", protocol)


def open_telemetry(
    environ: Mapping[str, str], state: Callable[[], SessionState]
) -> Telemetry | None:
    """Begin to tell, where the environment asks for it; `state` gives the session's as it is."""
    wanted = WantedExporters.by(environ)
    return None if wanted is None else Telemetry(wanted, state)


class Telemetry:
    """Send what events say, from a thread."""

    def __init__(self, wanted: WantedExporters, state: Callable[[], SessionState]) -> None:
        self._wanted = wanted
        self._state = state
        self._waiting: queue.Queue[Span | Point | None] = queue.Queue(_MOST_WAITING)
        self._dropped = 0
        self._fault: SendFault | None = None
        self._thread = threading.Thread(target=self._work, name="telemetry", daemon=True)
        self._thread.start()

    def take(self, event: Event) -> None:
        """Hear an event; it costs the run no more than a place in a queue."""
        found: list[Span | Point] = [*points_of(event)]
        found += spans_of(event, self._state(), content=self._wanted.content)
        for item in found:
            self._put(item)

    def finish(self) -> str | None:
        """Wait for what is under way, but not for ever, and say what went wrong, if anything."""
        self._put(None)
        self._thread.join(CLOSING_S)
        if self._thread.is_alive():
            return f"telemetry was not sent within {CLOSING_S:g} seconds of the end: {_CHECK}"
        match self._fault:
            case SendFault.NOT_INSTALLED:
                return "telemetry was not sent: install `tilth[otel]`"
            case SendFault.NO_EXPORTER:
                named = ", ".join(sorted(set(self._wanted.missing())))
                return f"telemetry was not sent: no opentelemetry-exporter for {named}"
            case SendFault.MISREAD if not self._dropped:
                return f"telemetry: {_MISREAD}"
        if self._fault is not None or self._dropped:
            return f"telemetry did not all reach its collector: {_CHECK}"
        return None

    def _put(self, item: Span | Point | None) -> None:
        try:
            self._waiting.put_nowait(item)
        except queue.Full:
            self._dropped += 1

    def _work(self) -> None:
        try:
            from tilth.session.otlp import Exporting, NoExporter
        except ImportError:
            self._fault = SendFault.NOT_INSTALLED
            return
        try:
            exporting = Exporting(self._wanted.traces, self._wanted.metrics)
            if exporting.send(self._items()):
                self._fault = SendFault.UNSENT
            elif exporting.misread:
                self._fault = SendFault.MISREAD
        except NoExporter:
            self._fault = SendFault.NO_EXPORTER
        # An exporter's own code: it must not end a night's work, nor be heard of elsewhere.
        except Exception:  # noqa: BLE001
            self._fault = SendFault.UNSENT

    def _items(self) -> Iterator[Span | Point | None]:
        """Give what waits, None when it is time to send, until the end."""
        due = time.monotonic() + _FLUSH_S
        while True:
            try:
                item = self._waiting.get(timeout=max(0.0, due - time.monotonic()))
            except queue.Empty:
                yield None
                due = time.monotonic() + _FLUSH_S
                continue
            if item is None:
                return
            yield item
