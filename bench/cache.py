"""Count what of each request an endpoint's prompt cache could read, over a long conversation."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.endpoint import COMMANDS, ROOT
from bench.quiet import quiet

sys.path.insert(0, str(ROOT / "tests"))

Call = tuple[str, dict[str, Any]]
LOOKS: tuple[Call, ...] = (
    ("read_file", {"path": "README.md"}),
    ("glob", {"pattern": "*.py"}),
    ("grep", {"pattern": "Sample", "path": "."}),
)


def cached_shares(turns: int) -> dict[str, float]:
    """Give the share that could be read: of a worker's and of a looking evaluator's turns."""
    from support.commands import start
    from support.flow_site import Site, accept, solve, submit
    from support.messages_api import MessagesServer, Reply, Request, by_role, call
    from support.prompt_cache import PromptCache

    steps = (call(name, **arguments) for name, arguments in _in_turn(COMMANDS, turns - 2))
    looks = (call(name, **arguments) for name, arguments in _in_turn(LOOKS, turns - 1))
    scripted = by_role(worker=[*steps, solve(1), submit(1)], evaluator=[*looks, accept()])
    caches = {"worker": PromptCache(), "evaluator": PromptCache()}

    def answer(request: Request) -> Reply:
        caches[request.role].take(request.body)
        return scripted(request)

    with tempfile.TemporaryDirectory() as folder, MessagesServer(answer) as server:
        site = Site.make(Path(folder) / "site")
        environ = site.environ(
            server.url,
            PATH=os.environ["PATH"],
            TILTH_MAX_ITERATIONS_PER_TASK=str(turns + 10),
            TILTH_MAX_EVALUATOR_TURNS=str(turns),
        )
        with quiet():
            start(site.bundle(1), site.repo, {}, new=True, environ=environ)
    return {role: cache.share for role, cache in caches.items()}


def _in_turn(calls: Sequence[Call], count: int) -> Iterator[Call]:
    return (calls[number % len(calls)] for number in range(count))
