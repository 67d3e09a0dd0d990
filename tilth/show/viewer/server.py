"""The server: the page and its data over HTTP, on loopback, for whoever has the token.

Everything is read only: there is no route that changes anything. What takes time runs beside the
event loop. Starlette, uvicorn and sse-starlette are known here and in the guard alone.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any

import uvicorn
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tilth.base.errors import TilthError, UnknownSession
from tilth.show.viewer import page_files
from tilth.show.viewer.book import Filter
from tilth.show.viewer.guard import Guard, Key
from tilth.show.viewer.library import MOST_ROWS, Library, Missing

_POLL_S = 0.4
_PING_S = 15
Answer = Callable[[Request], Awaitable[Response]]


def make_app(library: Library, key: Key) -> Starlette:
    """Put the routes together; all of them are behind the guard."""
    pages = [Route("/", _page(key)), Route("/favicon.ico", _nothing)]
    for name in (*page_files.MODULES, page_files.STYLE, *page_files.LICENCES):
        pages.append(Route(f"/{name}", _file(name)))
    asked: dict[str, Callable[[Request], Any]] = {
        "sessions": lambda _: library.sessions(),
        "overview": lambda r: library.overview(_session(r)),
        "task": lambda r: library.task(_session(r), r.query_params.get("task", "")),
        "events": lambda r: library.rows(_session(r), _filter(r), *_piece(r)),
        "event": lambda r: library.event(_session(r), _number(r, "seq", 0)),
        "conversation": lambda r: library.conversation(
            _session(r), r.query_params.get("task", ""), *_piece(r)
        ),
    }
    data = [Route(f"/data/{name}", _data(library, answer)) for name, answer in asked.items()]
    stream = Route("/data/stream", _stream(library))
    app = Starlette(routes=[*pages, *data, stream], middleware=[Middleware(Guard, key=key)])
    app.router.redirect_slashes = False
    return app


def _page(key: Key) -> Answer:
    async def answer(request: Request) -> Response:
        given = Response(page_files.text_of(page_files.PAGE), media_type="text/html")
        given.set_cookie(key.cookie, key.token, httponly=True, samesite="strict", path="/")
        return given

    return answer


async def _nothing(request: Request) -> Response:
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _file(name: str) -> Answer:
    async def answer(request: Request) -> Response:
        return Response(page_files.text_of(name), media_type=page_files.media_type(name))

    return answer


def _data(library: Library, ask: Callable[[Request], Any]) -> Answer:
    async def answer(request: Request) -> Response:
        try:
            said = await run_in_threadpool(lambda: _shown(library, request, ask(request)))
        except (Missing, UnknownSession) as error:
            return PlainTextResponse(str(error), HTTPStatus.NOT_FOUND)
        except TilthError as error:
            return PlainTextResponse(str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
        return Response(said, media_type="application/json")

    return answer


def _shown(library: Library, request: Request, said: Any) -> bytes:
    hidden = library.masked(_session(request), said)
    return json.dumps(hidden, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _session(request: Request) -> str:
    return request.query_params.get("session", "")


def _filter(request: Request) -> Filter:
    return Filter(*(request.query_params.get(name, "") for name in Filter._fields))


def _piece(request: Request) -> tuple[int, int]:
    return _number(request, "offset", 0), _number(request, "limit", MOST_ROWS)


def _number(request: Request, name: str, default: int) -> int:
    return _read(request.query_params.get(name, ""), default)


def _read(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default


def _stream(library: Library) -> Answer:
    async def answer(request: Request) -> Response:
        session = _session(request)
        seen = _read(request.headers.get("last-event-id", ""), _number(request, "after", 0))
        try:
            await run_in_threadpool(library.standing, session)
        except TilthError as error:
            return PlainTextResponse(str(error), HTTPStatus.NOT_FOUND)
        return EventSourceResponse(_grown(library, session, seen), ping=_PING_S)

    return answer


async def _grown(library: Library, session: str, seen: int) -> AsyncIterator[ServerSentEvent]:
    """Tell how far the log goes, whenever it goes further or comes to rest.

    The id is the last event's number: whoever comes back with it is told at once what it missed,
    and reads the events themselves page by page.
    """
    status = None
    while True:
        try:
            now = await run_in_threadpool(library.standing, session)
        except TilthError:
            return
        if now["last_seq"] > seen or now["status"] != status:
            seen, status = max(seen, now["last_seq"]), now["status"]
            yield ServerSentEvent(data=json.dumps(now), event="grown", id=str(now["last_seq"]))
        await asyncio.sleep(_POLL_S)


def serve(app: Starlette, listening: socket.socket) -> None:
    """Answer until the process is asked to stop."""
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])
