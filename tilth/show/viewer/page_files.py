"""The page's files: what the browser is given, read from the package and named one by one.

No path from outside ever reaches the disk: a file that is not in the list does not exist.
"""

from __future__ import annotations

from importlib.resources import files

# In the order in which each stands on those before it.
MODULES = (
    "vendor/preact-htm.js",
    "words.js",
    "glossary.js",
    "marks.js",
    "data.js",
    "charts.js",
    "diff.js",
    "overview.js",
    "task.js",
    "events.js",
    "main.js",
)
PAGE, STYLE = "index.html", "style.css"
LICENCES = ("vendor/LICENSE-preact", "vendor/LICENSE-htm")
_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}


def media_type(name: str) -> str:
    """Name the type of one of the page's files."""
    return _TYPES.get(name.rpartition(".")[2], "text/plain")


def text_of(name: str) -> str:
    """Read one of the page's files."""
    return files("tilth.show.viewer").joinpath("page", name).read_text("utf-8")
