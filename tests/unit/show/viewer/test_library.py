"""The library: what the viewer answers while sessions come and go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.event_samples import SESSION
from support.session_files import Shelf

from tilth.base.errors import UnknownSession
from tilth.config.settings import load
from tilth.show.viewer.library import Library

OTHER = "20261117-010101-0b0b0b"
KEY = "zQ8sWxT4nB7vLp2kRd9m"


def test_sessions_are_listed_and_masked_when_the_one_it_was_opened_with_is_gone(
    tmp_path: Path,
) -> None:
    shelf = Shelf(tmp_path)
    first = shelf.add(SESSION)
    shelf.add(OTHER)
    environ = {**shelf.environ, "TILTH_EVALUATOR_API_KEY": KEY}
    library = Library(load({}, environ), SESSION, environ=environ)
    shutil.rmtree(first)
    listed = library.masked("", library.sessions())
    assert [row["id"] for row in listed] == [OTHER]
    assert library.masked("", f"with {KEY}") == "with [hidden: 20 characters]"
    assert library.masked(OTHER, KEY) == "[hidden: 20 characters]"
    with pytest.raises(UnknownSession):
        library.masked(SESSION, listed)
