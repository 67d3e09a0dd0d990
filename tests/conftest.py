"""What holds for every test: no network beyond loopback, none of the runner's own settings."""

from __future__ import annotations

import os

import network_guard


def pytest_configure() -> None:
    network_guard.install()
    for name in list(os.environ):
        if name.startswith(("TILTH_", "ANTHROPIC_")):
            del os.environ[name]
