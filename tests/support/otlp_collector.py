"""A collector on loopback: real OTLP over HTTP or gRPC, decoded from protobuf, kept for a look."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None


def attributes(holder: Any) -> dict[str, Any]:
    """Give the attributes of a span, a point or a resource."""
    return {item.key: _value(item.value) for item in holder.attributes}


class Collector:
    """Take what exporters send; `status` is what they are answered, `hang` leaves them waiting."""

    def __init__(self, *, status: int = 200, hang: bool = False) -> None:
        self.status = status
        self.spans: list[Any] = []
        self.resources: list[dict[str, Any]] = []
        self.metrics: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.raw = b""
        self._released = threading.Event()
        if not hang:
            self._released.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def named(self, start: str) -> list[Any]:
        """Give the spans whose name begins so."""
        return [span for span in self.spans if span.name.startswith(start)]

    def points(self, name: str) -> list[Any]:
        """Give the last points of a metric."""
        (metric,) = [metric for metric in self.metrics if metric.name == name][-1:]
        return list(getattr(metric, metric.WhichOneof("data")).data_points)

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.headers.append(headers)
        self.raw += body
        if path == "/v1/traces":
            sent = ExportTraceServiceRequest.FromString(body)
            for group in sent.resource_spans:
                self.resources.append(attributes(group.resource))
                self.spans += [span for scope in group.scope_spans for span in scope.spans]
        else:
            assert path == "/v1/metrics", path
            measured = ExportMetricsServiceRequest.FromString(body)
            for batch in measured.resource_metrics:
                self.metrics += [one for scope in batch.scope_metrics for one in scope.metrics]

    def _handler(collector) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector._released.wait()
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector.take(self.path, headers, body)
                self.send_response(collector.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


class GrpcCollector(Collector):
    """Take what exporters send over gRPC, as bytes, so that both ways are decoded in one place."""

    def __init__(self) -> None:
        import grpc

        super().__init__()
        self._server.server_close()
        self._grpc = grpc.server(ThreadPoolExecutor(max_workers=2))
        services = {
            "trace.v1.TraceService": ("/v1/traces", ExportTraceServiceResponse),
            "metrics.v1.MetricsService": ("/v1/metrics", ExportMetricsServiceResponse),
        }
        self._grpc.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(
                    f"opentelemetry.proto.collector.{name}",
                    {"Export": grpc.unary_unary_rpc_method_handler(self._taker(path, answer))},
                )
                for name, (path, answer) in services.items()
            ]
        )
        self._port = self._grpc.add_insecure_port("127.0.0.1:0")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> GrpcCollector:
        self._grpc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._grpc.stop(grace=None).wait()

    def _taker(self, path: str, answer: type[Any]) -> Callable[[bytes, Any], bytes]:
        def export(body: bytes, context: Any) -> bytes:
            self.take(path, dict(context.invocation_metadata()), body)
            return bytes(answer().SerializeToString())

        return export
