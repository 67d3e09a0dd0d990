"""The guard: whom the viewer answers, decided before anything is looked up.

Another site's page must not reach it, by name or by address: the Host must be this machine's own,
an Origin must be the viewer's, and the token must be known. It reads headers and nothing else.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Any port: a tunnel may lead here from another one.
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.IGNORECASE)
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": _PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Refusal(NamedTuple):
    """Hold the status and the words a request is refused with."""

    status: HTTPStatus
    said: str


class Key(NamedTuple):
    """Hold the token that opens the viewer, and the name of the cookie it is kept in."""

    token: str
    cookie: str

    @classmethod
    def make(cls, port: int) -> Key:
        """Make a new one; cookies know no ports, so the name does."""
        return cls(secrets.token_urlsafe(24), f"tilth-{port}")

    def fits(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


def refusal(headers: Headers, query: bytes, key: Key) -> Refusal | None:
    """Say why a request is refused; None lets it through."""
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not _OWN_HOST.fullmatch(hosts[0]):
        return Refusal(HTTPStatus.FORBIDDEN, "foreign Host: the viewer answers on loopback alone")
    if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
        return Refusal(HTTPStatus.FORBIDDEN, "foreign Origin: the viewer answers its own page")
    if not key.fits(_in_query(query)) and not key.fits(_in_cookie(headers, key.cookie)):
        said = "no token: open the address that `tilth visualize` printed"
        return Refusal(HTTPStatus.UNAUTHORIZED, said)
    return None


def _in_query(query: bytes) -> str | None:
    given = parse_qs(query.decode("latin-1")).get("token")
    return given[0] if given else None


def _in_cookie(headers: Headers, name: str) -> str | None:
    try:
        given = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return given.value if given else None


class Guard:
    """Stand before an application: refuse, or let through; every answer gets the headers."""

    def __init__(self, app: ASGIApp, key: Key) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), said.encode()) for name, said in HEADERS.items()]
                kept = [each for each in message["headers"] if each[0].decode() not in HEADERS]
                message = {**message, "headers": [*kept, *extra]}
            await send(message)

        refused = refusal(Headers(scope=scope), scope["query_string"], self._key)
        answer = PlainTextResponse(refused.said + "\n", refused.status) if refused else self._app
        await answer(scope, receive, send_guarded)
