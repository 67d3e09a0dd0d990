"""Time a wake: from the resume of a long session to its first model call."""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.endpoint import ROOT

sys.path.insert(0, str(ROOT / "tests"))

EVENTS = 10_000


def resume_ratio(rounds: int = 3) -> float:
    """Give how much longer a resume takes to its first call than reading the log once."""
    from messages_api import MessagesServer, Request, error
    from sites import Site, call

    from tilth.cli.resuming import resume
    from tilth.cli.running import start
    from tilth.eventlog import read_events

    asked: list[float] = []

    def script(request: Request) -> Any:
        asked.append(time.perf_counter())
        return call("bash", command="true") if len(asked) < 4 else error(400, "enough")

    with (
        tempfile.TemporaryDirectory() as folder,
        MessagesServer(script) as server,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        site = Site.make(Path(folder) / "site")
        environ = site.environ(server.url, TILTH_MAX_ITERATIONS_PER_TASK="99999")
        start(site.bundle(1), site.repo, {}, new=True, environ=dict(environ))
        log = site.session() / "events.jsonl"
        stretch(log)
        ratios = []
        for _ in range(rounds):
            began = time.perf_counter()
            for _line in read_events(log):
                pass
            reading = time.perf_counter() - began
            began = time.perf_counter()
            resume(site.session().name, {}, fresh=False, environ=dict(environ))
            ratios.append((asked[-1] - began) / reading)
    return statistics.median(ratios)


def stretch(log: Path) -> None:
    """Lengthen a stopped session's log with turns like the last one."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    stop = lines.pop()
    turn = next(i for i in range(len(lines) - 1, 0, -1) if lines[i]["type"] == "model_call")
    kept = lines[turn:]
    number = 0
    while len(lines) < EVENTS - 1:
        number += 1
        lines += [_renamed(line, number) for line in kept]
    for seq, line in enumerate([*lines, stop], start=1):
        line["seq"] = seq
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [*lines, stop])
    log.write_text(text, encoding="utf-8")


def _renamed(line: dict[str, Any], number: int) -> dict[str, Any]:
    text = json.dumps(line)
    payload = line["payload"]
    call_id = payload.get("call_id") or payload["content"][-1]["id"]
    return json.loads(text.replace(call_id, f"{call_id}-{number}"))
