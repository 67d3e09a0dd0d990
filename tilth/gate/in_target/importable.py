"""The names that the target's interpreter can import without the project: its library and packages.

Run by path; it writes one JSON document into the file it is given. It imports none of them.
"""

from __future__ import annotations

import json
import os
import sys

_SUFFIXES = (".py", ".so", ".pyd")


def main(answer: str) -> None:
    """Write down the names of the standard library and of what is installed."""
    installed = {name for place in sys.path for name in _names(place)}
    library = getattr(sys, "stdlib_module_names", None) or _older_library()
    found = {"library": sorted(library), "installed": sorted(installed - set(library))}
    with open(answer, "w") as file:
        json.dump(found, file)


def _older_library() -> set[str]:
    # Before Python 3.10 there is no list of it.
    return set(sys.builtin_module_names) | set(_names(os.path.dirname(os.__file__)))


def _names(place: str) -> list[str]:
    try:
        entries = list(os.scandir(place))
    except OSError:
        return []
    names = []
    for entry in entries:
        if entry.name.endswith(_SUFFIXES) and not entry.is_dir():
            names.append(entry.name.partition(".")[0])
        elif entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
            names.append(entry.name)
    return [name for name in names if name.isidentifier()]


if __name__ == "__main__":
    main(sys.argv[1])
