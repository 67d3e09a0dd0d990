"""What holds for every test: no network beyond loopback, none of the runner's own settings."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from support import chromium, memory_disk, network_guard, toolchains

from tilth.session.parts import cores_here

TESTS = Path(__file__).parent

# Without a browser its tests are not collected; the run's last lines say so.
collect_ignore_glob = ["browser/*"] if chromium.why_not() else []

AT_THE_START: dict[str, object] = {}


def pytest_configure() -> None:
    _heed_interrupts()
    memory_disk.use(os.environ)
    network_guard.install()
    for name in list(os.environ):
        if name.startswith(("TILTH_", "ANTHROPIC_")):
            del os.environ[name]
    # Times are shown in local time: here that is the same everywhere.
    os.environ["TZ"] = "UTC"
    time.tzset()
    AT_THE_START.update(_surroundings())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: all of it stays, and looking was a third of the work."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        _stand_outside()


def _stand_outside() -> None:
    """Leave this repository: inside one, `latest` means its sessions alone."""
    outside = tempfile.mkdtemp(prefix="tilth-outside-")
    atexit.register(shutil.rmtree, outside, ignore_errors=True)
    os.chdir(outside)
    AT_THE_START.update(_surroundings())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take two for each core: tests wait much, for processes and for servers."""
    return 2 * cores_here()


# Whole programs first, values last: small files then fill the gaps that long ones leave at the end.
SLOWEST_FIRST = ("crash", "attacks", "browser", "cli", "flow", "api", "shape", "unit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rooms = {item: item.path.relative_to(TESTS).parts[0] for item in items}
    items.sort(key=lambda item: SLOWEST_FIRST.index(rooms[item]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for said in filter(None, (chromium.left_out(), toolchains.left_out())):
        terminalreporter.write_line(said, yellow=True)


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_left_behind() -> Iterator[None]:
    """Hold every file to leaving the process as it was, whichever files come after it."""
    yield
    assert _surroundings() == AT_THE_START


def _surroundings() -> dict[str, object]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "working directory": Path.cwd(),
        "handlers": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        "umask": _umask(),
    }


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _heed_interrupts() -> None:
    """Heed Ctrl-C even when started in the background, where a shell has it ignored: what a test
    starts would inherit that, and never hear the signal it is sent."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
