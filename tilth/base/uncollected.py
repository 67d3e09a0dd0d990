"""Many objects at once that stay, made without a search for garbage among them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Make objects that stay: without a search for garbage now, and left out of later ones."""
    searches = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if searches:
            gc.enable()
