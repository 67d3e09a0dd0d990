"""Time the evidence: a probe and a mutant against a bare pytest, a review against a bare loop."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.endpoint import ROOT
from bench.quiet import quiet
from bench.sandbox import alternate, grounds, open_gate, plain_pytest, the_task

sys.path.insert(0, str(ROOT / "tests"))

from support.flow_site import Site, accept, solve, submit  # tests/ is no package
from support.messages_api import Answer, MessagesServer, Request, call

from tilth.contract.prd import Plan

LOOKS = 9
_CHANGE = "def join(parts):\n    return '-'.join(parts)\n\n\n" + "\n\n".join(
    f"def longer{n}(parts):\n    return len(parts) > {n} and bool(parts)\n" for n in range(4)
)
_PROBE = "import words\n\n\ndef test_one():\n    assert words.join(['a']) == 'a'\n"


def evidence_ratios(rounds: int = 7) -> tuple[float, float, float]:
    """Give a probe and a mutant on one core against a bare pytest, and mutants a second."""
    with grounds() as place:
        gate, task = open_gate(place), the_task()
        plan = Plan(tasks=(task,))
        (place.workspace.path / "words.py").write_text(_CHANGE, encoding="utf-8")
        tree = place.workspace.freeze(place.base).tree
        bare, probe = alternate(
            rounds,
            lambda: plain_pytest(place.workspace.path),
            lambda: gate.probe(task, plan, place.base, tree, _PROBE),
        )
        began = time.perf_counter()
        found = gate.mutants(task, plan, place.base, tree, seconds=600, check=lambda: None)
        each = (time.perf_counter() - began) / found.tried
    return probe / bare, each / bare, 1 / each


@dataclass
class _Times:
    """Answer worker and evaluator, and note when the evaluator was asked."""

    at: list[float] = field(default_factory=list)
    worked: int = 0

    def __call__(self, request: Request) -> Answer:
        if request.role == "worker":
            self.worked += 1
            return solve(1) if self.worked == 1 else submit(1)
        self.at.append(time.monotonic())
        return call("read_file", path="README.md") if len(self.at) <= LOOKS else accept()

    @property
    def gap(self) -> float:
        return statistics.median(after - before for before, after in pairwise(self.at))


def review_ratio(rounds: int = 3) -> float:
    """Give a turn of a review of ten turns against one of a loop with nothing around the SDK."""
    ratios = []
    for _ in range(rounds):
        bare, ours = _bare(), _review()
        ratios.append(ours / bare)
    return statistics.median(ratios)


def _review() -> float:
    times = _Times()
    with tempfile.TemporaryDirectory() as folder, quiet():
        site = Site.make(Path(folder) / "site")
        from support.commands import start

        with MessagesServer(times) as server:
            environ = site.environ(server.url, PATH=os.environ["PATH"])
            if start(site.bundle(1), site.repo, {}, new=True, environ=environ):
                raise RuntimeError("the bench's own run does not end well")
    return times.gap


def _bare() -> float:
    import anthropic

    from tilth.contract.verdict import SUBMIT_VERDICT_AND_PROBE
    from tilth.tools import Toolbox

    times = _Times()
    with tempfile.TemporaryDirectory() as folder, MessagesServer(times) as server:
        (Path(folder) / "README.md").write_text("# Sample\n", encoding="utf-8")
        tools = Toolbox.for_reading(Path(folder))
        specs = [spec.to_wire() for spec in (*tools.specs, SUBMIT_VERDICT_AND_PROBE)]
        client = anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0)
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Judge." * 400}]
        while len(times.at) <= LOOKS:
            with client.messages.stream(
                model="claude-sonnet-5-5",
                max_tokens=16000,
                system="Review." * 400,
                tools=specs,
                messages=messages,
                cache_control={"type": "ephemeral"},
            ) as stream:
                message = stream.get_final_message()
            messages.append({"role": "assistant", "content": message.to_dict()["content"]})
            used = [block for block in message.content if block.type == "tool_use"]
            messages.append({"role": "user", "content": [_result(tools, each) for each in used]})
        client.close()
    return times.gap


def _result(tools: Any, used: Any) -> dict[str, Any]:
    from tilth.model.messages import ToolCall

    outcome = tools.run(ToolCall(id=used.id, name=used.name, arguments=used.input))
    return {"type": "tool_result", "tool_use_id": used.id, "content": outcome.content}
