"""The HTTP client under the SDK, with an end to everything it reads: bytes, time, packing.

An endpoint can send for ever, and a small packed body can be gigabytes. Every response is bounded
here, an error's body too, before anything above has seen a byte. No redirect is followed: it would
carry the conversation and the extra headers to whoever it names. It judges no content.
"""

from __future__ import annotations

import codecs
import functools
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
from anthropic import DefaultHttpxClient

_DEFAULT = "utf-8"
_ENCODINGS = frozenset({"utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252", "utf-16"})


@dataclass(frozen=True)
class Bounds:
    """Say how large an answer may be and how long it may take."""

    most_bytes: int
    most_s: float
    clock: Callable[[], float]


class BoundedClient(DefaultHttpxClient):
    """Send requests as the SDK's own client does; give responses that end."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(follow_redirects=False, verify=_trusted())
        self._bounds = bounds

    def send(self, request: httpx2.Request, *, stream: bool = False, **how: Any) -> httpx2.Response:
        response = super().send(request, stream=True, **how)
        try:
            _check_packing(response)
            response.stream = _Bounded(response.stream, self._bounds)
            response.encoding = _encoding(response.charset_encoding)
            if not stream:
                response.read()
        except BaseException:
            response.close()
            raise
        return response


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Read the certificates once for all clients: it takes longer than a turn."""
    return httpx2.create_ssl_context()


def _check_packing(response: httpx2.Response) -> None:
    packed = response.headers.get("content-encoding", "identity").lower()
    if packed != "identity":
        # What it unpacks to can only be told by unpacking it.
        raise httpx2.ReadError(f"the answer is packed ({packed[:40]}), which was not asked for")


def _encoding(charset: str | None) -> str:
    """Name what to decode a text with; an endpoint can name codecs that decode no text at all."""
    try:
        name = codecs.lookup(charset or _DEFAULT).name
    except (LookupError, ValueError):
        return _DEFAULT
    return name if name in _ENCODINGS else _DEFAULT


class _Bounded(httpx2.SyncByteStream):
    """Pass a body on until it is too large or takes too long."""

    def __init__(self, stream: Any, bounds: Bounds) -> None:
        self._stream = stream
        self._bounds = bounds
        self._until = bounds.clock() + bounds.most_s

    def __iter__(self) -> Iterator[bytes]:
        bounds, size = self._bounds, 0
        for piece in self._stream:
            size += len(piece)
            if size > bounds.most_bytes:
                raise httpx2.ReadError(f"the answer is larger than {bounds.most_bytes} bytes")
            if bounds.clock() > self._until:
                raise httpx2.ReadTimeout(f"the answer took more than {bounds.most_s:g} s")
            yield piece

    def close(self) -> None:
        self._stream.close()
