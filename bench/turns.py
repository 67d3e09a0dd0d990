"""Time a turn: the harness against a bare loop on the same SDK with the same tools."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.endpoint import ROOT, endpoint
from bench.quiet import quiet

sys.path.insert(0, str(ROOT / "tests"))

# What goes on while a run does, given Tilth's home.
Beside = Callable[[Path], contextlib.AbstractContextManager[None]]


@dataclass(frozen=True)
class Timed:
    """Hold the median gap between two requests, and what was written meanwhile."""

    gap_ms: float
    late_gap_ms: float
    bytes_a_turn: float
    late_bytes_a_turn: float
    peak_mb: float


def bare_loop(turns: int) -> float:
    """Give the median gap of a loop with nothing around the SDK but the tools."""
    import anthropic

    from tilth.model.messages import ToolCall
    from tilth.sandbox.confinement import Access, Unconfined, environment
    from tilth.tools import Toolbox, find_ruff

    with tempfile.TemporaryDirectory() as folder, endpoint(turns) as server:
        root = Path(folder)
        (root / "README.md").write_text("# Sample\n", encoding="utf-8")
        tools = Toolbox(
            root=root,
            confinement=Unconfined(),
            access=Access(writable=(root,)),
            env=environment(os.environ, home=root),
            bash_timeout_s=60,
            ruff=find_ruff(),
        )
        client = anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0)
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Work." * 400}]
        specs = [spec.to_wire() for spec in tools.specs]
        while True:
            with client.messages.stream(
                model="claude-sonnet-5-5",
                max_tokens=16_000,
                system="You work." * 200,
                tools=specs,
                messages=messages,
                cache_control={"type": "ephemeral"},
            ) as stream:
                message = stream.get_final_message()
            messages.append({"role": "assistant", "content": message.to_dict()["content"]})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                break
            results = []
            for block in calls:
                call = ToolCall(id=block.id, name=block.name, arguments=block.input)
                outcome = tools.run(call)
                results.append(
                    {"type": "tool_result", "tool_use_id": block.id, "content": outcome.content}
                )
            messages.append({"role": "user", "content": results})
        client.close()
    return statistics.median(server.gaps) * 1000


@contextlib.contextmanager
def _nobody(home: Path) -> Iterator[None]:
    yield


def harness(
    turns: int, *, memory: bool = False, beside: Beside = _nobody, sandbox: str = "off"
) -> Timed:
    """Run the real command in this process against the same endpoint, with `beside` about it."""
    from support.commands import start
    from support.flow_site import Site

    with tempfile.TemporaryDirectory() as folder:
        site = Site.make(Path(folder) / "site")
        target = site.bundle(1)
        if memory:
            tracemalloc.start()
        with (
            beside(site.root / "home"),
            endpoint(turns) as server,
            quiet(),
        ):
            environ = site.environ(
                server.url,
                PATH=os.environ["PATH"],
                TILTH_MAX_ITERATIONS_PER_TASK=str(turns + 10),
                TILTH_SANDBOX=sandbox,
            )
            start(target, site.repo, {}, new=True, environ=environ)
        peak = tracemalloc.get_traced_memory()[1] / 1e6 if memory else 0.0
        tracemalloc.stop()
        sizes = _bytes_by_turn(site.session() / "events.jsonl")
    late = server.gaps[-len(server.gaps) // 5 :]
    return Timed(
        gap_ms=statistics.median(server.gaps) * 1000,
        late_gap_ms=statistics.median(late) * 1000,
        bytes_a_turn=statistics.mean(sizes[: turns // 2]),
        late_bytes_a_turn=statistics.mean(sizes[turns // 2 :]),
        peak_mb=peak,
    )


def _bytes_by_turn(log: Path) -> list[int]:
    sizes = [0]
    for raw in log.read_bytes().splitlines(keepends=True):
        line = json.loads(raw)
        if line["type"] == "model_call":
            sizes.append(0)
        sizes[-1] += len(raw)
    return sizes[1:]
