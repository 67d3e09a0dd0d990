"""The settings of the mail program."""

from __future__ import annotations

from layers import Table, merge

DEFAULTS: Table = {
    "server": {"host": "localhost", "port": 25, "tls": {"verify": True, "ciphers": ["a", "b"]}},
    "folders": ["inbox", "sent"],
    "signature": "-- ",
}


def load(*files: Table) -> Table:
    """Give the settings in force: the defaults with the files on top."""
    return merge(DEFAULTS, *files)
