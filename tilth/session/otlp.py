"""OpenTelemetry's own: spans and measurements handed to the exporters it knows by name.

Imported in a thread and only where an exporter is asked for. It sets nothing global, so a program
that embeds Tilth keeps its own providers, and what the packages say of themselves is counted and
not printed. Nothing is sampled: a session is one trace, sent whole.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from opentelemetry.metrics import Counter, Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from tilth import __version__
from tilth.log.spans import Point, Span

_BATCH = 512
_METRICS_S = 60.0
_LOGGERS = ("opentelemetry", "requests", "urllib3", "grpc")
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
# A measurement with boundaries is a histogram, one without a sum.
_INSTRUMENTS: Mapping[str, tuple[str, str, tuple[float, ...]]] = {
    "gen_ai.client.token.usage": ("{token}", "Tokens sent and received", _TOKENS),
    "gen_ai.client.operation.duration": ("s", "How long model calls took", _SECONDS),
    "tilth.cost": ("{USD}", "What model calls with a known price cost", ()),
    "tilth.retries": ("{retry}", "Model calls that failed and were made again", ()),
    "tilth.tasks": ("{task}", "Tasks that ended, by their outcome", ()),
    "tilth.verdicts": ("{verdict}", "Verdicts, by what they say", ()),
}


class NoExporter(Exception):
    """Say that no exporter of a name is installed."""


class Exporting:
    """Hold the exporters of one run; one thread makes it, uses it and lets it go."""

    def __init__(self, traces: str | None, metrics: str | None) -> None:
        # Imported first: only loggers that are there can be kept from talking.
        tracer = None if traces is None else _load("traces", traces)
        meter = None if metrics is None else _load("metrics", metrics)
        # Some variables are read in threads that the packages start for it.
        reading = _Faults(others=frozenset(thread.ident for thread in threading.enumerate()))
        with reading:
            resource = _resource()
            self._spans = None if tracer is None else _Spans(tracer(), resource)
            self._points = None if meter is None else _Points(meter(), resource)
        self.misread = reading.count > 0
        self._faults = _Faults()

    def send(self, items: Iterator[Span | Point | None]) -> int:
        """Send all there is, at every None and at the end; count what was heard of as failed."""
        with self._faults:
            for item in items:
                match item:
                    case Span() if self._spans is not None:
                        self._spans.add(item)
                    case Point() if self._points is not None:
                        self._points.add(item)
                    case None:
                        self._flush()
            self._flush(last=True)
        return self._faults.count

    def _flush(self, *, last: bool = False) -> None:
        if self._spans is not None:
            self._spans.flush(last=last)
        if self._points is not None:
            self._points.flush(last=last)


class _Spans:
    """Make spans with ids of our own, and export them in batches."""

    def __init__(self, exporter: Any, resource: Resource) -> None:
        self._exporter = exporter
        self._ids = _Ids()
        self._ended = _Ended()
        provider = TracerProvider(
            sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False, id_generator=self._ids
        )
        provider.add_span_processor(self._ended)
        self._tracer = provider.get_tracer("tilth", __version__)

    def add(self, span: Span) -> None:
        self._ids.trace_id, self._ids.span_id = span.trace_id, span.span_id
        parent = None
        if span.parent_id is not None:
            known = SpanContext(
                span.trace_id, span.parent_id, is_remote=False, trace_flags=TraceFlags(1)
            )
            parent = set_span_in_context(NonRecordingSpan(known))
        made = self._tracer.start_span(
            span.name,
            context=parent,
            kind=SpanKind.CLIENT if span.is_call else SpanKind.INTERNAL,
            attributes=span.attributes,
            start_time=span.start_ns,
        )
        for moment in span.moments:
            made.add_event(moment.name, moment.attributes, moment.at_ns)
        if span.error is not None:
            made.set_status(Status(StatusCode.ERROR, span.error))
        made.end(span.end_ns)
        if len(self._ended.spans) >= _BATCH:
            self.flush()

    def flush(self, *, last: bool = False) -> None:
        batch, self._ended.spans = self._ended.spans, []
        if batch:
            self._exporter.export(batch)
        if last:
            self._exporter.shutdown()


class _Points:
    """Keep sums and histograms, and export them now and then."""

    def __init__(self, exporter: Any, resource: Resource) -> None:
        # An interval without end: it is told when to send, and starts no thread.
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=math.inf)
        self._provider = MeterProvider((reader,), resource, shutdown_on_exit=False)
        self._instruments = dict(self._made())
        self._sent = time.monotonic()

    def _made(self) -> Iterator[tuple[str, Counter | Histogram]]:
        meter = self._provider.get_meter("tilth", __version__)
        for name, (unit, said, bounds) in _INSTRUMENTS.items():
            if bounds:
                yield (
                    name,
                    meter.create_histogram(
                        name, unit, said, explicit_bucket_boundaries_advisory=bounds
                    ),
                )
            else:
                yield name, meter.create_counter(name, unit, said)

    def add(self, point: Point) -> None:
        match self._instruments[point.name]:
            case Histogram() as histogram:
                histogram.record(point.value, point.attributes)
            case Counter() as counter:
                counter.add(point.value, point.attributes)

    def flush(self, *, last: bool = False) -> None:
        if last or time.monotonic() - self._sent > _METRICS_S:
            self._provider.force_flush()
            self._sent = time.monotonic()
        if last:
            self._provider.shutdown()


class _Ids(IdGenerator):
    """Give the ids that were set."""

    trace_id = 0
    span_id = 0

    def generate_span_id(self) -> int:
        return self.span_id

    def generate_trace_id(self) -> int:
        return self.trace_id


class _Ended(SpanProcessor):
    """Keep spans that have ended until they are exported."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


class _Faults(logging.Filter):
    """Count what the packages warn of in this thread, and keep it off the screen.

    Their words hold addresses, and those may hold a token. Where threads of others are named, every
    thread but those counts as this one.
    """

    def __init__(self, others: frozenset[int | None] | None = None) -> None:
        super().__init__()
        self.count = 0
        self._thread = threading.get_ident()
        self._others = others

    def filter(self, record: logging.LogRecord) -> bool:
        if not self._is_ours(record.thread):
            return True
        self.count += record.levelno >= logging.WARNING
        return False

    def _is_ours(self, thread: int | None) -> bool:
        others = self._others
        return thread == self._thread or (others is not None and thread not in others)

    def __enter__(self) -> None:
        for logger in _loggers():
            logger.addFilter(self)

    def __exit__(self, *_: object) -> None:
        for logger in _loggers():
            logger.removeFilter(self)


def _loggers() -> list[logging.Logger]:
    return [
        logging.getLogger(name)
        for name in [*logging.root.manager.loggerDict]
        if name.partition(".")[0] in _LOGGERS
    ]


def _resource() -> Resource:
    """Say who tells; a name that the environment gives is kept."""
    found = Resource.create({SERVICE_VERSION: __version__})
    named = str(found.attributes.get(SERVICE_NAME, ""))
    if named.startswith("unknown_service") or not named:
        return found.merge(Resource({SERVICE_NAME: "tilth"}))
    return found


def _load(signal: str, name: str) -> Any:
    """Find an exporter by the name it is registered under; made, it reads its own variables."""
    for found in entry_points(group=f"opentelemetry_{signal}_exporter", name=name):
        return found.load()
    raise NoExporter(name)
