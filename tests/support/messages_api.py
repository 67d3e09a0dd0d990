"""A loopback server that speaks the Messages API and follows a script.

It stands in for an endpoint: real HTTP, real event streams, real faults. It knows nothing of
Tilth and needs nothing but the standard library.

    with MessagesServer([call("bash", command="ls"), say("done")]) as server: ...  # server.url
    assert server.requests[0].body["model"] == "claude-sonnet-5"

Answers add up: ``think("hm") + say("I look.") + call("bash", command="ls")``.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from support.messages_wire import Block, chunk, event, pieces

DEFAULT_USAGE: Mapping[str, Any] = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 5,
}
EVENT_STREAM = {"content-type": "text/event-stream"}
EVALUATOR_TOOLS = frozenset({"submit_verdict", "submit_ruling", "submit_review"})


@dataclass(frozen=True)
class Request:
    """One request as it came; header names are lower case."""

    path: str
    body: dict[str, Any]
    raw: bytes
    headers: Mapping[str, str]

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools on offer."""
        return frozenset(tool["name"] for tool in self.body.get("tools") or ())

    @property
    def role(self) -> str:
        """Who asks, told by the tools on offer; a ping has none and asks for one token."""
        if self.tools & EVALUATOR_TOOLS:
            return "evaluator"
        if "submit_case" in self.tools:
            return "worker"
        if not self.tools and self.body.get("max_tokens") == 1:
            return "ping"
        return "seeder" if "write_seed" in self.tools else "unknown"


@dataclass(frozen=True)
class Answer:
    """A whole answer. `None` for model echoes the one asked for; for usage, sends none."""

    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    usage: Mapping[str, Any] | None = field(default_factory=lambda: DEFAULT_USAGE)
    model: str | None = None
    streamed: bool = True
    """False sends JSON even where a stream was asked for."""
    split: int = 80
    packet: int = 0
    """`split`: a delta in UTF-16 units; `packet`: bytes in one write, 0 for all at once."""

    def __add__(self, other: Answer) -> Answer:
        return replace(other, blocks=self.blocks + other.blocks)

    def but(self, **changes: Any) -> Answer:
        """The same answer with other fields."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Whole:
    """Any HTTP response, as given."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Broken:
    """A stream that goes wrong after some of its events; `None` is before the status line.

    `close` breaks the connection off, `end` ends the body as if all were well, `stall` sends
    nothing more until the server closes, and pieces are sent as they are before the body ends.
    """

    answer: Answer
    after: int | None
    then: Literal["close", "end", "stall"] | Iterable[bytes]


Reply = Answer | Whole | Broken
Script = Iterable[Reply] | Callable[[Request], Reply]


def say(text: str, **changes: Any) -> Answer:
    """Answer with text."""
    return Answer(blocks=({"type": "text", "text": text},), **changes)


def think(thinking: str, signature: str = "c2lnbmF0dXJl") -> Answer:
    """Think; add what is said or called."""
    block = {"type": "thinking", "thinking": thinking, "signature": signature}
    return Answer(blocks=(block,))


def call(tool: str, /, **arguments: Any) -> Answer:
    """Call a tool; the server gives the call an id."""
    return Answer(blocks=({"type": "tool_use", "name": tool, "input": arguments},))


def block(**fields: Any) -> Answer:
    """Send any block at all."""
    return Answer(blocks=(fields,))


def error(status: int, message: str, kind: str = "api_error", **headers: str) -> Whole:
    """Fail in the API's own shape; `retry_after="3"` becomes the header."""
    return json_body(status, _error_body(kind, message), **headers)


def json_body(status: int, body: Any, **headers: str) -> Whole:
    """Send any JSON with any status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Whole(status, json.dumps(body).encode(), {"content-type": "application/json", **named})


def html(status: int = 200, page: str = "<html><title>Bad Gateway</title></html>") -> Whole:
    """Send a page, as gateways do."""
    return Whole(status, page.encode(), {"content-type": "text/html"})


def nothing(status: int = 200) -> Whole:
    """Send a status and no body."""
    return Whole(status=status, headers=EVENT_STREAM)


def drop() -> Broken:
    """Close the connection before any byte."""
    return Broken(answer=Answer(), after=None, then="close")


def stall(after: int | None = None, answer: Answer | None = None) -> Broken:
    """Go silent, after some events or before the first byte."""
    return Broken(answer=answer or say("never heard in full"), after=after, then="stall")


def cut(answer: Answer, after: int = 3, *, cleanly: bool = False) -> Broken:
    """End a stream too early, with or without a broken connection."""
    return Broken(answer=answer, after=after, then="end" if cleanly else "close")


def stream_error(kind: str, message: str, after: int = 3) -> Broken:
    """Send an error event in the middle of a stream."""
    then = (event(_error_body(kind, message)),)
    return Broken(answer=say("half an answer"), after=after, then=then)


def by_role(**scripts: Iterable[Reply]) -> Callable[[Request], Reply]:
    """Follow one script a role: `by_role(worker=[...], evaluator=[...])`; a ping is answered."""
    playing: dict[str, Callable[[Request], Reply]] = {"ping": lambda request: say("H")}
    playing |= {role: _in_turn(script) for role, script in scripts.items()}
    return lambda request: playing.get(request.role, _exhausted)(request)


class MessagesServer:
    """Serve a script on loopback until the block ends, and keep every request.

    `documents` stand beside it, by their path, for whoever gets them. `at_once` asks the script for
    several answers at the same time.
    """

    def __init__(
        self, script: Script, documents: Mapping[str, Any] | None = None, *, at_once: bool = False
    ) -> None:
        self.requests: list[Request] = []
        self.documents = documents or {}
        self._at_once = at_once
        self._ask = script if callable(script) else _in_turn(script)
        self._lock = threading.Lock()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self.closing = threading.Event()
        self._calls = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def connections(self) -> int:
        return self._http.accepted

    def __enter__(self) -> MessagesServer:
        self._thread.start()
        return self

    def __exit__(self, kind: object, value: BaseException | None, traceback: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.hang_up()
        self._http.server_close()
        if value is None and self._http.faults:
            raise self._http.faults[0]

    def reply_to(self, request: Request) -> Reply:
        """Keep the request and take the script's next reply to it."""
        with self._lock:
            self.requests.append(request)
            if request.path != "/v1/messages":
                return error(404, f"no such path: {request.path}", "not_found_error")
        with nullcontext() if self._at_once else self._lock:
            try:
                reply = self._ask(request)
            except Exception as fault:  # noqa: BLE001  # raised when the block ends
                # Refused for good: a client would try again for minutes.
                self._http.faults.append(fault)
                reply = error(400, f"the script is at fault: {fault!r}")
        if not isinstance(reply, Answer):
            return reply
        with self._lock:
            return replace(reply, blocks=tuple(map(self._named, reply.blocks)))

    def _named(self, one: Block) -> Block:
        if one["type"] != "tool_use" or "id" in one:
            return one
        self._calls += 1
        return {"type": "tool_use", "id": f"toolu_{self._calls:04}", **one}


