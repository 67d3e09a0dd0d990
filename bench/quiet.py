"""The silence around a measurement: what is measured prints its screens to nobody."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let a run in this process say what it likes; the bench prints its own lines alone."""
    nobody = io.StringIO()
    with contextlib.redirect_stdout(nobody), contextlib.redirect_stderr(nobody):
        yield