def _in_turn(script: Iterable[Reply]) -> Callable[[Request], Reply]:
    playing = iter(script)
    return lambda request: next(playing, None) or _exhausted(request)


def _exhausted(request: Request) -> Whole:
    return error(400, f"the script has no answer left for the {request.role}")


class _Http(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, owner: MessagesServer) -> None:
        self.owner = owner
        self.accepted = 0
        self.faults: list[BaseException] = []
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.accepted += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        fault = sys.exception()
        # a client that goes away in the middle is part of the play, a faulty script is not
        if fault is not None and not isinstance(fault, OSError):
            self.faults.append(fault)

    def hang_up(self) -> None:
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        if not raw.endswith(b"}"):
            return  # the client died in the middle of its request
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path.partition("?")[0], json.loads(raw), raw, headers)
        reply = self.server.owner.reply_to(request)
        if isinstance(reply, Whole):
            self._send(reply)
        elif isinstance(reply, Broken):
            self._break(reply, request)
        else:
            self._answer(reply, request)

    def do_GET(self) -> None:
        found = self.server.owner.documents.get(self.path)
        missing = error(404, f"no such path: {self.path}", "not_found_error")
        self._send(missing if found is None else json_body(200, found))

    def _answer(self, answer: Answer, request: Request) -> None:
        if not (request.body.get("stream") and answer.streamed):
            return self._send(json_body(200, _message(answer, request)))
        body = b"".join(_events(answer, request))
        if not answer.packet:
            return self._send(Whole(200, body, EVENT_STREAM))
        self.wfile.write(self._chunked_head())
        for start in range(0, len(body), answer.packet):
            self.wfile.write(chunk(body[start : start + answer.packet]))
        self.wfile.write(chunk(b""))
        return None

    def _break(self, broken: Broken, request: Request) -> None:
        if broken.after is not None:
            events = list(_events(broken.answer, request))[: broken.after]
            self.wfile.write(self._chunked_head() + b"".join(chunk(event) for event in events))
        if not isinstance(broken.then, str):
            self.wfile.writelines(map(chunk, broken.then))
        if broken.then == "stall":
            self.server.owner.closing.wait()
        if broken.then in ("close", "stall"):
            self.close_connection = True
        else:
            self.wfile.write(chunk(b""))

    def _send(self, reply: Whole) -> None:
        length = {"content-length": str(len(reply.body))}
        self.wfile.write(self._head(reply.status, {**reply.headers, **length}) + reply.body)

    def _chunked_head(self) -> bytes:
        return self._head(200, {**EVENT_STREAM, "transfer-encoding": "chunked"})

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        named = {"request-id": f"req_{len(self.server.owner.requests):04}", **headers}
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{k}: {v}" for k, v in named.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing to the terminal."""


def _error_body(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _message(answer: Answer, request: Request) -> dict[str, Any]:
    calls = any(one["type"] == "tool_use" for one in answer.blocks)
    message = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": answer.model or request.body.get("model"),
        "content": list(answer.blocks),
        "stop_reason": answer.stop_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
    }
    return message if answer.usage is None else {**message, "usage": dict(answer.usage)}


def _events(answer: Answer, request: Request) -> Iterator[bytes]:
    message = _message(answer, request)
    stopped = {key: message[key] for key in ("stop_reason", "stop_sequence")}
    started = {**message, "content": [], "stop_reason": None}
    if answer.usage is not None:
        counted = int(bool(answer.usage.get("output_tokens")))
        started["usage"] = {**answer.usage, "output_tokens": counted, "output_tokens_details": None}
    yield event({"type": "message_start", "message": started})
    for index, one in enumerate(answer.blocks):
        opening, deltas = pieces(one, answer.split)
        yield event({"type": "content_block_start", "index": index, "content_block": opening})
        if index == 0:
            yield event({"type": "ping"})
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    usage = {} if answer.usage is None else {"usage": dict(answer.usage)}
    yield event({"type": "message_delta", "delta": stopped, **usage})
    yield event({"type": "message_stop"})
